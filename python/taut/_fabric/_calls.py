"""The calls that are timed, by name, on a communicator of mpi4py or a taut.Comm with the same methods."""

from collections.abc import Callable
from typing import Any

CALLS = ("allreduce", "reduce_scatter", "allgather", "alltoall", "bcast", "gather", "scatter", "halo", "sendrecv")


def caller(call: str, comm: Any, out: Any) -> Callable[[Any], None]:
    """Returns a function that makes the call for given values, with `out.nbytes` bytes in all on each rank.

    `halo`: the halves of the values go to the two neighbours in a ring of ranks, `comm` being a periodic Cartesian
    communicator of one dimension; `sendrecv`: all values go to the next rank. Root is rank 0.
    """
    rank, size = comm.Get_rank(), comm.Get_size()
    part, root = len(out) // size, rank == 0
    right, left = (rank + 1) % size, (rank - 1) % size
    calls: dict[str, Callable[[Any], None]] = {
        "allreduce": lambda values: comm.Allreduce(values, out),
        "reduce_scatter": lambda values: comm.Reduce_scatter_block(values, out[:part]),
        "allgather": lambda values: comm.Allgather(values[:part], out),
        "alltoall": lambda values: comm.Alltoall(values, out),
        "bcast": lambda values: comm.Bcast(values if root else out, root=0),
        "gather": lambda values: comm.Gather(values[:part], out if root else None, root=0),
        "scatter": lambda values: comm.Scatter(values if root else None, out[:part], root=0),
        "halo": lambda values: comm.Neighbor_alltoall(values, out),
        "sendrecv": lambda values: comm.Sendrecv(values, right, 0, out, left, 0),
    }
    return calls[call]

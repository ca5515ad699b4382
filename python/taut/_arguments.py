"""The arguments of each collective call: converts the arguments of mpi4py's methods to the arguments of the C functions.

The C functions TAUT_X, TAUT_IX and TAUT_X_init begin with the same arguments, which are made here. generate_forms.py gives
the docstrings of these functions to the methods of `Comm`.
"""

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np
from mpi4py import MPI

from . import _half
from ._arrays import address_of
from ._errors import ArgumentError
from ._layer import average, handle
from ._message import IN_PLACE, NOTHING, Message, message, typed_message, vector_message


class Average:
    """The operator of the mean over the ranks, for reductions of `Comm`; see `AVG`."""

    def __repr__(self) -> str:
        return "taut.AVG"


AVG = Average()


@dataclass
class Call:
    """A prepared call: its name without prefix, and the machine words of its arguments."""

    name: str
    words: list[int]
    keeps: list[Any] = field(default_factory=list)  # memory that the arguments refer to
    before: Optional[Callable[[], None]] = None  # run at each start
    after: Optional[Callable[[], None]] = None  # run once the call is complete


def operator(op: Any) -> int:
    if op is None:
        return handle(MPI.SUM)
    return average() if op is AVG else handle(op)


def _same_count(send: Message, recv: Message) -> Message:
    """Returns the side that gives count and type of a reduction; raises if the other side differs."""
    if send is IN_PLACE or send is NOTHING:
        return recv
    if recv is not NOTHING and (send.count, send.type) != (recv.count, recv.type):
        raise ArgumentError(f"the arrays differ: {send.count} elements to send, {recv.count} to receive, or other types")
    return send


def allreduce(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks, on every rank."""
    half = _half.stage(sendbuf, recvbuf)
    send, recv = message(half.send, False), message(half.recv, True)
    what = _same_count(send, recv)
    words = [send.address, recv.address, what.count, what.type, operator(op), handle(comm)]
    return Call("Allreduce", words, [send, recv, half], half.before, half.after)


def reduce(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, op: Any, root: int) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks, at the root."""
    at_root = comm.Get_rank() == root
    half = _half.stage(sendbuf, recvbuf if at_root else None)
    send, recv = message(half.send, False), message(half.recv, True)
    what = _same_count(send, recv)
    words = [send.address, recv.address, what.count, what.type, operator(op), root, handle(comm)]
    return Call("Reduce", words, [send, recv, half], half.before, half.after)


def reduce_scatter_block(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, op: Any) -> Call:
    """Computes the sum, minimum, maximum or mean over the ranks; rank r gets block r of the result."""
    half, ranks = _half.stage(sendbuf, recvbuf), comm.Get_size()
    send = message(half.send, False, ranks)
    recv = message(half.recv, True, ranks if send is IN_PLACE else 1)
    what = _same_count(send, recv)
    words = [send.address, recv.address, what.count, what.type, operator(op), handle(comm)]
    return Call("Reduce_scatter_block", words, [send, recv, half], half.before, half.after)


def reduce_scatter(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, recvcounts: Any, op: Any) -> Call:
    """`Reduce_scatter_block` with blocks of any size."""
    half, ranks = _half.stage(sendbuf, recvbuf), comm.Get_size()
    send, recv = message(half.send, False), message(half.recv, True)
    if recvcounts is None:
        mine = recv.count // ranks if send is IN_PLACE else recv.count
        recvcounts = comm.allgather(mine)
    counts = np.ascontiguousarray(np.broadcast_to(np.asarray(recvcounts, np.int64), ranks))
    whole = recv if send is IN_PLACE else send
    if counts.sum() != whole.count:
        raise ArgumentError(f"the counts add up to {counts.sum()}, the array has {whole.count} elements")
    words = [send.address, recv.address, address_of(counts), whole.type, operator(op), handle(comm)]
    return Call("Reduce_scatter", words, [send, recv, half, counts], half.before, half.after)


def bcast(comm: MPI.Comm, buf: Any, root: int) -> Call:
    """Broadcasts the root's values to every rank; the root's array gets the decoded values too."""
    both = message(buf, True) if comm.Get_rank() != root else message(buf, False)
    if comm.Get_rank() == root and both.array is not None and not both.array.flags.writeable:
        raise ArgumentError("the root's array gets the values that the others get, but it is read-only: pass a copy")
    return Call("Bcast", [both.address, both.count, both.type, root, handle(comm)], [both])


def _pair(name: str, send: Message, recv: Message, *more: int) -> Call:
    words = [send.address, send.count, send.type, recv.address, recv.count, recv.type, *more]
    return Call(name, words, [send, recv])


def allgather(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """Collects the blocks of all ranks on every rank."""
    return _pair("Allgather", message(sendbuf, False), message(recvbuf, True, comm.Get_size()), handle(comm))


def alltoall(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """Sends block r of every rank to rank r."""
    ranks = comm.Get_size()
    return _pair("Alltoall", message(sendbuf, False, ranks), message(recvbuf, True, ranks), handle(comm))


def gather(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """Collects the blocks of all ranks at the root."""
    recv = message(recvbuf, True, comm.Get_size()) if comm.Get_rank() == root else NOTHING
    return _pair("Gather", message(sendbuf, False), recv, root, handle(comm))


def scatter(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """Sends block r of the root's array to rank r."""
    send = message(sendbuf, False, comm.Get_size()) if comm.Get_rank() == root else NOTHING
    return _pair("Scatter", send, message(recvbuf, True), root, handle(comm))


def allgatherv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Allgather` with blocks of any size."""
    send, recv = message(sendbuf, False), vector_message(recvbuf, True, comm.Get_size())
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Allgatherv", words, [send, recv])


def gatherv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """`Gather` with blocks of any size."""
    recv = vector_message(recvbuf, True, comm.Get_size()) if comm.Get_rank() == root else NOTHING
    send = message(sendbuf, False)
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, root, handle(comm)]
    return Call("Gatherv", words, [send, recv])


def scatterv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any, root: int) -> Call:
    """`Scatter` with blocks of any size."""
    send = vector_message(sendbuf, False, comm.Get_size()) if comm.Get_rank() == root else NOTHING
    recv = message(recvbuf, True)
    words = [send.address, *send.vector(), send.type, recv.address, recv.count, recv.type, root, handle(comm)]
    return Call("Scatterv", words, [send, recv])


def alltoallv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Alltoall` with blocks of any size."""
    ranks = comm.Get_size()
    send, recv = vector_message(sendbuf, False, ranks), vector_message(recvbuf, True, ranks)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Alltoallv", words, [send, recv])


def alltoallw(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Alltoallv` with a datatype for each block, and displacements in bytes."""
    ranks = comm.Get_size()
    send, recv = typed_message(sendbuf, False, ranks), typed_message(recvbuf, True, ranks)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Alltoallw", words, [send, recv])


def _degrees(comm: MPI.Comm) -> tuple[int, int]:
    """Returns the number of neighbours that the rank receives from and sends to."""
    if not isinstance(comm, MPI.Topocomm):
        raise ArgumentError("the communicator has no topology: create it with Create_cart, Create_graph or Create_dist_graph")
    return comm.indegree, comm.outdegree


def neighbor_allgather(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """Collects one block from each neighbour in the communicator's topology."""
    return _pair("Neighbor_allgather", message(sendbuf, False), message(recvbuf, True, _degrees(comm)[0]), handle(comm))


def neighbor_allgatherv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_allgather` with blocks of any size."""
    send, recv = message(sendbuf, False), vector_message(recvbuf, True, _degrees(comm)[0])
    words = [send.address, send.count, send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Neighbor_allgatherv", words, [send, recv])


def neighbor_alltoall(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """Sends one block to each neighbour in the communicator's topology."""
    sources, targets = _degrees(comm)
    return _pair("Neighbor_alltoall", message(sendbuf, False, targets), message(recvbuf, True, sources), handle(comm))


def neighbor_alltoallv(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_alltoall` with blocks of any size."""
    sources, targets = _degrees(comm)
    send, recv = vector_message(sendbuf, False, targets), vector_message(recvbuf, True, sources)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Neighbor_alltoallv", words, [send, recv])


def neighbor_alltoallw(comm: MPI.Comm, sendbuf: Any, recvbuf: Any) -> Call:
    """`Neighbor_alltoallv` with a datatype for each block, and displacements in bytes."""
    sources, targets = _degrees(comm)
    send, recv = typed_message(sendbuf, False, targets), typed_message(recvbuf, True, sources)
    words = [send.address, *send.vector(), send.type, recv.address, *recv.vector(), recv.type, handle(comm)]
    return Call("Neighbor_alltoallw", words, [send, recv])

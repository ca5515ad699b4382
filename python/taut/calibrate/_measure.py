"""Times of plain calls and of frames, in turn. Collective over the ranks."""

import statistics
from collections.abc import Callable
from typing import Any, Union

import numpy as np
from mpi4py import MPI

import taut

from ._judge import Coded, Row

BOUND = 1e-3
# Values are noise this many times the bound; the last are below it. The ratios are near 2, 4, 8 and as high as they get.
SPREADS = (2.0**14, 2.0**6, 2.0**2, 2.0**-1)
LEAST_ROUNDS, MOST_ROUNDS = 5, 101
WARM_UP = 8  # MPICH takes to its collectives in shared memory with the sixth call

AnyComm = Union[MPI.Comm, taut.Comm]


def made_up(spread: float, count: int, rank: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
    noise = np.random.default_rng(rank).uniform(-BOUND, BOUND, count)
    return (noise * spread).astype(np.float32)


def caller(call: str, comm: AnyComm, values: Any, out: Any) -> Callable[[], None]:
    """The call, of `values.nbytes` in all on each rank."""
    if call == "allreduce":
        return lambda: comm.Allreduce(values, out)
    if call == "bcast":
        return lambda: comm.Bcast(out, root=0)
    if call == "allgather":
        return lambda: comm.Allgather(values[: len(values) // comm.Get_size()], out)
    return lambda: comm.Alltoall(values, out)


def seconds(world: MPI.Comm, call: Callable[[], None]) -> float:
    """Of the slowest rank."""
    world.Barrier()
    begin = MPI.Wtime()
    call()
    return float(world.allreduce(MPI.Wtime() - begin, op=MPI.MAX))


def medians(world: MPI.Comm, all_calls: list[Callable[[], None]], budget: float) -> list[float]:
    """Each call is made in turn, again and again for so many seconds, as rank 0's clock says."""
    for call in all_calls * WARM_UP:
        call()
    samples: list[list[float]] = [[] for _ in all_calls]
    begin = MPI.Wtime()
    for done in range(MOST_ROUNDS):
        if not world.bcast(done < LEAST_ROUNDS or MPI.Wtime() - begin < budget):
            break
        for sample, call in zip(samples, all_calls):
            sample.append(seconds(world, call))
    return [statistics.median(sample) for sample in samples]


def ratio(comm: taut.Comm, world: MPI.Comm) -> float:
    """Values over frames on all ranks, of what has been encoded."""
    stats = comm.stats()
    values, frames = (world.allreduce(stats[name]) for name in ("value_bytes", "frame_bytes"))
    return values / frames if frames else 0.0


def measure(world: MPI.Comm, call: str, bytes: int, budget: float) -> Row:
    """One call of one size: plain, and by frames of values that compress differently well."""
    count = bytes // 4 // world.size * world.size
    plain = world.Dup()
    comms = [taut.Comm(world.Dup(), f"abs:{BOUND}", when="always", min_bytes=0) for _ in SPREADS]
    try:
        inputs = [made_up(spread, count, world.rank) for spread in SPREADS]
        all_calls = [caller(call, plain, inputs[0], inputs[0].copy())]
        all_calls += [caller(call, comm, values, values.copy()) for comm, values in zip(comms, inputs)]
        plain_seconds, *coded = medians(world, all_calls, budget)
        points = sorted(Coded(ratio(comm, world), one) for comm, one in zip(comms, coded))
        return Row(call, count * 4, plain_seconds, tuple(points))
    finally:
        plain.Free()
        for comm in comms:
            comm.wrapped.Free()


def surroundings(world: MPI.Comm) -> dict[str, object]:
    return {
        "taut": taut.__version__,
        "mpi": " ".join(MPI.Get_library_version().split("\n")[0].strip("\0").split()),
        "ranks": world.size,
    }

"""Measurement of plain calls and of calls with frames, in turn. Collective over the ranks."""

import statistics
from collections.abc import Callable
from typing import Any, Union

import numpy as np
from mpi4py import MPI

import taut

from ._judge import Coded, Row

BOUND = 1e-3
# Amplitudes of the noise in the values, in units of the bound; the last amplitude is below the bound. The ratios are near
# 2, 4, 8 and the highest possible.
SPREADS = (2.0**14, 2.0**6, 2.0**2, 2.0**-1)
LEAST_ROUNDS, MOST_ROUNDS = 5, 101
WARM_UP = 8  # MPICH switches to its shared-memory collectives with the sixth call

AnyComm = Union[MPI.Comm, taut.Comm]


def made_up(spread: float, count: int, rank: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
    noise = np.random.default_rng(rank).uniform(-BOUND, BOUND, count)
    return (noise * spread).astype(np.float32)


def caller(call: str, comm: AnyComm, values: Any, out: Any) -> Callable[[], None]:
    """Returns a function that makes the call, with `values.nbytes` bytes in all on each rank."""
    if call == "allreduce":
        return lambda: comm.Allreduce(values, out)
    if call == "bcast":
        return lambda: comm.Bcast(out, root=0)
    if call == "allgather":
        return lambda: comm.Allgather(values[: len(values) // comm.Get_size()], out)
    return lambda: comm.Alltoall(values, out)


def seconds(world: MPI.Comm, call: Callable[[], None]) -> float:
    """Returns the seconds that the call takes on the slowest rank."""
    world.Barrier()
    begin = MPI.Wtime()
    call()
    return float(world.allreduce(MPI.Wtime() - begin, op=MPI.MAX))


def medians(world: MPI.Comm, all_calls: list[Callable[[], None]], budget: float) -> list[float]:
    """Returns the median seconds of each call. The calls run in turn for `budget` seconds of rank 0's clock."""
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
    """Returns the compression ratio of everything encoded so far, over all ranks."""
    stats = comm.stats()
    values, frames = (world.allreduce(stats[name]) for name in ("value_bytes", "frame_bytes"))
    return values / frames if frames else 0.0


def measure(world: MPI.Comm, call: str, bytes: int, budget: float) -> Row:
    """Measures one call of one size: plain, and with frames of values of different compressibility."""
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

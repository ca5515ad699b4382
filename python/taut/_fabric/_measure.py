"""Measurement of plain MPI and of Taut in alternation, and of the computation beside them. Collective over the ranks."""

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any, Optional

import numpy as np
from mpi4py import MPI

import taut

from ..calibrate._measure import seconds
from ._calls import caller
from ._values import at, steps

# Options of Taut's communicators; plain MPI alternates with them.
VARIANTS: dict[str, dict[str, str]] = {"taut": {}, "history": {"history": "auto"}}
WARM_UP = 12  # calls after which Taut has compared its ways with plain MPI
LEAST_ROUNDS, MOST_ROUNDS = 6, 101  # the first half of few rounds is warm-up
BESIDE_BYTES = 1 << 22
QUARTILES = (25, 50, 75)


def ring(world: MPI.Comm) -> Any:
    """Returns a communicator of the ranks in a ring, for all calls."""
    return world.Create_cart([world.size], periods=[True])


def rounds(world: MPI.Comm, all_calls: list[Callable[[Any], None]], values: list[Any], budget: float) -> list[list[float]]:
    """Returns the seconds of each call on its slowest rank, warm-up left out. The calls run in turn, for `budget` seconds."""
    samples: list[list[float]] = [[] for _ in all_calls]
    begin = MPI.Wtime()
    done = 0
    while world.bcast(done < LEAST_ROUNDS or (MPI.Wtime() - begin < budget and done < WARM_UP + MOST_ROUNDS)):
        for sample, call in zip(samples, all_calls):
            sample.append(seconds(world, lambda call=call: call(at(values, done))))  # type: ignore[misc]
        done += 1
    return [sample[min(WARM_UP, done // 2) :] for sample in samples]


def milliseconds(sample: list[float]) -> list[float]:
    """Returns lower quartile, median and upper quartile."""
    return [float(f"{1e3 * one:.4g}") for one in np.percentile(sample, QUARTILES)]


def limit(bound: str, world: MPI.Comm, values: list[Any]) -> Optional[float]:
    """Returns the greatest error that an absolute bound or one of the range allows; None for other bounds."""
    kind, _, number = bound.partition(",")[0].partition(":")
    least = world.allreduce(min(float(one.min()) for one in values), op=MPI.MIN)
    greatest = world.allreduce(max(float(one.max()) for one in values), op=MPI.MAX)
    scale = {"abs": 1.0, "rel": greatest - least}.get(kind)
    return scale * float(number) if scale and number else None


def share_of_bound(world: MPI.Comm, outs: list[Any], allowed: Optional[float]) -> Optional[float]:
    """Returns the greatest difference from plain MPI's result, which is the first, over all ranks, in units of the bound."""
    error = max(float(np.abs(out - outs[0]).max()) for out in outs[1:])
    greatest: float = world.allreduce(error, op=MPI.MAX)
    return None if allowed is None else float(f"{greatest / allowed:.3g}")


def counted(world: MPI.Comm, comm: taut.Comm) -> dict[str, float]:
    """Returns the ratio of all frames (0: there were none), and the share of calls that were compressed."""
    stats = comm.stats()
    values, frames, calls, compressed = (world.allreduce(stats[name]) for name in ("value_bytes", "frame_bytes", "calls", "compressed_calls"))
    return {"ratio": float(f"{values / frames:.3g}") if frames else 0.0, "compressed": round(compressed / max(1, calls), 2)}


def row(world: MPI.Comm, call: str, bytes: int, field: str, bound: str, budget: float) -> dict[str, Any]:
    """Measures a call of one size with values of one field."""
    count = max(1, bytes // 4 // (2 * world.size)) * 2 * world.size
    values = steps(field, count, world.rank)
    plain = ring(world)
    comms = {name: taut.Comm(plain.Dup(), bound, **options) for name, options in VARIANTS.items()}
    outs = [np.zeros(count, np.float32) for _ in (plain, *comms)]
    try:
        samples = rounds(world, [caller(call, comm, out) for comm, out in zip((plain, *comms.values()), outs)], values, budget)
        found: dict[str, Any] = {"call": call, "bytes": 4 * count, "field": field, "rounds": len(samples[0]), "plain_ms": milliseconds(samples[0])}
        for (name, comm), sample in zip(comms.items(), samples[1:]):
            found[f"{name}_ms"] = milliseconds(sample)
            found |= {f"{name}_{what}": number for what, number in counted(world, comm).items()}
        return {**found, "error_by_bound": share_of_bound(world, outs, limit(bound, world, values))}
    finally:
        for comm in (plain, *(comm.wrapped for comm in comms.values())):
            comm.Free()


def in_cache() -> Callable[[], None]:
    """Returns a unit of work for a core: sines of values in its cache."""
    values = np.linspace(0, 1, 1 << 15)
    out = np.empty_like(values)
    return lambda: void(np.sin(values, out=out))


def in_memory() -> Callable[[], None]:
    """Returns a unit of work for the memory: a sum of arrays that exceed caches."""
    values = np.ones(1 << 22)
    out = np.zeros_like(values)
    return lambda: void(np.add(values, out, out=out))


def void(_: Any) -> None:
    """Drops a value."""


LOOPS = {"core": in_cache, "memory": in_memory}


def rate(work: Callable[[], None], more: Callable[[], bool]) -> float:
    """Returns the units of work a second, done while `more`."""
    begin, done = perf_counter(), 0
    while more():
        work()
        done += 1
    return done / (perf_counter() - begin)


def beside(world: MPI.Comm, bound: str, budget: float) -> list[dict[str, Any]]:
    """Measures a loop of computation alone, then beside allreduces of plain MPI and of Taut that a second thread makes."""
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        return []
    values = steps("temperature", BESIDE_BYTES // 4, world.rank)
    comms = {"plain": ring(world), "taut": taut.Comm(ring(world), bound, when="always")}
    found = []
    for name, make in LOOPS.items():
        work = make()
        world.Barrier()
        alone = rate(work, lambda end=perf_counter() + budget: perf_counter() < end)  # type: ignore[misc]
        one = {"loop": name, "alone_per_second": alone}
        for way, comm in comms.items():
            call = caller("allreduce", comm, np.empty_like(values[0]))
            one[f"beside_{way}_per_second"], one[f"{way}_ms"] = together(world, work, lambda k, call=call: call(at(values, k)), budget)  # type: ignore[misc]
        found.append({key: number if key == "loop" else float(f"{mean(world, number):.4g}") for key, number in one.items()})
    for comm in comms.values():
        comm.Free()
    return found


def together(world: MPI.Comm, work: Callable[[], None], call: Callable[[int], None], budget: float) -> tuple[float, float]:
    """Returns the rate of the work beside calls that a second thread makes for `budget` seconds, and milliseconds a call."""
    spent = []

    def communicate() -> None:
        begin, done = perf_counter(), 0
        while world.bcast(done < LEAST_ROUNDS or perf_counter() - begin < budget):
            call(done)
            done += 1
        spent.append((perf_counter() - begin) / done)

    world.Barrier()
    thread = threading.Thread(target=communicate)
    thread.start()
    speed = rate(work, thread.is_alive)
    thread.join()
    return speed, 1e3 * spent[0]


def mean(world: MPI.Comm, number: Any) -> float:
    return float(world.allreduce(number)) / world.size

#!/usr/bin/env python3
"""Prints what kernels of planes may reach on an H100, as a model says that no measurement has confirmed.

The model follows the thread blocks of one multiprocessor: each waits for its trips to memory, one after the other, and shares
the issue slots and the memory bandwidth with the blocks beside it. Its latencies are those published for Hopper; its instruction
counts are those of tests/gpu/kernels/nvcc_test.py. Its error is unknown, and taken as 30 % of all latencies and of the rate at
which a single block issues: the table has the slowest and the fastest result. Use it to compare designs, not to promise speeds.
Usage: latency_model.py
"""

from dataclasses import dataclass
from itertools import product

MULTIPROCESSORS, GHZ, MEMORY = 132, 1.75, 3.0e12  # an H100: cycles a nanosecond, bytes a second that kernels see
CHUNK, RECORD, RESIDENT = 16384, 2048, 4  # bytes of values and of a record at ratio 8; blocks on a multiprocessor
ERROR = 0.3
STEP = 20  # cycles
STAGGER = 900  # cycles between the starts of the first blocks

# Cycles: the start of a block, an addition to a counter of all blocks, a load from memory or from the L2 cache, a barrier with
# its skew, the round of a look-back, a fence that waits for the stores before it, a launch and its end in a graph.
START, ADD, LOAD, CACHED, BARRIER, LOOK_BACK, FENCE, LAUNCH = 400, 500, 620, 300, 60, 420, 450, 4000
ALONE = 0.55  # share of a multiprocessor's issue rate that a single block reaches
OF_ONE_WARP = 5  # cycles an instruction of a warp whose instructions depend on each other


@dataclass
class Kernel:
    """A kernel as the phases of a block: ("wait", cycles), ("issue", warp instructions) or ("move", bytes)."""

    phases: list
    launches: int


def wait(*cycles):
    return [("wait", sum(cycles))]


def encode(instructions, launches, *end):
    begin = [*wait(START, ADD, LOAD), ("move", CHUNK), ("issue", 0.55 * instructions), *wait(3 * BARRIER)]
    rest = [("issue", 0.45 * instructions), *wait(LOOK_BACK, 2 * BARRIER), ("move", RECORD)]
    return Kernel(begin + rest + wait(*end), launches)


def opening(instructions):
    """A warp opens a frame: a trip for the header, one for the tables, and instructions one after the other."""
    return wait(2 * CACHED, OF_ONE_WARP * instructions)


def decode(instructions, open_frame):
    begin = [*wait(START), *open_frame, *wait(CACHED, LOAD), ("issue", 0.3 * instructions), *wait(CACHED, BARRIER)]
    return Kernel([*begin, ("move", RECORD), ("issue", 0.7 * instructions), *wait(2 * BARRIER), ("move", CHUNK)], 2)


def add(instructions, open_frames):
    begin = [*wait(START), *open_frames, *wait(ADD, CACHED, LOAD, 2 * BARRIER), ("issue", 0.3 * instructions)]
    middle = [*wait(CACHED), ("move", 2 * RECORD), ("issue", 0.7 * instructions)]
    return Kernel([*begin, *middle, *wait(LOOK_BACK, 4 * BARRIER), ("move", 1.1 * RECORD)], 2)


# The first design of each group is the one before, the last one is the one that exists. Instructions of a chunk: four times those
# of 1024 values.
PUBLISHED = wait(CACHED)
DESIGNS = {
    "encode, 2 launches": encode(4 * 1158, 2),
    "encode, each block asks if it is the last": encode(4 * 1172, 1, BARRIER, FENCE, ADD),
    "encode": encode(4 * 1172, 1, BARRIER, FENCE),
    "decode, each block opens the frame": decode(4 * 974, opening(430)),
    "decode": decode(4 * 898, PUBLISHED),
    "frame + frame, each block opens both": add(4 * 1741, opening(430)),
    "frame + frame": add(4 * 1492, PUBLISHED),
}


class Multiprocessor:
    """Runs `chunks` blocks of a kernel, RESIDENT at a time."""

    def __init__(self, kernel, latency=1.0, alone=ALONE):
        self.kernel, self.latency, self.alone = kernel, latency, alone

    def cycles(self, chunks):
        memory = MEMORY / (GHZ * 1e9) / MULTIPROCESSORS  # bytes a cycle
        waiting, running, now = chunks, [], 0
        while waiting or running:
            while waiting and len(running) < RESIDENT and now >= min(chunks - waiting, RESIDENT) * STAGGER:
                running.append([0, None])
                waiting -= 1
            issuing = sum(self.kernel.phases[phase][0] == "issue" for phase, _ in running)
            moving = sum(self.kernel.phases[phase][0] == "move" for phase, _ in running)
            speed = {"wait": 1, "issue": min(4 * self.alone, 4 / max(issuing, 1)), "move": memory / max(moving, 1)}
            for block in running:
                self.advance(block, speed)
            running = [block for block in running if block[0] < len(self.kernel.phases)]
            now += STEP
        return now

    def advance(self, block, speed):
        kind, amount = self.kernel.phases[block[0]]
        left = amount * (self.latency if kind == "wait" else 1) if block[1] is None else block[1]
        left -= speed[kind] * STEP
        block[:] = [block[0], left] if left > 0 else [block[0] + 1, None]


def rate(kernel, **constants):
    """Returns TB of values a second for long arrays: without the first and the last blocks."""
    on_one = Multiprocessor(kernel, **constants)
    return 64 * CHUNK * MULTIPROCESSORS * GHZ / 1e3 / (on_one.cycles(96) - on_one.cycles(32))


def call(kernel, latency=1.0, **constants):
    """Returns the microseconds of a call on 1 MiB in a graph: each multiprocessor has a block at most."""
    return (Multiprocessor(kernel, latency, **constants).cycles(1) + kernel.launches * LAUNCH * latency) / GHZ / 1e3


def span(of, kernel):
    """Returns the least and the greatest result within the error."""
    results = [of(kernel, latency=1 + a, alone=ALONE * (1 + b)) for a, b in product((-ERROR, ERROR), repeat=2)]
    return min(results), max(results)


def table():
    lines = ["| | long arrays, TB/s of values | 1 MiB in a graph, microseconds |", "|---|---|---|"]
    for name, kernel in DESIGNS.items():
        (slow, fast), (short, long) = span(rate, kernel), span(call, kernel)
        lines.append(f"| {name} | {slow:.1f} to {fast:.1f} | {short:.0f} to {long:.0f} |")
    return "".join(line + "\n" for line in lines)


if __name__ == "__main__":
    print(table(), end="")

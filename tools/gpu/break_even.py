#!/usr/bin/env python3
"""Prints when compressed messages between GPUs are faster, as a model says (docs/gpu.md#what-to-expect).

The model adds up the times of the steps of one message: V bytes are encoded (E bytes a second), written over the bus to pinned
memory (H), sent (B), copied over the bus, and decoded (D); L is the latency of a coding. Nothing overlaps:

    T(compressed) = V/E + V/(r H) + V/(r B) + V/(r H) + V/D + 2 L
    T(plain)      = V/B                  by an MPI that reads GPU memory directly

An MPI that stages values through the host takes V/B + 2 V/H. The speeds are those of kernels on an H200 and of the bus of an H100; the
latency is an assumption. For another machine give those that `tools/gpu/check.sh probe` and `kernels` print. Usage: break_even.py [--encode GB/s] [--decode GB/s] [--bus GB/s]
[--latency MICROSECONDS]
"""

import argparse

RATIOS = (2, 4, 8, 32)
LINKS = {"1 Gbit/s": 0.125, "10 Gbit/s": 1.25, "100 Gbit/s": 12.5, "200 Gbit/s": 25, "400 Gbit/s": 50}
SIZE = 64 * 2**20 / 1e9  # GB


def cost(ratio, speeds):
    """Returns the seconds for each GB of values that a message does not spend on the link."""
    return 1 / speeds.encode + 1 / speeds.decode + 2 / (ratio * speeds.bus)


def break_even(ratio, speeds):
    """Returns the speed of the link in GB/s below which a long compressed message is faster."""
    return (1 - 1 / ratio) / cost(ratio, speeds)


def speedup(ratio, link, speeds, size=SIZE):
    """Returns the time of a plain message over that of a compressed one."""
    return size / link / (size * (cost(ratio, speeds) + 1 / (ratio * link)) + 2e-6 * speeds.latency)


def rows(speeds):
    """Yields the rows of the table: the break-even, then the speed-up on each link."""
    yield ["break-even, GB/s", *(f"{break_even(ratio, speeds):.0f}" for ratio in RATIOS)]
    for name, link in LINKS.items():
        yield [f"{name} ({link:g} GB/s)", *(f"{speedup(ratio, link, speeds):.1f}" for ratio in RATIOS)]


def table(speeds):
    head = [["", *(f"ratio {ratio}" for ratio in RATIOS)], ["---"] * (1 + len(RATIOS))]
    return "".join("| " + " | ".join(row) + " |\n" for row in [*head, *rows(speeds)])


def arguments(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encode", type=float, default=1075, help="GB of values a second (default: 1075, 64 MiB on an H200)")
    parser.add_argument("--decode", type=float, default=1106, help="GB of values a second (default: 1106, as above)")
    parser.add_argument("--bus", type=float, default=54, help="pinned copies, GB/s (default: 54, an H100)")
    parser.add_argument("--latency", type=float, default=50, help="of each coding, microseconds (assumed: 50)")
    return parser.parse_args(given)


if __name__ == "__main__":
    print(table(arguments()), end="")

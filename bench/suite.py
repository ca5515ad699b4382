"""A suite of measurements: programs that are built, rows that they give, and the columns of their table."""

import contextlib
import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path += [str(folder) for folder in Path(__file__).parent.iterdir() if folder.is_dir()]
from report import ROOT  # noqa: E402

RIG = ROOT / "tools/rig"
RELEASE = "-DTAUT_BENCH=ON -DTAUT_DROPIN=OFF"


@dataclass(frozen=True)
class Suite:
    about: str
    rows: Callable[[Namespace], Iterable[dict]]  # measures
    columns: dict[str, str]  # heading: format of a row's members
    needs: str  # of tools/setup.sh
    builds: dict[str, str]  # folder below build/: target, "all" for every one, and options of CMake as words of a shell
    options: dict[str, tuple] = field(default_factory=dict)  # name: value, explanation
    quick: dict[str, object] = field(default_factory=dict)  # values for a trial
    finish: Callable = lambda run, options: 0  # writes pages, judges; returns the exit status
    within: str = "within_bound"  # member that is true in a good row
    python: str = "python3"  # that has what the suite imports


def cell(form, row):
    """Returns a cell of a table, "-" where the row has no such figure."""
    try:
        return form.format(**row)
    except (KeyError, TypeError, ValueError):
        return "-"


def passed_on(line):
    print(line, end="", flush=True)


def lines_of(command, other=passed_on, **options):
    """Yields the rows that a program prints, one a line; `other` gets further lines. Ends the run if the program fails."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options) as program:
        for line in program.stdout:
            if line.startswith("{"):
                yield json.loads(line)
            else:
                other(line)
    if program.returncode not in (0, 1):  # 1: a bound was violated, as the rows say
        raise SystemExit(f"{words[0]}: exit status {program.returncode}")


def mbit_of(link):
    """Returns the Mbit/s of a rate such as 2.5gbit; 0 for none."""
    if link in ("", "none"):
        return 0
    found = re.fullmatch(r"([\d.]+)([gm])bit", link)
    if not found:
        raise SystemExit(f"a link is a rate such as 1gbit or 100mbit, not '{link}'")
    return round(float(found[1]) * {"g": 1000, "m": 1}[found[2]])


def launcher(build):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("MPIEXEC_EXECUTABLE:"):
            return line.split("=", 1)[1]
    raise SystemExit(f"{build}: no MPIEXEC_EXECUTABLE in CMakeCache.txt")


def compiler(build):
    """Returns the name and version of a build's C++ compiler."""
    for found in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"):
        name, version = (re.search(rf'CMAKE_CXX_COMPILER_{key} "(.*)"', found.read_text())[1] for key in ("ID", "VERSION"))
        return f"{name.replace('GNU', 'GCC')} {version}"
    return "unknown"


def on_ranks(mpiexec, ranks, link="", hosts=0, seconds=900, gate=()):
    """Returns the command that starts a program on ranks, which share memory, or which are spread over emulated hosts."""
    if mbit_of(link):
        hosts = hosts or ranks
        return [RIG / "on_link.sh", "--mpiexec", mpiexec, "--mbit", mbit_of(link), "--hosts", hosts, "--per-host", ranks // hosts,
                "--seconds", seconds, *gate, "--"]  # fmt: skip
    spread = 'source "$0"; exec timeout --kill-after=5 "$1" "$2" $(mpi_oversubscribe "$(mpi_family "$2")") "${@:3}"'
    return ["bash", "-c", spread, ROOT / "tools/mpi_family.sh", seconds, mpiexec, "-n", ranks]


@contextlib.contextmanager
def emulated_hosts(link, hosts=2):
    """Sets up hosts that are joined by links, for many jobs. Yields their name, or "" without a link. Needs root."""
    name = f"taut{os.getpid()}" if mbit_of(link) else ""
    if name:
        subprocess.run([RIG / "rig.sh", "up", name, str(hosts), str(mbit_of(link))], check=True)
    try:
        yield name
    finally:
        if name:
            subprocess.run([RIG / "rig.sh", "down", name], check=True)

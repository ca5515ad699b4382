#!/usr/bin/env python3
"""Measures the overhead of the drop-in where it compresses nothing: a program of plain MPI, bare and
preloaded in alternation.

  overhead.py BUILD_DIR [--ranks 2] [--rounds 21] [--mpi .venv] [--out bench-out]

The preloaded runs are: without settings; observing (TAUT_REPORT); with rules for which the calls are too
small, or which leave them to plain MPI. Every round runs all modes in a random order. The figures are medians
and minima of the seconds of a call over the rounds, and medians of the quotients to the bare run of the same
round. Writes dropin_overhead.json (the machine, and the rows) and prints a Markdown table.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT / "tests/mpi/dropin")]
import machine  # noqa: E402
from matrix import Mpi  # noqa: E402

CASES = [  # name, bytes, calls, microseconds of computing before each call
    ("8 bytes", 8, 200000, 0),
    ("8 bytes, 2000 calls a second", 8, 2000, 500),
    ("64 KiB", 65536, 10000, 0),
    ("1 MiB", 1 << 20, 500, 0),
]
MODES = {  # name: environment beside LD_PRELOAD; None: bare
    "bare": None,
    "nothing asked": {},
    "observing": {"TAUT_REPORT": "/dev/null"},
    "rules for other calls": {"TAUT_RULES": "Allreduce >=64MiB : abs=1e-3 ; * : off"},
}


def seconds(mpi, ranks, program, case, environment):
    variables = (
        []
        if environment is None
        else ["env", *(f"{k}={v}" for k, v in environment.items())]
    )
    command = [mpi.mpiexec, "-n", str(ranks), *variables, program, *(str(number) for number in case[1:])]
    return float(
        subprocess.run(
            command, env=mpi.variables(), capture_output=True, text=True, check=True, timeout=120
        ).stdout
    )


def measure(mpi, ranks, program, preload, rounds):
    """Returns {case: {mode: seconds of a call in each round}}."""
    times = {case[0]: {mode: [] for mode in MODES} for case in CASES}
    for _ in range(rounds):
        for case in CASES:
            for mode in random.sample(list(MODES), len(MODES)):
                extra = MODES[mode]
                environment = (
                    None if extra is None else {"LD_PRELOAD": str(preload)} | extra
                )
                times[case[0]][mode].append(seconds(mpi, ranks, program, case, environment))
    return times


def summary(times):
    """Returns [{case, mode, median and minimum of the seconds, median of the quotients to the bare run of the
    same round}]."""
    rows = []
    for case, modes in times.items():
        for mode, samples in modes.items():
            ratios = [
                sample / bare
                for sample, bare in zip(samples, modes["bare"], strict=True)
            ]
            rows.append(
                {
                    "case": case,
                    "mode": mode,
                    "median_s": statistics.median(samples),
                    "least_s": min(samples),
                    "least_over_bare": min(samples) / min(modes["bare"]),
                    "median_over_bare": statistics.median(ratios),
                }
            )
    return rows


def table(rows):
    yield "| calls | | median, us | least, us | over bare, medians | over bare, leasts |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row['case']} | {row['mode']} | {row['median_s'] * 1e6:.3f} | {row['least_s'] * 1e6:.3f} |"
            f" {row['median_over_bare']:.3f} | {row['least_over_bare']:.3f} |"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument(
        "--mpi",
        type=Path,
        default=ROOT / ".venv",
        help="where bin/mpicc and bin/mpiexec are",
    )
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    preload = options.build.resolve() / "lib/taut/libtaut_preload.so"
    if not preload.exists():
        parser.error(f"{preload} is not there: build with -DTAUT_DROPIN=ON")
    before = machine.record()
    mpi = Mpi(f"{options.mpi}/bin/mpicc", f"{options.mpi}/bin/mpiexec")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "calls"
        subprocess.run(
            [mpi.cc, "-O2", "-o", program, HERE / "calls.c"],
            check=True,
        )
        rows = summary(measure(mpi, options.ranks, program, preload, options.rounds))
    options.out.mkdir(exist_ok=True)
    report = before | {"ranks": options.ranks, "rounds": options.rounds, "rows": rows}
    (options.out / "dropin_overhead.json").write_text(json.dumps(report, indent=1) + "\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()

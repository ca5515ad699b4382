"""Measures the overhead of the drop-in where it compresses nothing: a program of plain MPI, bare and preloaded in alternation.

The preloaded runs are: without settings; observing (TAUT_REPORT); with rules for which the calls are too small, or which leave
them to plain MPI. Every round runs all modes in a random order. The figures are medians and minima of the seconds of a call
over the rounds, and medians of the quotients to the bare run of the same round. Several builds (--build A,B) alternate
too, and have quotients to the first of them.
"""

import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from suite import ROOT, Suite

sys.path.append(str(ROOT / "tests/mpi/dropin"))
from matrix import Mpi  # noqa: E402

CASES = [  # name, call, bytes, calls, microseconds of computing before each call
    ("8 bytes", "sum", 8, 200000, 0),
    ("8 bytes, 2000 calls a second", "sum", 8, 2000, 500),
    ("64 KiB", "sum", 65536, 10000, 0),
    ("1 MiB", "sum", 1 << 20, 500, 0),
    ("message of 8 bytes", "message", 8, 200000, 0),
    ("message of 64 KiB", "message", 65536, 10000, 0),
]
MODES = {  # name: environment beside LD_PRELOAD
    "nothing asked": {},
    "observing": {"TAUT_REPORT": "/dev/null"},
    "rules for other calls": {"TAUT_RULES": "Allreduce >=64MiB : abs=1e-3 ; * : off"},
}
BUILDS = {"dropin": "layers -DTAUT_DROPIN=ON"}


def preload_of(build):
    preload = build / "lib/taut/libtaut_preload.so"
    if not preload.exists():
        raise SystemExit(f"{preload} is not there: build with -DTAUT_DROPIN=ON")
    return str(preload)


def printed_seconds(mpi, ranks, program, words, environment):
    """Returns the last number that a program prints on ranks with further variables."""
    variables = ["env", *(f"{name}={value}" for name, value in environment.items())] if environment else []
    command = [mpi.mpiexec, "-n", str(ranks), *variables, str(program), *map(str, words)]
    done = subprocess.run(command, env=mpi.variables(), capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return float(done.stdout.split()[-1])


def in_random_order(modes, rounds, seconds):
    """Returns {mode: seconds(mode) in each round}."""
    times = {mode: [] for mode in modes}
    for _ in range(rounds):
        for mode in random.sample(list(modes), len(modes)):
            times[mode].append(seconds(mode))
    return times


def median_quotient(samples, others):
    return statistics.median(sample / other for sample, other in zip(samples, others, strict=True))


def measured(options):
    mpi = Mpi(f"{options.mpi}/bin/mpicc", f"{options.mpi}/bin/mpiexec")
    options.settings |= {"ranks": options.ranks, "rounds": options.rounds}
    environments = {("", "bare"): None} | {
        (build.name, mode): {"LD_PRELOAD": preload_of(build)} | extra
        for build in options.builds for mode, extra in MODES.items()
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "calls"
        subprocess.run([mpi.cc, "-O2", "-o", program, Path(__file__).with_name("calls.c")], check=True)
        for case, *words in CASES:
            times = in_random_order(
                environments, options.rounds, lambda mode: printed_seconds(mpi, options.ranks, program, words, environments[mode])
            )
            for (build, mode), samples in times.items():
                bare, first = times["", "bare"], times[options.builds[0].name if build else "", mode]
                yield {
                    "case": case, "build": build, "mode": mode, "median_s": statistics.median(samples), "least_s": min(samples),
                    "least_over_bare": min(samples) / min(bare), "median_over_bare": median_quotient(samples, bare),
                    "least_over_first": min(samples) / min(first), "median_over_first": median_quotient(samples, first),
                }  # fmt: skip


SUITE = Suite(
    about=__doc__, rows=measured, needs="build", builds=BUILDS, quick={"rounds": 3},
    options={"ranks": (2, "ranks"), "rounds": (21, "rounds"), "mpi": (str(ROOT / ".venv"), "where bin/mpicc and bin/mpiexec are")},
    columns={"calls": "{case}", "build": "{build}", "mode": "{mode}", "median, s": "{median_s:.4g}", "least, s": "{least_s:.4g}",
             "over bare, medians": "{median_over_bare:.3f}", "over bare, leasts": "{least_over_bare:.3f}",
             "over the first build, medians": "{median_over_first:.3f}", "leasts": "{least_over_first:.3f}"},
)  # fmt: skip

"""Measures the cost of creating and freeing persistent requests and communicators under the drop-in, as a ratio to bare MPI, and
to bare MPI at the thread level that TAUT_NONBLOCKING=1 asks for.

Every round runs cycles.c bare, bare with MPI_THREAD_MULTIPLE, and under the drop-in, in random order; the last with rules for
all calls, TAUT_NONBLOCKING=1 and TAUT_MESSAGES=1. The ratios are medians of the rounds' quotients. The MPIs are those of
tests/mpi/dropin/matrix.py; those that are not installed are left out.
"""

import itertools
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from overhead import BUILDS, in_random_order, preload_of, printed_seconds
from suite import Suite

from matrix import MPIS

CASES = [  # name, arguments of cycles.c
    ("Gather_init of 8 bytes, 10 starts", ("requests", "1", "2000")),
    ("Gather_init of 8 KiB, 10 starts", ("requests", "1024", "300")),
    ("Gather_init of 512 KiB, 10 starts", ("requests", "65536", "50")),
    ("dup, split, dist_graph_create, free", ("communicators", "0", "500")),
]
RULES = {"TAUT_RULES": "* : abs=1e-3", "TAUT_NONBLOCKING": "1", "TAUT_MESSAGES": "1"}


def programs(options, folder):
    """Yields the name of each installed MPI, the MPI, the program built with it, and the cases that it serves."""
    source = Path(__file__).with_name("cycles.c")
    for name in options.mpis.split(","):
        mpi, program = MPIS[name], Path(folder) / f"cycles-{name}"
        if mpi.emulator or not (shutil.which(mpi.cc) and shutil.which(mpi.mpiexec)):
            continue
        whole = subprocess.run([mpi.cc, "-O2", "-o", program, source], capture_output=True).returncode == 0
        if not whole:
            subprocess.run([mpi.cc, "-O2", "-DNO_PERSISTENT", "-o", program, source], check=True)
        yield name, mpi, program, [case for case in CASES if whole or case[1][0] != "requests"]


def measured(options):
    modes = {  # arguments beside those of the case, environment
        "bare_us": ((), {}),
        "multiple_us": (("multiple",), {}),
        "dropin_us": ((), {"LD_PRELOAD": preload_of(options.builds[0])} | RULES),
    }
    options.settings |= {"rounds": options.rounds}
    with tempfile.TemporaryDirectory() as folder:
        for (name, mpi, program, cases), ranks in itertools.product(programs(options, folder), map(int, options.ranks.split(","))):
            for title, case in cases:
                times = in_random_order(modes, options.rounds, lambda m: printed_seconds(mpi, ranks, program, (*case, *modes[m][0]), modes[m][1]))
                row = {"mpi": name, "ranks": ranks, "case": title}
                row |= {mode: round(1e6 * statistics.median(samples), 3) for mode, samples in times.items()}
                for key, base in ("ratio", "bare_us"), ("ratio_to_multiple", "multiple_us"):
                    row[key] = statistics.median(taut / plain for taut, plain in zip(times["dropin_us"], times[base], strict=True))
                yield row


SUITE = Suite(
    about=__doc__, rows=measured, needs="build", builds=BUILDS, quick={"rounds": 1},
    options={"mpis": (",".join(MPIS), "names of MPIs"), "ranks": ("2,4", "numbers of ranks"), "rounds": (7, "rounds")},
    columns={"MPI": "{mpi}", "ranks": "{ranks}", "cycle": "{case}", "bare, us": "{bare_us:.0f}", "bare with threads, us": "{multiple_us:.0f}",
             "drop-in, us": "{dropin_us:.0f}", "ratio": "{ratio:.2f}", "to threads": "{ratio_to_multiple:.2f}"},
)  # fmt: skip

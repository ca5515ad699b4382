#!/usr/bin/env python3
"""Measures the cost of creating and freeing persistent requests and communicators under the drop-in, as a
ratio to bare MPI, and to bare MPI at the thread level that TAUT_NONBLOCKING=1 asks for.

  cycles.py BUILD_DIR [--mpi mpich-wheel ...] [--ranks 2 4] [--rounds 7] [--out bench-out]

Every round runs cycles.c bare, bare with MPI_THREAD_MULTIPLE, and under the drop-in, in random order; the
last with rules for all calls, TAUT_NONBLOCKING=1 and TAUT_MESSAGES=1. The ratios are medians of the rounds'
quotients. Writes dropin_cycles.json (the machine, and the rows), and prints a Markdown table. The MPIs are those of
tests/mpi/dropin/matrix.py; those that are not installed are left out.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests/mpi/dropin")]
import machine  # noqa: E402
from matrix import MPIS  # noqa: E402

CASES = [  # name, arguments of cycles.c
    ("Gather_init of 8 bytes, 10 starts", ("requests", "1", "2000")),
    ("Gather_init of 8 KiB, 10 starts", ("requests", "1024", "300")),
    ("Gather_init of 512 KiB, 10 starts", ("requests", "65536", "50")),
    ("dup, split, dist_graph_create, free", ("communicators", "0", "500")),
]
RULES = {"TAUT_RULES": "* : abs=1e-3", "TAUT_NONBLOCKING": "1", "TAUT_MESSAGES": "1"}


def seconds(mpi, program, case, ranks, environment):
    variables = ["env", *(f"{k}={v}" for k, v in environment.items())]
    command = [mpi.mpiexec, "-n", str(ranks), *variables, program, *case]
    done = subprocess.run(command, env=mpi.variables(), capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return float(done.stdout.split()[-1])


def measure(mpi, program, case, ranks, preload, rounds):
    """Returns {bare, multiple, dropin: [seconds of a cycle in each round]}."""
    modes = {  # arguments beside those of the case, environment
        "bare": ((), {}),
        "multiple": (("multiple",), {}),
        "dropin": ((), {"LD_PRELOAD": str(preload)} | RULES),
    }
    times = {mode: [] for mode in modes}
    for _ in range(rounds):
        for mode in random.sample(list(modes), len(modes)):
            arguments, environment = modes[mode]
            times[mode].append(seconds(mpi, program, (*case, *arguments), ranks, environment))
    return times


def rows(options, folder, preload):
    for name in options.mpi:
        mpi = MPIS[name]
        program = Path(folder) / f"cycles-{name}"
        if mpi.emulator or not (shutil.which(mpi.cc) and shutil.which(mpi.mpiexec)):
            continue
        source = HERE / "cycles.c"
        built = subprocess.run([mpi.cc, "-O2", "-o", program, source], check=False, capture_output=True)
        lacks_requests = built.returncode != 0
        if lacks_requests:
            subprocess.run([mpi.cc, "-O2", "-DNO_PERSISTENT", "-o", program, source], check=True)
        for ranks in options.ranks:
            for title, case in CASES:
                if lacks_requests and case[0] == "requests":
                    continue
                times = measure(mpi, program, case, ranks, preload, options.rounds)
                row = {"mpi": name, "ranks": ranks, "case": title} | times
                for key, base in ("ratio", "bare"), ("ratio_to_multiple", "multiple"):
                    quotients = [taut / mpis for taut, mpis in zip(times["dropin"], times[base], strict=True)]
                    row[key] = statistics.median(quotients)
                yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--mpi", nargs="+", default=list(MPIS), choices=list(MPIS))
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    options = parser.parse_args()
    preload = options.build.resolve() / "lib/taut/libtaut_preload.so"
    before, made = machine.record(), []
    print("| MPI | ranks | cycle | bare, us | bare with threads, us | drop-in, us | ratio | to threads |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(options, folder, preload):
            made.append(row)
            times = (f"{statistics.median(row[mode]) * 1e6:.0f}" for mode in ("bare", "multiple", "dropin"))
            ratios = (f"{row[key]:.2f}" for key in ("ratio", "ratio_to_multiple"))
            cells = (row["mpi"], str(row["ranks"]), row["case"], *times, *ratios)
            print(f"| {' | '.join(cells)} |", flush=True)
    options.out.mkdir(exist_ok=True)
    (options.out / "dropin_cycles.json").write_text(json.dumps(before | {"rounds": options.rounds, "rows": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs programs that once failed under some MPI library or tool, bare and under the drop-in.

programs.py [--mpi NAME]... [--mode NAME]... [--program NAME]... [--times N] [--load N] --layers FOLDER

Each program prints, for each of its cases and ranks, how far the results are from the exact ones. Under the drop-in a case
has to end, and its results have to be exact without a lossy rule and within the bound with one. A case that plain MPI does
not run rightly is not judged: the table marks it. The last line is "N passed, N failed". Without --mpi and --mode: all
that are installed, and all. --times repeats each run. --load keeps the processors busy meanwhile, as a crowded machine
does: programs must end all the same. Exit status 77: no MPI of the given names is installed.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dropin"))
from matrix import MPIS  # noqa: E402

RANKS = 2
BOUND = 1e-4
ROUNDING = 1e-6  # of sums of a few float32 values near 1
SECONDS = 60  # that one start of a program may take
SKIPPED = 77

ALL_CALLS = {  # without a plain message first
    "TAUT_MESSAGES": "1",
    "TAUT_NONBLOCKING": "1",
    "TAUT_TRUSTED_RECEIVES": "1",
}
MODES = {  # variables of the drop-in, and the greatest deviation
    "off": ({}, 0.0),
    "observe": ({"TAUT_REPORT": "report.json"}, 0.0),
    "lossless": (
        {"TAUT_RULES": "* >=1B : lossless codec=mpc when=always"} | ALL_CALLS,
        0.0,
    ),
    "bounded": ({"TAUT_RULES": f"* >=1B : abs={BOUND} when=always"} | ALL_CALLS, BOUND),
    "credit": (
        {
            "TAUT_RULES": f"Send >=1B : abs={BOUND} when=always",
            "TAUT_MESSAGES": "1",
        },
        BOUND,
    ),
}
PROGRAMS = {  # source and flags
    "arguments": ("arguments.c", []),
    "messages": ("messages.c", []),
    "owners": ("owners.c", []),
    "surroundings": ("surroundings.c", ["-pthread"]),
    "sentinels": ("sentinels.f90", []),
    "traps": ("traps.f90", ["-ffpe-trap=invalid,zero,overflow"]),
}


class Job:
    """A program that was compiled for one MPI."""

    def __init__(self, mpi, name, folder):
        self.mpi, self.folder, self.program = mpi, folder, folder / name
        source, flags = PROGRAMS[name]
        compiler = compiler_of(mpi, name)
        subprocess.run(
            [
                compiler,
                "-w",
                "-O1",
                *flags,
                "-o",
                self.program,
                HERE / source,
                *mpi.libraries,
                "-lm",
            ],
            check=True,
        )

    def run(self, variables, cases=()):
        """Returns the greatest deviation over the ranks by case, and what went wrong, or None."""
        settings = [f"{name}={value}" for name, value in variables.items()]
        command = [
            self.mpi.mpiexec,
            "-n",
            str(RANKS),
            "env",
            *settings,
            str(self.program),
            *cases,
        ]
        with subprocess.Popen(
            command,
            env=self.mpi.variables(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as job:
            try:
                output, _ = job.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(job.pid, signal.SIGKILL)
                output, _ = job.communicate()
                return deviations(
                    output
                ), f"did not end in {SECONDS} s\n{end_of(output)}"
        return deviations(
            output
        ), f"ended with {job.returncode}\n{end_of(output)}" if job.returncode else None


def end_of(output):
    """Returns the last lines of a program's output, without those of cases."""
    return "\n".join(
        [line for line in output.splitlines() if " worst " not in line][-20:]
    )


def deviations(output):
    """Returns the greatest deviation over the ranks of each case that the output has lines of all ranks for."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) == 5 and words[1] == "rank" and words[3] == "worst":
            found.setdefault(words[0], []).append(float(words[4]))
    return {case: max(worst) for case, worst in found.items() if len(worst) == RANKS}


def compiler_of(mpi, program):
    """Returns the compiler of a program, or nothing if the MPI has no module for this language."""
    if not PROGRAMS[program][0].endswith(".f90"):
        return mpi.cc
    has_modules = not mpi.modules and not mpi.constants
    return mpi.fortran if has_modules and shutil.which(mpi.fortran or "-") else ""


def right_cases(job):
    """Returns the cases that plain MPI runs rightly, and those that it does not."""
    found, failure = job.run({})
    if failure:  # a case ended the program: each case by itself
        names = subprocess.run(
            [job.mpi.mpiexec, "-n", "1", job.program, "--list"],
            env=job.mpi.variables(),
            capture_output=True,
            text=True,
            check=True,
        )
        found = {}
        for case in names.stdout.split():
            alone, failed = job.run({}, [case])
            found[case] = float("inf") if failed else alone.get(case, float("inf"))
    right = [case for case, worst in found.items() if worst <= ROUNDING]
    return right, [case for case in found if case not in right]


def check(job, cases, mode, layers):
    """Returns the faults of a program in a mode, as lines."""
    variables, bound = MODES[mode]
    found, failure = job.run(
        {"LD_PRELOAD": str(layers / "libtaut_preload.so")} | variables, cases
    )
    faults = [] if failure is None else [failure]
    for case in cases:
        worst = found.get(case)
        if worst is None:
            faults.append(f"{case}: no result")
        elif not worst <= bound + ROUNDING:
            faults.append(f"{case}: {worst} off")
    return faults


@contextlib.contextmanager
def busy(processes):
    """Runs processes of the lowest priority that use all the time that they get."""
    spin = ["nice", "-n", "19", sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(spin) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--mpi",
        choices=MPIS,
        action="append",
        help="an MPI; default: all that are installed",
    )
    parser.add_argument("--mode", choices=MODES, action="append", help="default: all")
    parser.add_argument(
        "--program", choices=PROGRAMS, action="append", help="default: all"
    )
    parser.add_argument(
        "--layers", type=Path, required=True, help="folder of libtaut_preload.so"
    )
    parser.add_argument(
        "--times", type=int, default=1, help="runs of each program in each mode"
    )
    parser.add_argument(
        "--load", type=int, default=0, help="busy processes beside the programs"
    )
    options = parser.parse_args()
    mpis = {
        name: MPIS[name]
        for name in options.mpi or MPIS
        if not MPIS[name].emulator
        and shutil.which(MPIS[name].mpiexec)
        and shutil.which(MPIS[name].cc)
    }
    if not mpis:
        print("skipped: none of the MPIs is installed")
        sys.exit(SKIPPED)
    passed = failed = 0
    for mpi_name, mpi in mpis.items():
        for program in options.program or PROGRAMS:
            if not compiler_of(mpi, program):
                continue
            with tempfile.TemporaryDirectory() as folder:
                job = Job(mpi, program, Path(folder))
                cases, wrong = right_cases(job)
                for mode in options.mode or MODES:
                    with busy(options.load):
                        faults = [
                            fault
                            for _ in range(options.times)
                            for fault in check(
                                job, cases, mode, options.layers.resolve()
                            )
                        ]
                    note = f"; plain MPI fails {', '.join(wrong)}" if wrong else ""
                    print(
                        f"{mpi_name:15} {program:14} {mode:9} {'FAILED' if faults else f'{len(cases)} cases'}{note}",
                        flush=True,
                    )
                    for fault in faults:
                        print(fault)
                    passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

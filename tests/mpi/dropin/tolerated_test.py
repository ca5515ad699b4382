#!/usr/bin/env python3
"""Tests calls that plain MPI tolerates or refuses by an error class: under rules, the same comes of them.

tolerated_test.py MPI LAYERS    MPI: a name in matrix.MPIS; LAYERS: the folder of libtaut_preload.so
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from matrix import HERE, MPIS, skip

MPI, LAYERS = MPIS[sys.argv[1]], Path(sys.argv[2])
# MPICH and Intel MPI crash themselves where a count is negative or a type is missing.
ALSO = ["wrong"] if sys.argv[1].startswith("openmpi") else []


class Tolerated(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.program = Path(held.name) / "tolerated"
        subprocess.run([MPI.cc, "-O1", "-w", "-o", self.program, HERE / "tolerated.c", "-lm"], check=True)

    def run_with(self, **asked):
        """Returns what came of the calls of each rank, and what Taut says."""
        variables = [f"{name}={value}" for name, value in asked.items()]
        launch = [MPI.mpiexec, "-n", "2", "env", *variables, self.program, *ALSO]
        done = subprocess.run(launch, env=MPI.variables(), capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("taut:")]
        return sorted(line for line in done.stdout.splitlines() if ", rank " in line), said

    def test_the_same_comes_of_them_under_rules(self):
        plain, _ = self.run_with()
        self.assertGreaterEqual(len(plain), 50)
        served, said = self.run_with(
            LD_PRELOAD=LAYERS / "libtaut_preload.so",
            TAUT_RULES="* >=1B : abs=1e-3 when=always",
            TAUT_MESSAGES="1",
            TAUT_TRUSTED_RECEIVES="1",
            TAUT_NONBLOCKING="1",
        )
        self.assertEqual(served, plain)
        self.assertEqual(len(said), 1, said)  # once in a process
        self.assertIn("the ranks of an MPI_Bcast name different counts, types or operators", said[0])


if __name__ == "__main__":
    if not shutil.which(MPI.cc) or not shutil.which(MPI.mpiexec):
        skip(f"no {MPI.cc}")
    if not all(os.path.exists(flag[2:]) for flag in MPI.libraries if flag.startswith("-I")):
        skip("no headers of this MPI")
    unittest.main(argv=sys.argv[:1])

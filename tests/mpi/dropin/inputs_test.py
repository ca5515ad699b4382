#!/usr/bin/env python3
"""Tests a program of plain MPI whose inputs are in read-only memory, or in place, and stay while calls are repeated.

inputs_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TAUT, LAYERS, MPICC, MPIEXEC = sys.argv[1:5]
RANGE = 2 * (1 + 1e-3)  # of the program's values, at most


class Inputs(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-w", "-o", self.folder / "inputs", HERE / "inputs.c", "-lm"], check=True)

    def run_program(self, policy):
        """Returns the number of own values that changed, and the greatest error of received ones."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so", "TAUT_MESSAGES": "1", "TAUT_NONBLOCKING": "1"}
        environment["TAUT_TRUSTED_RECEIVES"] = "1"  # codes the first message of a key, too
        command = [TAUT, "run", "--rules", f"* : {policy} when=always min_bytes=0", "--", MPIEXEC, "-n", "3", "./inputs"]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        changed, worst = re.search(r"changed: (\d+) worst: (\S+)", done.stdout).groups()
        return int(changed), float(worst)

    def test_owned_values_stay(self):
        self.assertEqual(self.run_program("lossless codec=mpc"), (0, 0))
        for policy, bound in (("abs=1e-4", 1e-4), ("rel=1e-4", 1e-4 * RANGE)):
            with self.subTest(policy=policy):
                changed, worst = self.run_program(policy)
                self.assertEqual(changed, 0)
                self.assertLessEqual(worst, bound)
                self.assertGreater(worst, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

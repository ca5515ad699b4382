#!/usr/bin/env python3
"""Counts the private communicators that Taut creates for a program's communicators and persistent requests.

creations_test.py LAYERS MPICC MPIEXEC    LAYERS: the folder of libtaut_preload.so
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC = Path(sys.argv[1]), *sys.argv[2:4]
ROUNDS, STARTS = 40, 10  # as in creations.c


class Creations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.held.cleanup)
        cls.program = Path(cls.held.name) / "creations"
        subprocess.run([MPICC, "-O1", "-w", "-rdynamic", "-o", cls.program, HERE / "creations.c", "-lm", "-ldl"], check=True)

    def splits(self, part, **more):
        asked = {"LD_PRELOAD": LAYERS / "libtaut_preload.so", "TAUT_NONBLOCKING": "1", "TAUT_MESSAGES": "1"}
        asked |= {"TAUT_RULES": "* : abs=1e-3,when=always"} | more
        command = [MPIEXEC, "-n", "3", "env", *(f"{k}={v}" for k, v in asked.items()), self.program, part]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        said = re.search(r"splits (\d+), sums right", done.stdout)
        self.assertTrue(done.returncode == 0 and said, done.stdout + done.stderr)
        return int(said[1])

    def test_communicators_that_are_not_used_cost_nothing(self):
        self.assertLessEqual(self.splits("unused"), 8 + 2 * 4)  # the first of MPI_COMM_WORLD, and of these communicators

    def test_communicators_that_are_used_are_served_from_the_first_call(self):
        self.assertEqual(self.splits("used"), ROUNDS)

    def test_persistent_requests_share_communicators(self):
        self.assertEqual(self.splits("large"), 1)
        self.assertEqual(self.splits("order"), 2)

    def test_requests_below_all_rules_have_none(self):
        self.assertEqual(self.splits("small"), 0)

    def test_counted_requests_are_seen(self):
        report = f"{self.held.name}/seen.%r.json"
        self.assertEqual(self.splits("small", TAUT_REPORT=report), 1)
        communicators = json.loads(Path(report.replace("%r", "0")).read_text())["communicators"]
        calls = sum(kind["calls"] for one in communicators for kind in one["kinds"] if kind["collective"] == "allreduce")
        self.assertEqual(calls, ROUNDS * STARTS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

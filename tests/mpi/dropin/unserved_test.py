#!/usr/bin/env python3
"""Tests the names of calls that Taut does not serve: in reports, in the summary, and in the output of `taut
advise`.

unserved_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TAUT, LAYERS, MPICC, MPIEXEC = sys.argv[1:5]
COUNTS = {"MPI_Bsend": 1, "MPI_Put": 3}


class Unserved(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", self.folder / "unserved", HERE / "unserved.c"], check=True)

    def run_with(self, *command, **asked):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")} | asked
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def ranks(self, number=2, **asked):
        variables = [f"{k}={v}" for k, v in asked.items()]
        preload = f"LD_PRELOAD={LAYERS}/libtaut_preload.so"
        return self.run_with(MPIEXEC, "-n", str(number), "env", preload, *variables, "./unserved")

    def test_reports_and_advice_name_them(self):
        self.ranks(TAUT_REPORT="seen.json")
        for rank in range(2):
            report = json.loads((self.folder / f"seen.json.{rank}").read_text())
            self.assertEqual(report["unserved_calls"], COUNTS)
        self.assertIn("MPI_Bsend (1), MPI_Put (3)", self.run_with(TAUT, "advise", "seen.json").stdout)

    def test_the_summary_names_them(self):
        self.assertRegex(self.ranks(TAUT_SUMMARY="1").stderr, r"taut: not served by Taut +MPI_Bsend 1, MPI_Put 3\n")

    def test_a_single_rank_reports_them(self):
        self.ranks(1, TAUT_REPORT="alone.json")
        self.assertEqual(json.loads((self.folder / "alone.json").read_text())["unserved_calls"], COUNTS)

    def test_nothing_is_said_unasked(self):
        self.assertNotIn("taut:", self.ranks(TAUT_RULES="* : lossless").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

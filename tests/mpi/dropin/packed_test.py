#!/usr/bin/env python3
"""Tests a program that packs integers into doubles, under rules and under the rules that `taut advise` then
prints.

packed_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
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
TAUT, LAYERS, MPICC, MPIEXEC = sys.argv[1:5]
RULES = "Send,Bcast,Allgather f64 >=64KiB : {}"


class Packed(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", self.folder / "packed", HERE / "packed.c", "-lm"], check=True)

    def run_program(self, policy=None):
        """Returns the number of integers that changed, the error of the numbers, the output, and rank 0's
        kinds of calls."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so", "TAUT_SUMMARY": "1"}
        if policy:
            environment |= {"TAUT_RULES": RULES.format(policy), "TAUT_MESSAGES": "1"}
        command = [TAUT, "run", "--report", "r.json", "--", MPIEXEC, "-n", "2", "./packed"]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        changed, worst = re.search(r"integers changed: (\d+) worst: (\S+)", done.stdout).groups()
        report = json.loads((self.folder / "r.json.0").read_text())
        self.assertGreater(report["seconds"], 0)
        kinds = {kind["collective"]: kind for c in report["communicators"] for kind in c["kinds"]}
        return int(changed), float(worst), done.stderr, kinds

    def test_bounds_leave_them_alone(self):
        for policy in ("abs=1e-3", "abs=1e-9", "abs=1e-3 codec=szx", "rel=1e-4", "snap=1e-3", "pwrel=1e-3", "psnr=80"):
            with self.subTest(policy=policy):
                changed, worst, said, kinds = self.run_program(policy + " when=always")
                self.assertEqual(changed, 0)
                self.assertLessEqual(worst, 34e-3)
                self.assertRegex(said, r"taut: \d+ calls had packed integers")
                for name in ("send", "bcast", "allgather"):
                    self.assertGreater(kinds[name]["packed_calls"], 0, name)
                    if policy == "abs=1e-3":
                        first = kinds[name]["plain_calls"].get("credit", 0)  # messages before credit came
                        self.assertIn(first, (1, 2) if name == "send" else (0,))
                        self.assertEqual(kinds[name]["compressed_calls"], kinds[name]["calls"] - first, name)

    def test_without_the_default_they_are_ruined(self):
        changed, _, _, _ = self.run_program("abs=1e-3 bits=rounded when=always")
        self.assertGreater(changed, 10000)

    def test_advice_proposes_no_loss(self):
        changed, worst, _, kinds = self.run_program()
        self.assertEqual((changed, worst), (0, 0))
        self.assertGreater(kinds["send"]["compressibility"]["packed"], 0)
        command = [TAUT, "advise", "r.json", "--link", "100mbit", "--bound", "rel:1e-4"]
        printed = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertRegex(printed, "send f64.*packed integers")
        self.assertIn("send f64: values of some of these calls are integers packed bit by bit", printed)
        rules = re.search('TAUT_RULES="(.*)"', printed)
        self.assertNotIn("rel", rules[1] if rules else "")
        if rules:
            self.assertIn("lossless", rules[1])
            self.assertRegex(printed, r"% of the run's \S+ s|waited for a processor")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Tests messages that repeat themselves under the drop-in: with a history values have the bits that they have without.

repeated_test.py LAYERS MPICC MPIEXEC    LAYERS: the folder of libtaut_preload.so
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC = sys.argv[1:4]
KINDS = 7  # of messages in each step
STEPS = 14


class Repeated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", cls.folder / "repeated", HERE / "repeated.c", "-lm"], check=True)

    def run_with(self, rules, ranks=2, other_rules=None):
        """Returns the lines that the ranks print, and the numbers of messages that referred to earlier ones.
        `other_rules`: of rank 1."""
        (self.folder / "report.json").unlink(missing_ok=True)
        asked = {"LD_PRELOAD": f"{LAYERS}/libtaut_preload.so", "TAUT_MESSAGES": "1", "TAUT_REPORT": "report.%r.json"}
        words = ["env", *(f"{k}={v}" for k, v in asked.items())]
        command = [MPIEXEC, "-n", str(ranks), *words, f"TAUT_RULES={rules}", "./repeated"]
        if other_rules:
            command = [MPIEXEC, "-n", "1", *words, f"TAUT_RULES={rules}", "./repeated"]
            command += [":", "-n", "1", *words, f"TAUT_RULES={other_rules}", "./repeated"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        kinds = [
            kind
            for rank in range(ranks)
            for one in json.loads((self.folder / f"report.{rank}.json").read_text())["communicators"]
            for kind in one["kinds"]
        ]
        return sorted(done.stdout.split("\n")), [kind["referring_calls"] for kind in kinds if kind["collective"] == "send"]

    def test_values_have_the_same_bits(self):
        rules = "* : abs=1e-3,when=always"
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                without, none = self.run_with(rules, ranks)
                self.assertEqual(sum(none), 0)
                with_it, referring = self.run_with(f"{rules},history=auto", ranks)
                self.assertEqual(with_it, without)
                self.assertGreater(sum(referring), ranks * KINDS * STEPS // 2)

    def test_a_side_without_a_history_is_not_referred_to(self):
        rules = "* : abs=1e-3,when=always"
        without, _ = self.run_with(rules)
        mixed, referring = self.run_with(f"{rules},history=auto", other_rules=rules)
        self.assertEqual(mixed, without)
        self.assertEqual(sum(referring), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

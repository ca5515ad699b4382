#!/usr/bin/env python3
"""Tests messages of an unchanged program from and to memory of a simulated GPU, which ends a program that touches
it from the host: coded under a rule, with the results of host memory.

on_gpus_test.py LAYERS MPICC MPIEXEC DRIVER CUDA    LAYERS: the folder of libtaut_preload.so; DRIVER: the stand-in
for CUDA's driver; CUDA: the folder of libtaut_cuda on that driver
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC, DRIVER, CUDA = sys.argv[1:6]


class MessagesOnGpus(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        program = [HERE / "on_gpus.c", DRIVER, f"-Wl,-rpath,{Path(DRIVER).parent}", "-lm"]
        subprocess.run([MPICC, "-O1", f"-I{HERE.parent.parent}", "-o", self.folder / "on_gpus", *program], check=True)

    def run_ranks(self, number, rules):
        asked = {"TAUT_MESSAGES": "1", "TAUT_REPORT": "seen.json", "TAUT_RULES": rules}
        asked |= {"LD_PRELOAD": f"{LAYERS}/libtaut_preload.so", "LD_LIBRARY_PATH": CUDA}
        command = [MPIEXEC, "-n", str(number), "env", *(f"{k}={v}" for k, v in asked.items()), "./on_gpus"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        differ, worst = done.stdout.split()
        self.assertEqual(int(differ), 0, done.stderr)
        report = json.loads((self.folder / "seen.json.0").read_text())
        sent = [row for comm in report["communicators"] for row in comm["kinds"] if row["collective"] == "send"]
        self.assertTrue(sent, report)
        first = sum(row["plain_calls"].get("credit", 0) for row in sent)
        self.assertEqual(first, 1, sent)
        for row in sent:
            self.assertEqual(row["compressed_calls"] + row["plain_calls"].get("credit", 0), row["calls"], row)
        return float(worst)

    def test_within_a_bound(self):
        self.assertLessEqual(self.run_ranks(2, "Send : abs=1e-3, codec=planes, when=always"), 1e-3)

    def test_without_loss(self):
        self.assertEqual(self.run_ranks(3, "Send : lossless, codec=mpc, when=always"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

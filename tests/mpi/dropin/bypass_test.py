#!/usr/bin/env python3
"""Tests credit for messages: a receive that bypasses Taut gets values, whatever other receives of its process are.

bypass_test.py MPI LAYERS    MPI: a name in MPIS of matrix.py; LAYERS: the folder of libtaut_preload.so
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from matrix import MPIS, SKIPPED

HERE = Path(__file__).resolve().parent
MPI, LAYERS = MPIS[sys.argv[1]], Path(sys.argv[2])
BOUND = 0.01
ROUNDS = 4


class Bypass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        compile_ = [MPI.cc, "-w", "-O1", HERE / "bypass.c"]
        subprocess.run([*compile_, "-DLIBRARY", "-shared", "-fPIC", "-o", cls.folder / "past.so", *MPI.libraries], check=True)
        subprocess.run([*compile_, "-o", cls.folder / "bypass", "-lm", "-ldl", *MPI.libraries], check=True)

    def run_program(self, **variables):
        """Returns the deviations by way to receive, in order, and the rows of sent messages in rank 0's report."""
        asked = {
            "LD_PRELOAD": f"{LAYERS}/libtaut_preload.so",
            "TAUT_RULES": f"Send >=64KiB : abs={BOUND} when=always",
            "TAUT_MESSAGES": "1",
            "TAUT_REPORT": "r.%r.json",
        } | variables
        launch = [MPI.mpiexec, "-n", "2", "env", *(f"{k}={v}" for k, v in asked.items()), "./bypass", "./past.so"]
        done = subprocess.run(launch, cwd=self.folder, env=MPI.variables(), capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([line for line in done.stderr.splitlines() if "taut" in line], [])  # Open MPI may write of interfaces
        found = {}
        for name, *rest in map(str.split, done.stdout.splitlines()):
            found.setdefault(name, []).append(float(rest[1]) if rest[1:] else rest)
        self.assertEqual(found.pop("wrong:"), [[]])
        report = json.loads((self.folder / "r.0.json").read_text())
        rows = [kind for c in report["communicators"] for kind in c["kinds"] if kind["collective"] == "send"]
        return found, rows

    def test_receives_past_taut_get_values(self):
        found, rows = self.run_program()
        sent = plain = 0
        for name, off in found.items():
            sent += len(off)
            if name.startswith("past:") or name == "first":
                self.assertEqual(off, [0] * len(off), name)
                plain += len(off)
                continue
            for first in range(0, len(off), ROUNDS):  # on each communicator, the first message is plain
                self.assertEqual(off[first], 0, name)
                plain += 1
                for later in off[first + 1 : first + ROUNDS]:
                    self.assertTrue(1e-3 < later <= BOUND, (name, off))
        self.assertEqual(sum(row["calls"] for row in rows), sent)
        self.assertEqual(sum(row["compressed_calls"] for row in rows), sent - plain)
        self.assertEqual(sum(row["plain_calls"].get("credit", 0) for row in rows), plain)

    def test_trusted_receives_need_no_credit(self):
        """If the program has others nevertheless, these get frames: so the receives of this test do bypass Taut."""
        found, _ = self.run_program(TAUT_TRUSTED_RECEIVES="1")
        for name, off in found.items():
            for one in off:
                self.assertFalse(one == 0, name)
                if not name.startswith("past:"):
                    self.assertTrue(1e-3 < one <= BOUND, (name, off))


if __name__ == "__main__":
    if not shutil.which(MPI.mpiexec):
        print(f"skipped: no {MPI.mpiexec}")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])

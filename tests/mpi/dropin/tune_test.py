#!/usr/bin/env python3
"""Tunes programs under MPI by their own checks.

tune_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
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
try:
    from taut._tune._command import main  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Tuned(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", self.folder / "chain", HERE / "chain.c", "-lm"], check=True)

    def tune(self, check, *more):
        call = f"import sys; from pathlib import Path; from taut._tune._command import main; sys.exit(main(sys.argv[1:], Path({TAUT!r})))"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so"}
        command = [sys.executable, "-c", call, "--check", check, *more, "--", MPIEXEC, "-n", "2", "./chain"]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=200)

    def check(self, drift):
        return f"cat drift.txt; awk '{{exit !($1 <= {drift})}}' drift.txt"

    def test_a_bound_that_ruins_the_energy_is_refused(self):
        done = self.tune(self.check("5e-3"), "--runs", "12", "--confirm", f"{MPIEXEC} -n 3 ./chain")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        runs = re.findall(r"^run +\d+: (\S+), (\S+); (\w+)", done.stdout, re.M)
        self.assertLessEqual(len(runs), 12)
        self.assertLessEqual(float(runs[-1][1]), 5e-3)
        refused = [float(factor) for factor, _, outcome in runs if outcome == "refused"]
        (bound,) = map(float, re.findall(r'bound = "abs:(.*)"', (self.folder / "tuned.toml").read_text()))
        self.assertLess(bound, min(refused))
        self.assertGreater(bound, min(refused) / 2)

    def test_a_check_that_no_bound_passes(self):
        plain = self.folder / "drift.txt"
        subprocess.run([MPIEXEC, "-n", "2", "./chain"], cwd=self.folder, check=True, timeout=60)
        plain.rename(self.folder / "plain.txt")
        done = self.tune("cmp drift.txt plain.txt", "--runs", "5")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertFalse((self.folder / "tuned.toml").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

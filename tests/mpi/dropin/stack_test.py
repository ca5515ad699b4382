#!/usr/bin/env python3
"""Tests the stack that calls take. Programs make calls in tasks and fibres with stacks of 16 to 128 KiB.

stack_test.py LAYERS MPICC MPIEXEC    LAYERS: the folder of libtaut_preload.so
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYERS, MPICC, MPIEXEC = sys.argv[1:4]
MORE = 16  # KiB that Taut may take beyond plain MPI
MODES = {
    "observe": {"TAUT_REPORT": "report.%r.json"},
    "abs": {"TAUT_RULES": "* >=1B : abs=1e-4 when=always", "TAUT_MESSAGES": "1"},
    "szx": {"TAUT_RULES": "* >=1B : abs=1e-4 codec=szx when=always", "TAUT_MESSAGES": "1"},
    "scalar": {"TAUT_RULES": "* >=1B : abs=1e-4 codec=planes when=always", "TAUT_KERNELS": "scalar"},
    "mpc": {"TAUT_RULES": "* >=1B : lossless codec=mpc when=always", "TAUT_MESSAGES": "1"},
    "lossless": {"TAUT_RULES": "* >=1B : lossless", "TAUT_REPORT": "report.%r.json"},
}


class Stack(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        subprocess.run([MPICC, "-O1", "-o", self.folder / "stack", HERE / "stack.c", "-lm", "-lpthread"], check=True)

    def run_with(self, **asked):
        """Returns the greatest number of KiB by call."""
        variables = [f"{name}={value}" for name, value in asked.items()]
        launch = [MPIEXEC, "-n", "2", "env", *variables, "./stack"]
        done = subprocess.run(launch, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {}
        for call, kib in map(str.split, done.stdout.splitlines()):
            found[call] = max(int(kib), found.get(call, 0))
        return found

    def test_calls_take_little_more_than_plain_ones(self):
        plain = self.run_with()
        for mode, asked in MODES.items():
            served = self.run_with(LD_PRELOAD=f"{LAYERS}/libtaut_preload.so", **asked)
            for call, kib in served.items():
                with self.subTest(mode=mode, call=call):
                    self.assertLessEqual(kib, max(plain[call], plain["small"]) + MORE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

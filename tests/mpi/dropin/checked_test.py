#!/usr/bin/env python3
"""Runs a program that makes each kind of call under `taut run --check`.

checked_test.py TAUT LAYERS MPICC MPIEXEC    TAUT: the program; LAYERS: the folder of libtaut_preload.so
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
BOUND, RANKS = 1e-3, 3
KINDS = set("allreduce reduce reduce_scatter scan exscan bcast scatter gather allgather alltoall neighbor_allgather send".split())


class Checked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        for program in ("checked", "summing"):
            subprocess.run([MPICC, "-O1", "-o", cls.folder / program, HERE / f"{program}.c"], check=True)

    def run_checked(self, program, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")}
        environment |= {"TAUT_PRELOAD": f"{LAYERS}/libtaut_preload.so"}
        command = [TAUT, "run", *arguments, "--", MPIEXEC, "-n", str(RANKS), f"./{program}"]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def checks(self, report):
        """Returns the checks of each kind of collective, of all ranks."""
        found = {}
        for rank in range(RANKS):
            for communicator in json.loads((self.folder / f"{report}.{rank}").read_text())["communicators"]:
                for kind in communicator["kinds"]:
                    if kind["compressed_calls"] and kind["collective"] != "recv":
                        found.setdefault(kind["collective"], []).append((kind["compressed_calls"], kind["check"]))
        return found

    def test_every_kind_of_call_is_checked(self):
        done = self.run_checked("checked", "--check", "--bound", f"abs:{BOUND},when=always,min_bytes=0",
                                "--nonblocking", "--messages", "--report", "all.json")  # fmt: skip
        found = self.checks("all.json")
        self.assertEqual(found.keys(), KINDS)
        for name, kinds in found.items():
            for compressed, check in kinds:
                self.assertEqual(check["calls"], compressed, name)
                self.assertEqual(check["calls_over_bound"], 0, (name, check))
                self.assertAlmostEqual(check["bound"], BOUND)
            greatest = max(check["error"] for _, check in kinds)
            self.assertTrue(BOUND / 100 < greatest <= BOUND * 1.01, (name, greatest))
        self.assertIn("every error is within its bound", done.stderr)
        self.assertLessEqual(max(map(len, done.stderr.splitlines())), 80)

    def test_the_error_is_that_which_the_program_sees(self):
        done = self.run_checked("summing", "--check", "--bound", "abs:1e-2,when=always")
        worst = float(re.search(r"worst: (\S+)", done.stdout)[1])
        (row,) = re.findall(r"^ *(\S+) +0.01 +\S+ +\d +\d+ +30  allreduce f32 sum 256KiB$", done.stderr, re.M)
        self.assertAlmostEqual(float(row) / worst, 1, delta=0.05)  # plain MPI rounds its sum, too
        self.assertEqual({path.name for path in self.folder.iterdir()} & {"report.json"}, set())
        self.assertFalse(list(self.folder.glob("taut-check-*")))

    def test_a_share_of_the_calls(self):
        self.run_checked("summing", "--check=1/4", "--bound", "abs:1e-2,when=always", "--report", "some.json")
        numbers = [(compressed, check["calls"]) for compressed, check in self.checks("some.json")["allreduce"]]
        self.assertEqual(numbers, [numbers[0]] * RANKS)
        self.assertTrue(0 < numbers[0][1] < numbers[0][0])

    def test_a_plain_run_has_no_checks(self):
        self.run_checked("summing", "--bound", "abs:1e-2,when=always", "--report", "none.json")
        self.assertEqual([check for _, check in self.checks("none.json")["allreduce"]], [None] * RANKS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

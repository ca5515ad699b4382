"""Tests of applications from Debian: what they have in common."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench" / "applications"))
from job import Job, what_is_missing  # noqa: E402


class JobCase(unittest.TestCase):
    """Tests of an application's small case. `plain` is what it prints while it is observed."""

    application = None

    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        taut, layers = sys.argv[1:3]
        cls.job = Job(cls.application, cls.application.small_size, held.name, taut,
                      Path(layers) / "libtaut_preload.so", timeout=120)  # fmt: skip
        cls.plain = cls.job.observed("plain.json")

    def run_with(self, policy):
        """Returns what the application prints under a policy for its calls, and the kinds of calls of all ranks."""
        text = self.job.observed("with.json", self.application.rules(policy), self.application.messages)
        return text, self.job.kinds("with.json")


def run_tests(case):
    if reason := what_is_missing(case.application):
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Runs a small case of an application from Debian under rules, on two ranks of Debian's Open MPI.

applications_test.py APP TAUT LAYERS    APP: espresso or meep; TAUT: the program; LAYERS: the folder of libtaut_preload.so

Skipped (exit status 77) where the application is not installed.
"""

import importlib
import re
import sys

from job_case import JobCase, run_tests
from application import greatest_difference
from job import traffic


class Application(JobCase):
    application = importlib.import_module(sys.argv[1]).APPLICATION

    def test_lossless_gives_the_same_digits(self):
        text, kinds = self.run_with("lossless when=always")
        self.assertGreater(traffic(kinds)[0], 0)
        self.assertEqual(self.application.printed(text), self.application.printed(self.plain))

    def test_a_bound_changes_observables_by_little(self):
        text, kinds = self.run_with(f"{self.application.bounds[-1]} when=always")
        compressed, carried, sent = traffic(kinds)
        self.assertGreater(compressed, 0)
        self.assertLess(sent, carried)
        plain = self.application.observables(self.plain)
        for name, values in self.application.observables(text).items():
            self.assertLess(greatest_difference(values, plain[name]), 1e-4, name)

    def test_what_is_advised_without_loss_gives_the_same_digits(self):
        printed = self.job.advice("plain.json", "--bound", "lossless", "--link", "100mbit")
        rules = re.search(r'TAUT_RULES="(.*)"', printed)
        if rules is None:
            self.assertIn("No rule would gain anything", printed)
            return
        text = self.job.observed("advised.json", rules[1], "TAUT_MESSAGES=1" in printed)
        self.assertEqual(self.application.printed(text), self.application.printed(self.plain))


if __name__ == "__main__":
    del sys.argv[1]
    run_tests(Application)

#!/usr/bin/env python3
"""Runs LAMMPS under rules: its messages hold tags and types bit by bit beside coordinates.

lammps_test.py TAUT LAYERS    TAUT: the program; LAYERS: the folder of libtaut_preload.so

Skipped (exit status 77) where Debian's `lammps` (which runs on its Open MPI) is not installed.
"""

import re

from job_case import JobCase, run_tests
from lammps import APPLICATION


class Lammps(JobCase):
    application = APPLICATION

    def test_what_is_advised_gives_the_same_digits(self):
        self.assertEqual(len(APPLICATION.observables(self.plain)["pressure"]), 5)
        for bound in ("rel:1e-4", "lossless"):
            printed = self.job.advice("plain.json", "--bound", bound, "--link", "100mbit")
            self.assertRegex(printed, r"send f64 \S+ .*packed integers")
            rules = re.search(r'TAUT_RULES="(.*)"', printed)
            self.assertNotIn("rel", rules[1] if rules else "")
            if not rules:
                continue
            with self.subTest(bound=bound, rules=rules[1]):
                text = self.job.observed("advised.json", rules[1], "TAUT_MESSAGES=1" in printed)
                self.assertEqual(APPLICATION.printed(text), APPLICATION.printed(self.plain))

    def sends(self, policy):
        """Returns the numbers of messages with credit and of compressed ones under a policy, and what LAMMPS prints."""
        text, kinds = self.run_with(policy)
        sends = [kind for kind in kinds if kind["collective"] == "send"]
        self.assertGreater(min(kind["packed_calls"] for kind in sends), 0)
        with_credit = sum(kind["calls"] - kind["plain_calls"].get("credit", 0) for kind in sends)
        return with_credit, sum(k["compressed_calls"] for k in sends), APPLICATION.observables(text)

    def test_a_bound_has_to_do_with_coordinates_alone(self):
        plain = APPLICATION.observables(self.plain)
        _, compressed, seen = self.sends("rel=1e-4")  # without gain, as integers are kept
        self.assertEqual((compressed, seen), (0, plain))
        calls, compressed, seen = self.sends("rel=1e-6 when=always")
        self.assertEqual(compressed, calls)
        self.assertGreater(calls, 0)
        for name, values in seen.items():
            self.assertEqual(len(values), len(plain[name]))
            for a, b in zip(values, plain[name], strict=True):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(1, abs(b)))


if __name__ == "__main__":
    run_tests(Lammps)

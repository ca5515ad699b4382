"""Outcomes of simulated calls are kept, and only those of the same sources are used again."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/simulation"))
import outcomes

# Stands for taut_simulate: counts its runs, and answers with the length of the scenario.
PROGRAM = """#!/bin/sh
read -r line
echo run >> "$0.runs"
echo "{\\"seconds\\": ${#line}}"
"""


class Outcomes(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = self.folder / "simulate"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.file = self.folder / "outcomes.jsonl"

    def of(self, *scenarios, **options):
        return outcomes.Outcomes(self.program, self.file, **options).of(scenarios)

    def runs(self):
        return len(Path(f"{self.program}.runs").read_text().splitlines())

    def test_what_is_known_is_not_simulated_again(self):
        self.assertEqual(self.of("a", "bb", jobs=2), {"a": {"seconds": 1}, "bb": {"seconds": 2}})
        self.assertEqual(self.of("a", "ccc"), {"a": {"seconds": 1}, "ccc": {"seconds": 3}})
        self.assertEqual(self.runs(), 3)

    def test_an_interrupted_sweep_goes_on(self):
        with self.assertRaisesRegex(outcomes.Incomplete, "2 of 2"):
            self.of("a", "bb", minutes=0)
        self.of("a")
        self.file.write_text(self.file.read_text() + '{"scenario": "bb", "outc')  # killed while it wrote
        self.assertEqual(self.of("a", "bb")["bb"], {"seconds": 2})
        self.assertEqual(self.of("bb")["bb"], {"seconds": 2})
        self.assertEqual(self.runs(), 2)

    def test_outcomes_of_other_sources_are_not_used(self):
        self.of("a")
        head, *rest = self.file.read_text().splitlines()
        self.file.write_text("\n".join([json.dumps({"sources": "others"}), *rest]) + "\n")
        self.of("a")
        self.assertEqual(self.runs(), 2)

    def test_a_failure_is_reported(self):
        self.program.write_text("#!/bin/sh\nexit 2\n")
        with self.assertRaisesRegex(SystemExit, "status 2.*: a"):
            self.of("a")

    def test_the_fingerprint_is_that_of_the_code(self):
        source = self.folder / "src/communication/team/call.cpp"
        source.parent.mkdir(parents=True)
        prints = []
        for text in ("int a;", "int a;  // a number\n", "int  a ;", "int b;"):
            source.write_text(text)
            prints.append(outcomes.fingerprint(self.folder))
        self.assertEqual([one == prints[0] for one in prints], [True, True, True, False])


if __name__ == "__main__":
    unittest.main()

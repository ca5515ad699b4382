"""The journal of tools/soak.py: counts add up over commits, and a run goes on where the last one stopped."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import soak


class Soak(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "soak.json"
        self.commands = []
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def journal(self, commit):
        return soak.Journal(self.path, commit, "a machine")

    def run_with(self, status, output):
        def run(command):
            self.commands.append(command)
            return status, output, 2.0

        return run

    def test_a_run_goes_on_at_another_commit(self):
        self.assertTrue(soak.random_calls(self.journal("one"), "configurations", self.run_with(0, "")))
        later = self.journal("two")
        self.assertTrue(soak.random_calls(later, "configurations", self.run_with(0, "")))
        piece = soak.PIECES["configurations"][0]
        self.assertEqual(self.commands[1][self.commands[1].index("--first") + 1], str(piece))
        self.assertEqual(later.total("configurations"), (2 * piece, 4.0))
        self.assertEqual([run["commit"] for run in self.journal("two").record["runs"]], ["one", "two"])

    def test_a_finding_is_kept_and_not_counted(self):
        self.assertFalse(soak.random_calls(self.journal("one"), "faults", self.run_with(1, "FAILED --only 7")))
        again = self.journal("one")
        self.assertIn("FAILED --only 7", again.record["findings"][0]["what"])
        self.assertEqual(again.total("faults")[0], 0)
        self.assertEqual(len(again.open_findings()), 1)
        again.record["findings"][0]["fixed"] = "a test of the regression"
        self.assertEqual(again.open_findings(), [])

    def test_fuzz_targets_are_counted_one_by_one(self):
        said = "== round_trip, 5 s\nround_trip: 30 executions in 1.5 s, cov: 7 coverage, no finding\nread_header: 70 executions in 0.5 s, no\n"
        journal = self.journal("one")
        self.assertTrue(soak.fuzzing(journal, 1, self.run_with(0, said)))
        self.assertEqual(journal.run["counts"]["executions round_trip"], {"count": 30, "seconds": 1.5})
        self.assertEqual(journal.total("executions"), (100, 2.0))
        self.assertIn("executions: 100 of 1000000000, 50 a second", next(journal.left()))

    def test_a_fuzzer_that_names_no_count_is_a_finding(self):
        journal = self.journal("one")
        self.assertFalse(soak.bulk_fuzzing(journal, 1, ["read_header"], self.run_with(0, "Done")))
        self.assertEqual(journal.open_findings()[0]["what"], "fuzzing read_header: Done")

    def test_executions_without_sanitizers_are_told_apart(self):
        journal = self.journal("one")
        journal.add("executions read_header", 5, 1.0)
        said = "#640 after 10 s\nDone 700 runs in 10.0 s\nstat::number_of_executed_units: 700\n"
        self.assertTrue(soak.bulk_fuzzing(journal, 1, ["read_header", "round_trip"], self.run_with(0, said)))
        self.assertEqual(journal.record["totals"]["executions"], 1405)
        self.assertEqual(journal.record["totals"]["executions under sanitizers"], 5)
        self.assertNotEqual(self.commands[0][4], self.commands[1][4])  # seeds

    def turns(self, journal, done, finding=None):
        """Returns the turns of three kinds, whose works note their kind in `done` and count 1 each."""

        def work(kind):
            done.append(kind)
            journal.add(kind, 1, 1.0)
            return kind != finding

        return soak.Turns(journal, {kind: lambda kind=kind: work(kind) for kind in soak.WANTED})

    def test_kinds_that_have_reached_their_aim_are_left_out(self):
        journal, done = self.journal("one"), []
        for kind, left in (("executions", 0), ("configurations", 1), ("faults", 3)):
            journal.add(kind, soak.WANTED[kind] - left, 1.0)
        turns = self.turns(journal, done)
        turns.work_until(float("inf"))
        self.assertTrue(turns.good)
        self.assertEqual(done, ["configurations", "faults", "faults", "faults"])

    def test_kinds_take_turns_and_none_is_done_twice_at_a_time(self):
        journal, done = self.journal("one"), []
        turns = self.turns(journal, done, finding="faults")
        self.assertEqual([turns.take() for _ in range(4)], [*soak.WANTED, None])
        turns.waiting = ["configurations", "faults"]
        turns.work_until(float("inf"))
        self.assertEqual(done, ["configurations", "faults"])
        self.assertFalse(turns.good)
        self.assertIsNone(turns.take())  # a finding ends the work of all

    def test_processor_time_is_counted(self):
        status, output, seconds = soak.timed(["sh", "-c", "echo said; exit 3"])
        self.assertEqual((status, output), (3, "said\n"))
        self.assertGreaterEqual(seconds, 0)


if __name__ == "__main__":
    unittest.main()

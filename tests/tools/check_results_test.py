"""Tests of tools/check_results.py: results that it rejects."""

import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_results as check
from check_results import report

MACHINE = {"processor": "P", "cores": 2, "os": "Linux"}
RUN = {"command": "make bench", "machine": MACHINE, "date": "2026-01-31", "commit": "c", "load": 0.0, "rows": [{"a": 1}, {"a": 2}]}


class Results(unittest.TestCase):
    def faults(self, **other):
        return list(check.faults_of(report.text({"runs": [RUN | other]})))

    def test_a_whole_report_passes(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults(load="unknown", recorded="git", machine=MACHINE | {"card": "G"}), [])

    def test_every_field_of_the_record_is_wanted(self):
        for name in report.RECORD:
            self.assertEqual(self.faults(**{name: None}), [f"run 0: has no {name}"])
        for name in MACHINE:
            self.assertEqual(self.faults(machine=MACHINE | {name: ""}), [f"run 0: its machine has no {name}"])
        self.assertTrue(self.faults(machine="a fast one"))
        self.assertEqual(self.faults(rows=[]), ["run 0: has no rows"])

    def test_a_row_stands_on_one_line(self):
        whole = report.text({"runs": [RUN]})
        for torn in (whole.replace('{"a": 1}', '{\n"a": 1}'), whole.replace('{"a": 1},\n', '{"a": 1}, ')):
            self.assertRegex(next(check.faults_of(torn)), "other lines")

    def test_other_shapes_are_rejected(self):
        for text in ('{"rows": [{"a": 1}]}', "[1]", "{", '{"runs": []}'):
            self.assertEqual(len(list(check.faults_of(text))), 1, text)

    def test_the_committed_results_pass_and_are_few(self):
        self.assertEqual(check.main(check.FOLDERS), 0)
        said = io.StringIO()
        with mock.patch.object(check, "MOST_LINES", 100), contextlib.redirect_stdout(said):
            self.assertEqual(check.main(check.FOLDERS), 1)
        self.assertIn("at most 100 are allowed", said.getvalue())


if __name__ == "__main__":
    unittest.main()

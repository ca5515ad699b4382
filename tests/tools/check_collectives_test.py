"""Tests that check_collectives.py finds what is missing."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_collectives as check

ROOT = Path(__file__).resolve().parents[2]


class CheckCollectives(unittest.TestCase):
    def test_a_form_that_is_not_declared(self):
        header = (ROOT / "include/taut/taut.h").read_text()
        self.assertEqual([*check.undeclared(header)], [])
        self.assertEqual(len([*check.undeclared(header.replace("TAUT_Ibcast(", ""))]), 1)

    def test_a_collective_without_algorithm_or_row(self):
        number = len({function.served_as for function in check.collectives()})
        self.assertEqual(len([*check.without_algorithm("")]), number)
        self.assertEqual(len([*check.undocumented("", "")]), 2 * number)

    def test_a_name_that_no_function_has(self):
        bench, calibrate = '    {"allreduce", true, true,', 'CALLS = ("bcast", "cast")'
        self.assertEqual(len([*check.unknown(bench, calibrate)]), 1)


if __name__ == "__main__":
    unittest.main()

"""Tests that check_fuzzing.py finds a function without a target."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_fuzzing as check

ROOT = Path(__file__).resolve().parents[2]
CMAKE = "taut_fuzz_target(calls 10)"


class CheckFuzzing(unittest.TestCase):
    def test_functions_that_take_bytes_are_found(self):
        found = set(check.c_functions((ROOT / "include/taut/taut.h").read_text()))
        for name in ("Decode", "Frame_add", "Frame_scale", "Frame_get_statistics", "Frame_get_info", "Encode", "Comm_set_policy"):
            self.assertIn(f"TAUT_{name}", found)
        self.assertNotIn("TAUT_Max_bytes", found)
        self.assertNotIn("TAUT_Allreduce", found)
        header = (ROOT / "include/taut/frame.hpp").read_text()
        names = ("info", "decode", "decode_with_references", "add", "scale", "statistics")
        self.assertEqual(set(check.cxx_functions(header)), {f"taut::{x}" for x in names})

    def test_a_function_without_a_target_is_a_fault(self):
        header = "TAUT_API int TAUT_New(const void* frame, size_t bytes, int x);"
        functions = list(check.c_functions(header))
        for code, expected in (("TAUT_New(a, b, 1);", 0), ("TAUT_New_one(a, b, 1);", 1), ("// TAUT_New(a, b, 1);", 1)):
            found = check.faults(functions, check.targets(CMAKE, {"calls.cpp": code, "other.cpp": "TAUT_New()"}), lambda _: "")
            self.assertEqual(len(list(found)), expected, code)

    def test_a_stand_in_has_to_exist(self):
        self.assertEqual(len(list(check.faults(["TAUT_Decode_enqueue"], "", lambda _: ""))), 1)
        self.assertEqual(len(list(check.faults(["TAUT_Decode_enqueue"], "", lambda _: "TEST"))), 0)

    def test_the_targets_are_complete(self):
        self.assertFalse(check.main(ROOT))


if __name__ == "__main__":
    unittest.main()

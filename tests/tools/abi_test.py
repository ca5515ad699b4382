"""Checks that tools/abi.py notices changes of the binary interface."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from abi import ROOT, compared, described

HEADER = (ROOT / "include/taut/taut.h").read_text()


@unittest.skipUnless(shutil.which("abidiff") and shutil.which("cc"), "no abidiff (Debian package abigail-tools)")
class Abi(unittest.TestCase):
    def verdict(self, old="", new=""):
        """Returns the verdict on taut.h with `new` in place of `old`."""
        self.assertIn(old, HEADER)
        with tempfile.TemporaryDirectory() as folder:
            return compared("taut", described("taut", HEADER.replace(old, new, 1), Path(folder)))[0]

    def test_the_record_is_that_of_the_header(self):
        self.assertEqual(self.verdict(), "same")

    def test_programs_notice(self):
        for old, new in {
            "TAUT_API int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy);": "",
            "TAUT_Comm_set_policy(MPI_Comm comm, const char* policy)": "TAUT_Comm_set_policy(MPI_Comm comm, char policy)",
            "TAUT_API MPI_Op TAUT_Avg(void)": "TAUT_API int TAUT_Avg(void)",
            "TAUT_ERR_PEER = 41": "TAUT_ERR_PEER = 42",
            "TAUT_BFLOAT16 = 4": "TAUT_BFLOAT16 = 40",
            "uint64_t calls; ": "uint64_t first; uint64_t calls; ",
            "} TAUT_Stats;": "uint64_t last; } TAUT_Stats;",
            "uint64_t sent_bytes; ": "uint32_t sent_bytes; ",
        }.items():
            with self.subTest(old):
                self.assertEqual(self.verdict(old, new), "incompatible")

    def test_a_new_function_is_compatible(self):
        mean = "TAUT_API MPI_Op TAUT_Avg(void);"
        self.assertEqual(self.verdict(mean, "TAUT_API int TAUT_New(void);\n" + mean), "compatible")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Transforms a small array by mpi4py-fft and by dtFFT under rules, on two ranks of Debian's Open MPI.

fft_test.py TAUT_FOLDER    the build folder with bin/taut and lib/taut/libtaut_preload.so

Skipped (exit status 77) where `tools/setup.sh fft` has not installed the libraries.
"""

import os
import shutil
import sys
import unittest
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench" / "fft"))
from libraries import Case  # noqa: E402

PYTHON = ROOT / ".venv-fft" / "bin" / "python"
OPTIONS = ("--shape", "64x64x64", "--repeats", "2")


class Transforms(unittest.TestCase):
    def run_with(self, library, policy, data="turbulence"):
        case = Case(sys.argv[1], PYTHON, options=(*OPTIONS, "--data", data))
        return case.run(library, "taut", policy)

    def test_lossless_gives_the_same_bits(self):
        for library in ("mpi4py-fft", "dtfft"):
            with self.subTest(library):
                figures = self.run_with(library, "lossless when=always")
                self.assertTrue(figures["same_bits"])
                self.assertGreater(figures["compressed_calls"], 0)

    def test_a_bound_changes_the_transform_by_about_as_much(self):
        for library in ("mpi4py-fft", "dtfft"):
            for data in ("turbulence", "noise"):
                with self.subTest(library, data=data):
                    figures = self.run_with(library, "abs=1e-4 when=always", data)
                    self.assertGreater(figures["error"], 1e-5)
                    self.assertLess(figures["error"], 2e-4)
                    self.assertGreater(figures["compressed_calls"], 0)

    def test_noise_without_loss_goes_to_plain_mpi(self):
        figures = self.run_with("mpi4py-fft", "lossless", "noise")
        self.assertTrue(figures["same_bits"])
        self.assertEqual(figures["compressed_calls"], 0)

    def test_a_bound_spares_doubles_that_travel_as_floats(self):
        # dtFFT's other backends give halves of doubles to MPI as MPI_REAL: a bound would destroy them.
        with patch.dict(os.environ, {"DTFFT_BACKEND": "mpi_a2a"}):
            figures = self.run_with("dtfft", "abs=1e-4 when=always")
        self.assertTrue(figures["same_bits"])


if __name__ == "__main__":
    if not PYTHON.exists() or not shutil.which("mpiexec.openmpi"):
        print("skipped: .venv-fft or Open MPI is missing (tools/setup.sh fft)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

"""Tests the model of the kernels' waits on the table in the documentation and on kernels with a known time."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/gpu"))
import latency_model as model


class LatencyModelTest(unittest.TestCase):
    def test_the_documentation_has_its_table(self):
        self.assertIn(model.table(), (Path(__file__).parents[2] / "docs/gpu_kernels.md").read_text())

    def test_a_kernel_that_only_moves_values_runs_at_the_speed_of_memory(self):
        copy = model.Kernel([("move", model.CHUNK)], 1)
        self.assertAlmostEqual(model.rate(copy), model.MEMORY / 1e12, delta=0.1)

    def test_a_kernel_that_only_computes_runs_at_the_issue_rate(self):
        kernel = model.Kernel([("issue", 4000)], 1)
        cycles = model.Multiprocessor(kernel).cycles(40)
        self.assertAlmostEqual(cycles, 40 * 4000 / 4, delta=model.STAGGER)

    def test_each_launch_takes_its_time(self):
        one, two = (model.call(model.Kernel([("issue", 4000)], launches)) for launches in (1, 2))
        self.assertAlmostEqual(two - one, model.LAUNCH / model.GHZ / 1e3)


if __name__ == "__main__":
    unittest.main()

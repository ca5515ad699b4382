"""Tests the model of messages between GPUs, and that docs/gpu.md shows what it prints."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/gpu"))
import break_even


class BreakEven(unittest.TestCase):
    def test_the_guide_has_the_table_of_the_default_speeds(self):
        self.assertIn(break_even.table(break_even.arguments([])), (Path(__file__).parents[2] / "docs/gpu.md").read_text())

    def test_a_long_message_takes_the_same_time_at_the_break_even(self):
        speeds = break_even.arguments(["--latency", "0"])
        for ratio in break_even.RATIOS:
            self.assertAlmostEqual(break_even.speedup(ratio, break_even.break_even(ratio, speeds), speeds), 1)

    def test_on_a_slow_link_the_gain_is_the_ratio(self):
        self.assertAlmostEqual(break_even.speedup(8, 1e-6, break_even.arguments([])), 8, places=3)

    def test_short_messages_do_not_gain(self):
        self.assertLess(break_even.speedup(8, 12.5, break_even.arguments([]), size=64e-6), 1)


if __name__ == "__main__":
    unittest.main()

"""The simulated nodes of GPUs: closed forms of NCCL, and that docs/gpu.md shows what was simulated."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import report
import suite  # noqa: F401  finds the folders

import gpus

ROOT = report.ROOT
ROWS = report.rows(ROOT / "bench/results/simulation/gpus.json")


class Gpus(unittest.TestCase):
    def test_the_guide_has_the_table(self):
        self.assertIn(gpus.table(ROWS), (ROOT / "docs/gpu.md").read_text())

    def test_a_ring_crosses_a_node_once_and_rails_send_half_between_two(self):
        many, two = (gpus.Nodes(nodes, 8, 8, 100, 1e6).nccl(1 << 40) for nodes in (64, 2))
        self.assertAlmostEqual(many["ring"] / (2 * 511 / 512 * (1 << 40) / 100e9), 1, places=4)
        self.assertAlmostEqual(two["ring"] / two["rails"], 15 / 8, places=4)
        self.assertAlmostEqual(two["tree"] / two["rails"], 1, places=4)

    def test_a_fast_bus_alone_does_not_speed_up_a_link(self):
        slow, fast = (gpus.Nodes(4, 4, 1, 100, bus).nccl(1 << 30) for bus in (50, 500))
        self.assertEqual(slow["rails"], fast["rails"])
        slow, fast = (gpus.Nodes(4, 4, 1, 100, bus).nccl(1 << 30) for bus in (5, 500))
        self.assertGreater(slow["rails"], fast["rails"])

    def test_each_scenario_has_the_card_and_the_ratio(self):
        for _, cases in gpus.cases():
            for nodes, size, ratio in cases:
                for line in gpus.lines_of(nodes, size, ratio).values():
                    self.assertIn(f" card=H100 bits={32 / ratio:g} ", line)
                    self.assertIn(f" ranks={nodes.ranks()} ", line)

    def test_by_nodes_gains_wherever_the_nics_are_the_limit(self):
        for row in ROWS:
            for one in row["cases"] if "collective" in row else ():
                if one["nics"] * one["gbit"] <= 8 * 100:
                    self.assertGreater(one["by_nodes_over_nccl"], 1.3, (row["what"], one))

    def test_what_was_aimed_at_over_the_plain_ring(self):
        of = {(row["what"], one["nics"], one["gbit"], one["bytes"], one["ratio"]): one["by_nodes_over_ring"] for row in ROWS if "collective" in row for one in row["cases"]}
        self.assertGreaterEqual(of["GPU-LCC F 2", 1, 100, 646_000_000, 64], 20)
        self.assertGreaterEqual(of["GPU-LCC F 2", 1, 100, 646_000_000, 8], 6)
        for nodes in (2, 8):
            self.assertGreaterEqual(of[f"{nodes} nodes of 8 GPUs", 8, 92, 1 << 30, 4], 2)
            self.assertGreaterEqual(of[f"{nodes} nodes of 8 GPUs", 8, 92, 64 << 20, 4], 1.7)


if __name__ == "__main__":
    unittest.main()

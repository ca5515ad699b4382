"""Tests examples/wave3d/scaling.py: which runs it makes, and what it makes of their reports."""

import importlib.util
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

spec = importlib.util.spec_from_file_location("scaling", Path(__file__).parents[2] / "examples/wave3d/scaling.py")
scaling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scaling)


def report(cells, *step_ms):
    names = ["plain", "abs:5e-5"]
    rows = [
        {"name": name, "step_ms": ms, "halo_ms": 1.5, "halo_without_core_ms": 0.25, "ratio": 2}
        for name, ms in zip(names, step_ms, strict=True)
    ]
    return {"cells": cells, "link": "1gbit links", "steps": 300, "rows": rows}


class ScalingTest(unittest.TestCase):
    def test_weak_scaling_keeps_the_cells_of_a_host_and_strong_scaling_those_of_all(self):
        runs = scaling.runs([1, 2, 4], [64, 64, 32])
        self.assertEqual(runs["weak"], [(hosts, [64, 64, 32]) for hosts in (1, 2, 4)])
        for hosts, cells in runs["strong"]:
            self.assertEqual([n * ranks for n, ranks in zip(cells, scaling.ranks_on(hosts), strict=True)], [64, 128, 64])

    def test_ranks_multiply_to_the_hosts(self):
        self.assertEqual([scaling.ranks_on(hosts) for hosts in (1, 2, 4, 8)], [[1, 1, 1], [1, 1, 2], [1, 2, 2], [1, 2, 4]])
        with self.assertRaises(SystemExit):
            scaling.ranks_on(3)

    def test_a_run_of_both_series_is_made_once(self):
        asked = Namespace(hosts=[1, 2, 4], cells=[8, 8, 8])
        with mock.patch.object(scaling, "report_of", side_effect=lambda hosts, cells, _: (hosts, *cells)) as made:
            every = scaling.reports_of(asked)
        self.assertEqual(made.call_count, 5)
        self.assertEqual(every["weak"][2], every["strong"][2])
        self.assertEqual(every["strong"][0], (1, (1, 8, 16, 16)))

    def test_efficiency_and_speed_up_refer_to_plain_mpi_on_the_fewest_hosts(self):
        reports = [(1, report([128, 64, 64], 8, 8)), (4, report([256, 128, 64], 16, 4))]
        weak, strong = list(scaling.lines_of("weak", reports)), list(scaling.lines_of("strong", reports))
        self.assertIn("| 4 | 256 x 128 x 64 | plain | 16.00 | 0.50 |", weak[2])
        self.assertIn("| abs:5e-5 | 4.00 | 2.00 | 1.50 | 0.25 | 2.00 |", strong[3])
        from_two = list(scaling.lines_of("strong", [(2, report([4, 4, 4], 8, 8)), (4, report([4, 4, 4], 5, 4))]))
        self.assertIn("| 2 | 4 x 4 x 4 | plain | 8.00 | 2.00 |", from_two[0])
        self.assertIn("| plain | 5.00 | 3.20 |", from_two[2])


if __name__ == "__main__":
    unittest.main()

"""The scenarios of the sweep: baselines of each call, and variants whose codecs were measured on the field."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import report
import suite  # noqa: F401  finds the folders

import costs
import sweep

FIELD, BOUND = sweep.CLASSES["ratio8"]


def zfp_row(kind, of_range, ratio):
    return {
        "field": FIELD, "codec": "zfp", "type": "f32", "part": "whole", "dims": False, "threads": 1, "bound_kind": kind,
        "of_range": of_range, "ratio": ratio, "encode_gb_per_s": 0.2, "decode_gb_per_s": 0.3, "decode_add_gb_per_s": 0.3,
        "memcpy_gb_per_s": 10,
    }  # fmt: skip


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        rows = [zfp_row("absolute", BOUND, 4.5), zfp_row("rate", 0, 8)]
        report.write(folder / "zfp.json", {"rows": rows})
        self.without, self.with_zfp = (costs.Costs(costs.ROWS, folder / name) for name in ("absent", "zfp.json"))

    def lines(self, measured, collective="allreduce", ranks=64, threads=1):
        return dict(sweep.lines_of((collective, ranks, 64 * sweep.MB, 100, threads, FIELD, BOUND), measured))

    def test_every_call_has_plain_mpi_in_whole_messages(self):
        self.assertIn(" sum=", self.lines(self.without)["mpi"])
        for collective in ("bcast", "scatter", "allgather"):
            self.assertIn(" whole=1", self.lines(self.without, collective)["mpi"])

    def test_every_call_has_coding_at_every_hop(self):
        for collective in ("allreduce", "reduce_scatter", "bcast", "scatter", "allgather"):
            self.assertIn("algorithm=cpr_p2p", self.lines(self.without, collective)["cpr_p2p"])

    def test_zfp_is_simulated_where_it_was_measured_by_one_thread(self):
        self.assertNotIn("zfp", self.lines(self.without))
        self.assertNotIn("zfp", self.lines(self.with_zfp, threads=16))
        lines = self.lines(self.with_zfp)
        self.assertIn(" bits=7.11111 ", lines["zfp"])
        self.assertIn(" bits=4 bits_a_doubling=0 ", lines["zfp_rate"])

    def test_messages_of_floats_have_the_costs_of_fields_of_floats(self):
        measured = costs.Costs()
        chosen = {row[-2:] for _, rows in sweep.sets(measured, False) for row in rows}
        self.assertEqual({measured.row(*one, "planes")["type"] for one in chosen}, {"f32"})

    def test_taut_has_tried_other_algorithms_where_that_can_be_simulated(self):
        self.assertIn("settled=1", self.lines(self.without)["taut"])
        self.assertNotIn("settled=1", self.lines(self.without, ranks=512)["taut"])
        self.assertNotIn("settled=1", self.lines(self.without)["hzccl"])

    def test_the_memory_of_a_node_bounds_several_threads(self):
        for threads, bounded in ((1, set()), (16, set(sweep.variants_of(("allreduce", 64, 0, 0, 16, FIELD, BOUND), self.without)))):
            lines = self.lines(self.without, threads=threads)
            self.assertEqual({name for name, line in lines.items() if line.endswith(" memory=300")}, bounded)

    def test_halos_of_many_ranks_are_simulated(self):
        self.assertTrue(sweep.is_modelled(512, "alltoall"))
        self.assertFalse(sweep.is_modelled(512, sweep.HALO) or sweep.is_modelled(256, "alltoall"))

    def test_clusters_that_are_too_large_to_simulate_are_forecast(self):
        class Asked:
            def of(self, lines):
                self.lines = list(lines)
                return dict.fromkeys(self.lines, {"plain": 2.0, "flat": 1.0, "by_nodes": 0.0, "first": "ring", "first_plain": 2, "first_100": 110.0, "after_10": 1.0})

        asked = Asked()
        rows = sweep.tuned(asked, self.without, sweep.NODES | {"clusters": ((16, 1), (4, 32), (64, 128))})
        self.assertEqual({row["ranks"]: row["modelled"] for row in rows}, {16: False, 128: False, 8192: True})
        self.assertEqual(sum(len(row["cases"]) for row in rows), len(asked.lines))
        for line in asked.lines:
            self.assertEqual(("modelled=1" in line, "ranks_a_host=" in line), ("ranks=8192 " in line, "ranks=16 " not in line))
        for one in rows[0]["cases"]:
            self.assertEqual((one["gain"], one["first_100"], one["by_nodes"]), (2, 0.55, None))


if __name__ == "__main__":
    unittest.main()

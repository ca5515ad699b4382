"""The pages of the papers: targets that are reached or missed, lost steps, and shares of a call."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/papers"))
import breakdown
import measured
import papers
import targets


def outcome(seconds, **parts):
    nothing = {"encode": 0.0, "combine": 0.0, "decode": 0.0, "copy": 0.0, "sent_bytes": 0.0}
    return nothing | parts | {"seconds": seconds}


def row(**seconds):
    """Returns a row of a call whose coding takes half of each time, and whose transfer a quarter."""
    outcomes = {name: outcome(one, combine=one / 2, sent_bytes=one / 4 * 12.5e9) for name, one in seconds.items()}
    return {
        "collective": "allreduce", "ranks": 64, "bytes": 64_000_000, "gbit": 100, "threads": 1, "field": "nbody_density",
        "bound_of_range": 1e-4, "ratio": 8.55, "gains": {name: seconds["plain"] / one for name, one in seconds.items()},
        "outcomes": outcomes,
    }  # fmt: skip


class Targets(unittest.TestCase):
    def line(self, least=1.8, **seconds):
        report = {"sets": {"allreduce_sizes": [row(plain=10.0, **seconds)]}}
        return targets.line(report, ("call", "allreduce_sizes", {"threads": 1}, "taut", "plain", least))

    def test_reached_over_line_rate(self):
        self.assertEqual(self.line(taut=5.0, mpi=15.0), "| call | 1.8x | reached | 2.00x | 3.00x |  |  |  |")

    def test_reached_over_mpi_only(self):
        self.assertIn("| over MPI | 1.25x | 1.88x |", self.line(taut=8.0, mpi=15.0))

    def test_the_measured_ratio_is_stated(self):
        report = {"sets": {"allreduce_sizes": [row(plain=10.0, taut=5.0) | {"ratio": 86.77}]}}
        near_50 = ("ratio {ratio} for near 50", "allreduce_sizes", {"threads": 1}, "taut", "plain", 1.8)
        self.assertIn("| ratio 86.8 for near 50 |", targets.line(report, near_50))

    def test_missed_with_the_reason(self):
        # Coding takes 4 of 8 seconds: 2.5x without anything else. The link takes 2: 5x.
        head = "| call | 3.5x | missed | 1.25x | 1.25x | 50 %: 2.50x | 25 %: 5.00x |"
        self.assertEqual(self.line(3.5, taut=8.0, mpi=10.0), f"{head} coding 1.4 times as fast |")
        both = "coding 4.0 times as fast and frames 0.50 times as long"
        self.assertIn(both, self.line(10.0, taut=8.0, mpi=10.0))
        self.assertIn("less waiting", self.line(1.5, taut=8.0, mpi=10.0))

    def test_a_compressed_call_is_compared_with_another(self):
        report = {"sets": {"allreduce_sizes": [row(plain=10.0, hzccl=5.0, ccoll=8.0)]}}
        text = targets.line(report, ("frames", "allreduce_sizes", {"threads": 1}, "hzccl", "ccoll", 1.8))
        self.assertIn("| 1.60x |  | 50 %: 3.20x | 25 %: 6.40x | less waiting |", text)

    def test_a_faster_simpler_step_is_listed(self):
        report = {"sets": {"moves": [row(plain=10.0, taut=5.0, once=4.9), row(plain=10.0, taut=5.0, once=4.0)]}}
        text = targets.table_of_losses(report)
        self.assertIn("In 1 of 2 rows", text)
        self.assertIn("| once | 25 % |", text)

    def test_calls_that_were_measured_confirm_the_simulation(self):
        text = targets.confirmation([{"off": 0.05}, {"off": -0.2}])
        self.assertIn("1 of 2 calls within 15 %, the largest difference 20.0 %", text)

    def test_every_target_names_a_set_of_the_sweep(self):
        import suite  # noqa: F401  finds the folders
        import sweep

        rows = {name: rows for name, rows in sweep.sets(sweep.Costs(), False)}
        keys = ("collective", "ranks", "bytes", "gbit", "threads", "field", "bound_of_range")
        report = {"sets": {name: [dict(zip(keys, one)) for one in of_set] for name, of_set in rows.items()}}
        for what, name, chosen, *_ in targets.TARGETS:
            self.assertTrue(targets.rows_of(report, name, chosen), what)


class MeasuredSteps(unittest.TestCase):
    OWN = [90.0, 100.0, 100.0, 100.0, 110.0]

    def verdict(self, *us):
        return measured.verdict(us, self.OWN)

    def test_a_step_beats_the_choice_by_more_than_3_percent_beyond_the_noise(self):
        self.assertEqual(self.verdict(95, 96, 96, 97, 130), "beats it")
        self.assertEqual(self.verdict(97.5, 97.5, 97.5, 97.5, 97.5), "")
        self.assertEqual(self.verdict(80, 90, 90, 101, 101), "in the noise")
        self.assertEqual(self.verdict(120, 120, 120, 120, 120), "")

    def test_the_section_names_steps_by_their_policies_and_counts_those_that_win(self):
        def timed(variant, policy, *us):
            return {"variant": variant, "policy": policy, "us": [1e3 * one for one in us], "median_us": 1e3 * sorted(us)[len(us) // 2]}

        policy = dict(measured.steps_of("bcast"))["segments overlap"]
        rows = [
            timed("plain", "", 900, 900, 900), timed("taut", "abs:1", *self.OWN), timed("taut-raw", "lossless,codec=raw", 1, 1, 1),
            timed("policy-7", f"abs:1,when=always,{policy}", 80, 80, 80),
        ]  # fmt: skip
        job = {"operation": "bcast", "ranks": 4, "link": "1gbit links", "mpi": "MPICH", "data": "waves", "iterations": 5}
        job |= {"machine": {"processor": "P"}, "commit": "c", "date": "2026-01-31", "load": "unknown", "rows": rows}
        text = measured.section_of_steps([[job]], papers.wrapped)
        self.assertIn("1 of 2 steps beat Taut's own choice. 0 more", " ".join(text.split()))
        self.assertIn("| bcast | segments overlap | 80.0 | 1.25 | beats it |", text)
        self.assertIn("| bcast | plain MPI | 900.0 | 0.11 |  |", text)
        self.assertNotIn("raw", text)
        self.assertIn("P, commit c, 2026-01-31, load unknown", text)


class MeasuredLinks(unittest.TestCase):
    def row(self, plain, taut, rate="1gbit", passed=True, field="wave"):
        def around(ms):
            return [0.99 * ms, 1.01 * ms]

        return {
            "operation": "bcast", "mpi": "MPICH", "rate": rate, "field": field, "plain_ms": plain, "taut_ms": taut, "ratio": 8.0,
            "plain_quartiles_ms": around(plain), "taut_quartiles_ms": around(taut), "gain": plain / taut, "compressed": True,
            "gate": {"one_way_mbit": 950, "both_ways_mbit": 900, "passed": passed}, "ideal_ms": 80.0,
        }  # fmt: skip

    def test_wins_and_losses_are_counted_for_each_link(self):
        rows = [self.row(100, 20), self.row(100, 101, field="noise"), self.row(10, 20, "10gbit", False), self.row(10, 5, "10gbit", False)]
        text = measured.table_of_gates(rows)
        self.assertIn("| MPICH | 1gbit | 950 to 950 | 900 to 900 | 2 of 2 | 2 | 1 | 1 | 0 | 0.99 | 5.00 |", text)
        self.assertIn("| 0 of 1 | 2 | 1 | 0 | 1 | 0.50 | 2.00 |", text)

    def test_each_call_has_a_line_with_its_gain_on_every_link(self):
        report = {"size": "16M", "hosts": 2, "iterations": 7, "machine": {"processor": "P"}, "commit": "c", "date": "2026-01-31", "load": 1.0}
        report["rows"] = [self.row(100, 20), self.row(10, 20, "10gbit", passed=False)]
        text = measured.section_of_links({"Fields": report}, "machine", papers.wrapped)
        self.assertIn("**Fields**: 16 MiB, 2 hosts, 7 calls (P, commit c, 2026-01-31, load 1.0).", text)
        self.assertIn("| wave | bcast | 8.0 | 5.00 | 0.50 loss |", text)
        self.assertIn("kept in bench/results/machine", measured.section_of_links({}, "machine", papers.wrapped))


class Claims(unittest.TestCase):
    ROWS = papers.simulated(papers.ROOT / "docs/results/simulation.json")

    def test_each_names_its_paper_its_result_and_its_configuration(self):
        for paper, name, result, where, claim in papers.CLAIMS:
            self.assertIn(paper, ("C-Coll", "MVAPICH2", "hZCCL", "GPU-LCC"))
            self.assertRegex(name, r"^(T [IV]+|F \d+|(theorem|corollary) \d)$")
            self.assertTrue(result and where, name)
            self.assertIn(claim[0], ("sim", "gpus", "page", "none"))
            self.assertTrue(claim[1], name)
        names = [one[:2] for one in papers.CLAIMS]
        self.assertEqual(len(set(names)), len(names))

    def test_each_counterpart_exists(self):
        for paper, name, _, _, claim in papers.CLAIMS:
            if claim[0] == "page":
                self.assertTrue((papers.ROOT / claim[1].partition("#")[0]).exists(), (paper, name))
            if claim[0] == "gpus":
                self.assertRegex(papers.of_gpus(claim[1]), r"\d\.\d+x", (paper, name))
            if claim[0] == "sim":
                some = papers.selected(self.ROWS["sets"][claim[1]], claim[2])
                self.assertTrue(some, (paper, name))

    def test_simulated_rows_have_the_number_of_nodes_of_the_paper(self):
        for paper, name, _, where, claim in papers.CLAIMS:
            found = re.match(r"(?:(\d+) to )?(\d+) nodes", where)
            if found and claim[0] == "sim":
                nodes = {row["ranks"] for row in papers.selected(self.ROWS["sets"][claim[1]], claim[2])}
                wanted = {int(number) for number in found.groups() if number}
                self.assertLessEqual(wanted, nodes, (paper, name))

    def test_a_summary_names_nodes_and_sizes(self):
        self.assertIn("; 64 nodes, 64 MB", papers.summary([row(plain=10.0, taut=5.0)], {}))
        many = [row(plain=10.0, taut=5.0) | {"ranks": ranks} for ranks in (2, 16)]
        self.assertIn("; 2 to 16 nodes, 64 MB", papers.summary(many, {}))
        self.assertNotIn("allreduce", papers.summary(many, {"collectives": ("bcast",)}).split(";")[0])


class Pages(unittest.TestCase):
    def test_shares_of_a_call_add_up(self):
        found = breakdown.shares(outcome(10.0, encode=1.0, combine=2.0, decode=3.0, copy=0.5))
        self.assertEqual([round(share, 9) for share in found.values()], [0.1, 0.2, 0.3, 0.05, 0.35])
        text = breakdown.section({"sets": {"allreduce_sizes": [row(plain=10.0, taut=5.0)]}}, papers.wrapped)
        self.assertIn("| 5000.00: 0/50/0/0/50 |", text)

    def test_claims_compare_with_mpi_where_it_was_simulated(self):
        rows = [row(plain=10.0, taut=5.0, mpi=20.0)]
        self.assertIn("taut over mpi 4.00x", papers.summary(rows, {}))
        self.assertIn("taut over plain 2.00x", papers.summary([row(plain=10.0, taut=5.0)], {}))


if __name__ == "__main__":
    unittest.main()

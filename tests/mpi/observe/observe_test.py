"""Tests reports, traces and the summary of a program under mpiexec against their documentation
(docs/observe.md)."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "python/taut/report"))  # the package itself needs its extension
from _traces import merged

PROGRAM, MPIEXEC = os.environ["OBSERVE_PROGRAM"], os.environ["OBSERVE_MPIEXEC"]
RANKS = 3
PARTS = ("encode", "combine", "decode", "wait", "agree", "plain")


def run(folder, ranks, **options):
    """Runs the program; returns what it prints to stderr."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT")} | options
    result = subprocess.run(
        [MPIEXEC, "-n", str(ranks), PROGRAM], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    if result.returncode != 0:
        raise AssertionError(result.stderr + result.stdout)
    return [line for line in result.stderr.splitlines() if line.startswith("taut")]


class Observed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.lines = run(cls.folder, RANKS, TAUT_REPORT="report.json", TAUT_TRACE="trace-%r.json", TAUT_SUMMARY="1")
        cls.reports = [json.loads((cls.folder / f"report.json.{r}").read_text()) for r in range(RANKS)]
        cls.traces = [json.loads((cls.folder / f"trace-{r}.json").read_text()) for r in range(RANKS)]

    def communicator(self, rank, name):
        (found,) = [c for c in self.reports[rank]["communicators"] if c["name"] == name]
        return found

    def solver(self, rank):
        return self.communicator(rank, 'solver "1"')

    def kind(self, rank, collective, type_name, name='solver "1"'):
        kinds = self.communicator(rank, name)["kinds"]
        kinds = [k for k in kinds if (k["collective"], k["type"]) == (collective, type_name)]
        return max(kinds, key=lambda k: k["least_bytes"])

    # ---- Reports

    def test_a_file_a_rank_and_no_more(self):
        names = {f"report.json.{r}" for r in range(RANKS)} | {f"trace-{r}.json" for r in range(RANKS)}
        self.assertEqual({path.name for path in self.folder.iterdir()}, names)
        for rank, report in enumerate(self.reports):
            self.assertEqual((report["format"], report["version"]), ("taut-report", 2))
            self.assertEqual((report["rank"], report["ranks"]), (rank, RANKS))

    def test_a_compressed_kind(self):
        for rank in range(RANKS):
            kind = self.kind(rank, "allreduce", "f32")
            self.assertEqual((kind["operator"], kind["least_bytes"]), ("sum", 1 << 20))
            self.assertEqual((kind["calls"], kind["compressed_calls"], kind["plain_calls"]), (5, 5, {}))
            self.assertTrue(kind["site"].startswith("smooth_sum+0x"), kind["site"])
            self.assertEqual(kind["message_bytes"], 5 << 20)
            self.assertGreater(kind["ratio"], 4)
            self.assertLess(kind["sent_bytes"] * 4, kind["carried_bytes"])
            decision = kind["decision"]
            self.assertEqual((decision["codec"], decision["algorithm"]), ("planes", "ring"))
            self.assertEqual((decision["arithmetic"], decision["segments"]), ("frames", 4))
            self.assertAlmostEqual(float(decision["bound"].removeprefix("abs:")), 1e-4 / RANKS)
            self.assertGreater(kind["expected_ratio"], 4)

    def test_plain_kinds_say_why(self):
        for rank in range(RANKS):
            noise = self.kind(rank, "bcast", "f64", "choosy")
            self.assertEqual((noise["plain"], noise["plain_calls"]), ("no_gain", {"no_gain": 1}))
            self.assertLess(noise["expected_ratio"], 1.2)
            self.assertIsNone(noise["decision"])
            self.assertEqual(self.kind(rank, "allreduce", "i32")["plain"], "type")
            (small,) = [k for k in self.solver(rank)["kinds"] if k["least_bytes"] == 8]
            self.assertEqual((small["calls"], small["plain_calls"]), (7, {"small": 7}))
            self.assertGreater(small["nanoseconds"]["plain"], 0)  # times are measured because a report is requested

    def test_times_and_counts_add_up(self):
        for report in self.reports:
            for communicator in report["communicators"]:
                for row in [communicator, *communicator["kinds"]]:
                    spent = row["nanoseconds"]
                    self.assertEqual(sum(spent[part] for part in PARTS), spent["call"])
                    self.assertEqual(row["calls"], row["compressed_calls"] + sum(row["plain_calls"].values()))
                for key in ("calls", "sent_bytes", "message_bytes"):
                    self.assertEqual(communicator[key], sum(kind[key] for kind in communicator["kinds"]))

    def test_communicators_that_were_freed(self):
        for report in self.reports:
            freed = [c for c in report["communicators"] if c["freed"]]
            self.assertEqual(len(freed), 64 + 1)
            self.assertEqual([c["communicators"] for c in freed], [1] * 64 + [6])
            self.assertEqual(sum(c["calls"] for c in freed), 70)
            self.assertFalse(self.solver(report["rank"])["freed"])

    # ---- Traces

    def test_events_of_every_verb(self):
        for rank, trace in enumerate(self.traces):
            events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
            self.assertEqual({e["name"] for e in events if e["cat"] == "allreduce f32 sum"} - set(PARTS),
                             {"allreduce f32 sum"})
            self.assertEqual({e["pid"] for e in events}, {rank})
            encodes = [e for e in events if e["name"] == "encode" and e["cat"] == "allreduce f32 sum"]
            self.assertEqual(sorted(e["tid"] for e in encodes), sorted(list(range(4)) * 5))
            self.assertEqual(trace["otherData"]["lost_events"], 0)
            names = {(e["name"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
            self.assertEqual(names["process_name", 0], f"rank {rank}")
            self.assertEqual(names["thread_name", 3], "segment 3")

    def test_messages_are_no_longer_than_their_call(self):  # whoever waits for them, sender or receiver
        for trace in self.traces:
            events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
            waits = [e for e in events if e["name"] == "wait" and e["cat"] == "allreduce f32 sum"]
            bytes_of = {e["args"]["call"]: e["args"]["bytes"] for e in events if e["name"] == e["cat"]}
            self.assertTrue(any(e["args"]["bytes"] > 0 for e in waits))
            for e in waits:
                self.assertLessEqual(e["args"]["bytes"], bytes_of[e["args"]["call"]])

    def test_events_of_a_thread_are_one_after_the_other_within_a_call(self):
        for trace in self.traces:
            threads = {}
            for e in trace["traceEvents"]:
                if e["ph"] == "X" and e["name"] in PARTS:
                    threads.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
            for spans in threads.values():
                spans.sort()
                for (_, end), (begin, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(end, begin + 0.0021)  # three decimals, rounded down

    def test_traces_of_one_machine_merge(self):
        one = merged(self.traces)
        calls = {}
        for e in one["traceEvents"]:
            if e["name"] == "allreduce f32 sum":
                calls.setdefault(e["args"]["call"], []).append((e["ts"], e["ts"] + e["dur"]))
        self.assertEqual(len(calls), 5)
        for spans in calls.values():  # the ranks are in a call at the same time
            self.assertEqual(len(spans), RANKS)
            self.assertLess(max(begin for begin, _ in spans), min(end for _, end in spans))

    # ---- Compressibility

    def test_calls_without_a_policy_are_sampled(self):
        for rank in range(RANKS):
            plain = self.communicator(rank, "plain")
            self.assertEqual((plain["policy"], plain["compressed_calls"], plain["plain_calls"]), ("none", 0, {"off": 7}))
            kind = self.kind(rank, "allreduce", "f32", "plain")
            self.assertGreater(kind["nanoseconds"]["plain"], 0)
            values = kind["compressibility"]
            self.assertIn(values["samples"], (1, 2, 3))  # samples of the 1st, 2nd and 4th of 5 calls, if time allows
            self.assertAlmostEqual(values["least"], -1, places=1)
            self.assertAlmostEqual(values["greatest"], 1, places=1)
            self.assertEqual([b["bound"] for b in values["bounds"]],
                             ["rel:0.01", "rel:0.001", "rel:1e-04", "rel:1e-05", "rel:1e-06", "lossless"])
            ratios = [b["value_bytes"] / b["frame_bytes"] for b in values["bounds"]]
            self.assertGreater(ratios[0], 8)
            self.assertLess(ratios[-1], ratios[0])
            self.assertTrue(all(b["nanoseconds"] > 0 for b in values["bounds"]))
            if told := kind["history_would_give"]:  # if time allowed to sample the first of the five equal calls
                self.assertEqual((told["samples"], told["period"]), (1, 1))
                self.assertGreater(told["bounds"][2]["alone_bytes"], 5 * told["bounds"][2]["referring_bytes"])
                self.assertEqual([b["bound"] for b in told["bounds"]], [b["bound"] for b in values["bounds"]][:-1])  # a sum

    def test_what_is_sampled(self):
        plain = self.communicator(0, "plain")["kinds"]
        (small,) = [k for k in plain if k["least_bytes"] == 8]
        self.assertIsNone(small["compressibility"])
        (ints,) = [k for k in plain if k["type"] == "i32"]
        self.assertEqual([b["bound"] for b in ints["compressibility"]["bounds"]], ["lossless"])
        (received,) = [k for k in self.communicator(1, "plain")["kinds"] if k["type"] == "i32"]
        self.assertIsNone(received["compressibility"])  # not at the root

    # ---- Other output

    def test_the_summary_is_one_table(self):
        table = [line for line in self.lines if not line.endswith(" times smaller")]  # what a history would give
        self.assertTrue(table[0].startswith(f"taut: rank 0 of {RANKS} "), self.lines)
        self.assertEqual(sum(line.startswith("taut: allreduce f32 sum 1MiB") for line in table), 1)
        self.assertTrue(table[-1].startswith("taut: all "))
        self.assertLessEqual(max(map(len, table)), 80)

    def test_nothing_is_written_unasked(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(folder, 2), [])
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_one_rank_has_the_name_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(folder, 1, TAUT_REPORT="r.json", TAUT_TRACE="t.json"), [])
            report = json.loads(Path(folder, "r.json").read_text())
            self.assertEqual({c["compressed_calls"] for c in report["communicators"]}, {0})
            self.assertEqual(json.loads(Path(folder, "t.json").read_text())["otherData"]["rank"], 0)

    def test_the_report_of_a_killed_job_remains(self):
        self.assertTrue(all(report["finished"] for report in self.reports))
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"TAUT_REPORT": "r.json"}
            subprocess.run([MPIEXEC, "-n", "2", PROGRAM, "die"], cwd=folder, env=environment, capture_output=True, timeout=120)
            for rank in range(2):
                report = json.loads(Path(folder, f"r.json.{rank}").read_text())
                self.assertFalse(report["finished"])
                (solver,) = [c for c in report["communicators"] if c["name"] == 'solver "1"']
                self.assertGreater(solver["calls"], 0)
                self.assertGreaterEqual(report["seconds"], 1)

    def test_waiting_for_a_processor_is_counted(self):
        if not Path("/proc/self/schedstat").exists():
            self.skipTest("Linux counts no waits here")
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})  # two ranks that poll, on one core
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        with tempfile.TemporaryDirectory() as folder:
            run(folder, 2, TAUT_REPORT="r.json")
            for rank in range(2):
                report = json.loads(Path(folder, f"r.json.{rank}").read_text())
                self.assertGreater(report["processor_wait"], 0.05 * report["seconds"])

    def test_a_file_that_cannot_be_written_fails_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = run(folder, 1, TAUT_REPORT="no/such/folder")
            named = Path(folder).resolve() / "no/such/folder"  # as of MPI_Init
            self.assertEqual(lines, [f"taut: cannot write {named}: No such file or directory"])

    def test_a_launcher_of_another_mpi_is_told_of(self):
        """Its variables name 4 ranks, of which the program sees one; this launcher sets its own kind anew."""
        sizes = dict.fromkeys(("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"), "4")
        for rank, told in (("0", 2), ("1", 0)):
            ranks = dict.fromkeys(("OMPI_COMM_WORLD_RANK", "PMI_RANK"), rank)
            with tempfile.TemporaryDirectory() as folder:
                lines = run(folder, 1, TAUT_SUMMARY="1", **sizes, **ranks)
            found = [line for line in lines if "these are 4 programs of 1 rank" in line]
            self.assertEqual(len(found), told, lines)  # in the first call, and below the summary


if __name__ == "__main__":
    unittest.main()

"""The record of the machine that reports of benchmarks have, and the calls that a simulation is compared with."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench/net"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench/simulation"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import machine
import net
import validate


class Machine(unittest.TestCase):
    def run_with(self, *command):
        """Returns the exit status of a command under machine.py, and the report; None if there is none."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            report.write_text('{"stale": 1}')
            done = subprocess.run([sys.executable, machine.__file__, report, *command, report])
            return done.returncode, json.loads(report.read_text()) if report.exists() else None

    def test_the_record_stands_before_the_fields_of_the_report(self):
        status, report = self.run_with("sh", "-c", """echo '{"load": 99, "rows": [1]}' >"$0"; exit 1""")
        self.assertEqual(status, 1)
        self.assertEqual(list(report), [*machine.record(), "rows"])
        self.assertNotEqual(report["load"], 99)  # that after the command

    def test_a_command_without_a_report_leaves_none(self):
        self.assertEqual(self.run_with("false"), (1, None))

    def test_without_a_report_the_record_stands_before_what_the_command_prints(self):
        done = subprocess.run([sys.executable, machine.__file__, "-", "sh", "-c", "echo figures; exit 3"], capture_output=True, text=True)
        first, second = done.stdout.splitlines()
        self.assertEqual((done.returncode, second), (3, "figures"))
        self.assertTrue(first.startswith("# ") and machine.processor() in first and machine.commit() in first, first)

    def test_a_signal_is_an_exit_status(self):
        self.assertEqual(self.run_with("sh", "-c", "kill -TERM $$"), (143, None))


class Net(unittest.TestCase):
    def test_the_last_try_of_the_gate_counts(self):
        said = "gate: one way 5, both ways 4 of 1000 Mbit/s: not reached\ngate: one way 950, both ways 930 of 1000 Mbit/s: passed\n"
        self.assertEqual(net.GATE.findall(said)[-1], ("950", "930", "passed"))
        self.assertEqual(net.GATE.findall(said)[0][2], "not")

    def test_a_row_has_quartiles_and_the_gate(self):
        def timed(variant, *us):
            return {"operation": "bcast", "variant": variant, "mpi": "M", "load": 1.0, "bytes": 1 << 24, "us": us, "ratio": 8.0,
                    "gate": {"passed": True}, "median_us": sorted(us)[1], "ideal_bytes": 125e6, "compressed": True,
                    "within_bound": True, "identical": True}  # fmt: skip

        results = [timed("plain", 1.2e6, 1.1e6, 1.0e6), timed("taut", 2e5, 1e5, 3e5), timed("taut-raw", 1e6, 1e6, 1e6)]
        every = [row | {"operation": operation} for operation in net.OPERATIONS.split(",") for row in results]
        row = next(iter(net.rows_of(every, "1gbit", "wave")))
        self.assertEqual((row["plain_quartiles_ms"], row["taut_quartiles_ms"]), ([1000, 1200], [100, 300]))
        self.assertTrue(row["reaches_link"])  # 1.0 s of the link in 1.1 s


class Validation(unittest.TestCase):
    def test_the_burst_is_that_of_the_report_or_of_the_rig(self):
        self.assertEqual(validate.burst_of({"burst_bytes": 131072}, 1), 131072)
        self.assertEqual([validate.burst_of({}, gbit) for gbit in (0.1, 1, 10)], [32768, 32768, 310000])

    def test_large_compressed_calls_of_taut_count(self):
        def row(**more):
            return {"operation": "bcast", "variant": "taut", "bytes": 8 << 20, "ratio": 8.0, "median_us": 5e3, "compressed": True} | more

        results = [row(), row(bytes=4 << 20), row(variant="plain"), row(compressed=False)]
        calls = validate.calls_of({"ranks": 2, "results": results}, 1)
        self.assertEqual([(call["name"], call["seconds"], call["field"]) for call in calls], [("bcast, 8388608 B", 5e-3, None)])

    def test_calls_of_bench_net_count_where_the_gate_passed_at_that_rate(self):
        def row(passed=True, rate="1gbit"):
            return {"operation": "bcast", "rate": rate, "gate": {"passed": passed}, "field": "wave", "mpi": "M", "bytes": 1 << 24,
                    "taut_ms": 7.0, "ratio": 8.0, "compressed": True}  # fmt: skip

        calls = validate.calls_of({"hosts": 2, "rows": [row(), row(False), row(rate="2.5gbit")]}, 1)
        self.assertEqual([call["name"] for call in calls], ["bcast, 16777216 B, wave, M"])
        self.assertEqual(len(validate.calls_of({"hosts": 2, "rows": [row(rate="2.5gbit")]}, 2.5)), 1)


if __name__ == "__main__":
    unittest.main()

"""Reports of benchmarks: the record of the machine, the suites, and the calls that a simulation is compared with."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import report
import run
import suite

import net
import validate


class Record(unittest.TestCase):
    def run_with(self, *command):
        """Returns the exit status of a command under report.py, and the run; None if there is none."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.json"
            path.write_text('{"stale": 1}')
            done = subprocess.run([sys.executable, report.__file__, path, *command, path])
            return done.returncode, report.only_run(path) if path.exists() else None

    def test_the_record_stands_before_the_fields_of_the_report(self):
        status, made = self.run_with("sh", "-c", """echo '{"load": 99, "ranks": 2, "rows": [{"a": 1}]}' >"$0"; exit 1""")
        self.assertEqual(status, 1)
        self.assertEqual(list(made), [*report.RECORD, "ranks", "rows"])
        self.assertEqual(made["rows"], [{"a": 1}])
        self.assertEqual(list(made["machine"]), list(report.OF_MACHINE))
        self.assertNotEqual(made["load"], 99)  # that after the command
        self.assertIn("exit 1", made["command"])

    def test_a_row_a_line_makes_a_report(self):
        _, made = self.run_with("sh", "-c", "printf '%s\\n%s\\n' '{\"a\": 1}' '{\"a\": 2}' >$0")
        self.assertEqual(made["rows"], [{"a": 1}, {"a": 2}])
        _, made = self.run_with("sh", "-c", "echo '{\"a\": 1}' >$0")
        self.assertEqual(made["rows"], [{"a": 1}])

    def test_a_command_names_files_of_the_repository_by_their_place_in_it(self):
        self.assertEqual(report.record(f"run {report.ROOT}/bench/run.py /usr/bin/env")["command"], "run bench/run.py /usr/bin/env")

    def test_a_command_without_a_report_leaves_none(self):
        self.assertEqual(self.run_with("false"), (1, None))

    def test_without_a_report_the_record_stands_before_what_the_command_prints(self):
        command = [sys.executable, report.__file__, "-", "sh", "-c", "echo figures; exit 3"]
        done = subprocess.run(command, capture_output=True, text=True)
        first, second = done.stdout.splitlines()
        self.assertEqual((done.returncode, second), (3, "figures"))
        self.assertTrue(first.startswith("# ") and report.processor() in first and report.commit() in first, first)

    def test_a_signal_is_an_exit_status(self):
        self.assertEqual(self.run_with("sh", "-c", "kill -TERM $$"), (143, None))


class Suites(unittest.TestCase):
    """Runs of a suite whose program is a shell."""

    def run_suite(self, *words, program="echo '{\"a\": 1.5, \"within_bound\": true}'", finish=lambda run, options: 0, **environment):
        """Returns the exit status, what was printed, and the run that was written, if there is one."""

        def rows(options):
            self.options = options
            options.settings |= {"ranks": 2}
            return suite.lines_of(["sh", "-c", program, *options.rest])

        made = suite.Suite(
            about="", rows=rows, columns={"a": "{a:.1f}", "b": "{b:.1f}"}, needs="", builds={}, finish=finish,
            options={"link": ("1gbit", "rate"), "rounds": (9, "rounds")}, quick={"rounds": 1},
        )  # fmt: skip
        said = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(run.importlib, "import_module", lambda name: mock.Mock(SUITE=made)),
            mock.patch.dict(os.environ, environment),
            contextlib.redirect_stdout(said),
        ):
            status = run.main(["codec", "--out", folder, *words])
            path = Path(folder) / "codec.json"
            return status, said.getvalue(), report.only_run(path) if path.exists() else None

    def test_rows_become_a_table_and_a_report(self):
        status, said, made = self.run_suite("-x", "3")
        self.assertEqual(status, 0)
        self.assertIn("| a | b |\n|---|---|\n| 1.5 | - |", said)
        self.assertEqual(list(made), [*report.RECORD, "ranks", "rows"])
        self.assertEqual(made["command"], "bench/run.py codec --link=1gbit --rounds=9 -x 3")

    def test_an_option_comes_from_the_command_line_the_environment_the_trial_or_the_suite(self):
        asked = [("--rounds=4",), ("--quick", "--rounds=4"), ("--quick",), ()]
        self.assertEqual([self.run_suite(*words) and self.options.rounds for words in asked], [4, 4, 1, 9])
        self.run_suite("--quick", ROUNDS="7", LINK="")
        self.assertEqual((self.options.rounds, self.options.link), (7, ""))

    def test_a_violated_bound_or_no_row_is_a_failure(self):
        status, said, made = self.run_suite(program="echo '{\"a\": 1, \"within_bound\": false}'; exit 1")
        self.assertEqual((status, len(made["rows"])), (1, 1))
        self.assertIn("not within_bound!", said)
        self.assertEqual(self.run_suite(program="echo no row")[::2], (1, None))

    def test_a_program_that_fails_ends_the_run_and_its_rows_are_kept(self):
        with mock.patch.object(report, "write") as written, self.assertRaisesRegex(SystemExit, "sh: exit status 2"):
            self.run_suite(program="echo '{\"a\": 1}'; exit 2")
        self.assertEqual(written.call_args.args[1]["rows"], [{"a": 1}])

    def test_a_suite_judges_its_run(self):
        self.assertEqual(self.run_suite(finish=lambda made, options: 4 if made["rows"] else 0)[0], 4)

    def test_every_suite_is_found_and_describes_itself(self):
        for name, module in run.SUITES.items():
            if name not in ("cycles", "overhead"):  # of tests/mpi, checked there
                self.assertTrue(__import__(module).SUITE.columns, name)

    def test_what_a_suite_needs_is_installed_and_built_unless_builds_are_named(self):
        made = suite.Suite(
            about="", rows=None, columns={}, needs="bench link", builds={"one": "a_target -DX=ON", "two": "all"},
            options={"link": ("1gbit", "rate")},
        )  # fmt: skip
        with mock.patch.object(run.subprocess, "run") as called:
            folders = run.prepare(made, run.parse("x", made, []))
            self.assertEqual(folders, [report.ROOT / "build/one", report.ROOT / "build/two"])
            install, one, two = called.call_args_list
            self.assertEqual(run.prepare(made, run.parse("x", made, ["--build", "/tmp/here"])), [Path("/tmp/here")])
            self.assertEqual(called.call_count, 3)
        self.assertEqual((install.args[0][1:], install.kwargs["env"]["LINK"]), (["bench", "link"], "1gbit"))
        self.assertEqual(one.args[0], ["bash", "-c", "tools/build.sh release -DX=ON"])
        self.assertEqual([one.kwargs["env"][name] for name in ("NAME", "TARGET")], ["one", "a_target"])
        self.assertEqual(two.kwargs["env"]["NAME"], "two")

    def test_a_link_is_a_rate(self):
        self.assertEqual([suite.mbit_of(link) for link in ("", "none", "2.5gbit", "100mbit")], [0, 0, 2500, 100])
        with self.assertRaisesRegex(SystemExit, "'fast'"):
            suite.mbit_of("fast")


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
        calls = validate.calls_of({"ranks": 2, "rows": results}, 1)
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

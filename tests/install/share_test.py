"""Tests what an installation has in share: share_test.py PREFIX."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PREFIX = Path(sys.argv.pop(1)).resolve()
TCL = """
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name value} { puts "$name=$value" }
proc append-path {name value} { puts "$name=$value" }
"""


class Share(unittest.TestCase):
    def one(self, pattern):
        (found,) = (PREFIX / "share").glob(pattern)
        return found

    def check(self, settings):
        """Checks the variables that a module sets: the paths are those of the installation."""
        self.assertEqual([name for name, _ in settings], ["PATH", "MANPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "LD_LIBRARY_PATH", "MANPATH"])
        folders = [Path(value) for _, value in settings]
        for folder, content in zip(folders, ("taut", "man3/taut.h.3", "taut.pc", "include/taut/taut.h", "libtaut.so")):
            self.assertTrue((folder / content).exists(), folder / content)
        self.assertEqual(settings[-1], ("MANPATH", ""))  # the system's pages

    def test_module_of_tcl(self):
        if not shutil.which("tclsh"):
            self.skipTest("tclsh is not installed")
        file = self.one("modulefiles/taut/*")
        self.assertTrue(file.read_text().startswith("#%Module"))
        said = subprocess.run(["tclsh"], input=f"{TCL}source {{{file}}}\n", capture_output=True, text=True)
        self.assertEqual(said.stderr, "")
        self.check([tuple(line.split("=")) for line in said.stdout.splitlines()])

    def test_module_of_lua(self):
        text = self.one("lmod/taut/*.lua").read_text()
        self.assertIn(f'local prefix = "{PREFIX}"\n', text)
        paths = re.findall(r'^(?:pre|ap)pend_path\("(\w+)", (prefix)?(?: \.\. )?(?:"(.*?)")?\)', text, re.M)
        self.check([(name, (str(PREFIX) if prefix else "") + folder) for name, prefix, folder in paths])

    def test_manual_and_completion(self):
        for name in ("man/man1/taut.1", "man/man3/TAUT_Allreduce.3", "man/man3/TAUT_Nccl_Send.3", "bash-completion/completions/taut"):
            self.assertTrue(self.one(name).read_text())

    def taut(self, folder, *arguments):
        """Runs the installed program, with a folder in the way that has the name of the Python package; returns its output."""
        (folder / "taut").mkdir(exist_ok=True)
        variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)}
        done = subprocess.run([PREFIX / "bin/taut", *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_report_and_trace_by_python3_alone(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for rank in range(2):
                facts = {"rank": rank, "origin_unix_ns": 1000 * rank, "lost_events": 0}
                call = {"name": "allreduce f32 sum", "cat": "allreduce f32 sum", "args": {"call": 1, "bytes": 8}}
                events = [call | {"ph": "X", "ts": 1.0, "dur": 2.0, "pid": rank, "tid": 0}]
                (folder / f"trace.json.{rank}").write_text(json.dumps({"otherData": facts, "traceEvents": events}))
                report = {"format": "taut-report", "version": 2, "rank": rank, "ranks": 2, "communicators": []}
                (folder / f"report.json.{rank}").write_text(json.dumps(report))
            code, said = self.taut(folder, "trace", "trace.json", "-o", "all.json")
            self.assertEqual(code, 0, said)
            self.assertEqual([event["ts"] for event in json.loads((folder / "all.json").read_text())["traceEvents"]], [1.0, 2.0])
            code, said = self.taut(folder, "report", "report.json", "-o", "page.html", "--trace", "all.json")
            self.assertEqual(code, 0, said)
            self.assertIn("2 of 2 ranks", said)
            self.assertIn("class=\"timeline\"", (folder / "page.html").read_text())
            for wrong, text in ((("trace", "absent.json", "-o", "b"), "taut trace: absent.json"), (("report",), "required: REPORT")):
                code, said = self.taut(folder, *wrong)
                self.assertNotEqual(code, 0)
                self.assertIn(text, said)
        self.assertEqual(list((PREFIX / "share/taut").rglob("*.pyc")), [])


if __name__ == "__main__":
    unittest.main()

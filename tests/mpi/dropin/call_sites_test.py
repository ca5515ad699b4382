#!/usr/bin/env python3
"""Reports under the drop-in: they name the places of the program's calls in C, Fortran and Python, by which rules
choose calls; they have the calls that are left to MPI, one run's identity, and names that no other job has.

call_sites_test.py TAUT LAYERS MPICC MPIEXEC PYTHON    TAUT: the program; LAYERS: the folder of libtaut_preload.so;
                                                       PYTHON: one with mpi4py, or of any kind
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from matrix import OF_OPENMPI

HERE = Path(__file__).resolve().parent
TAUT, LAYERS, MPICC, MPIEXEC, PYTHON = sys.argv[1:6]
SOURCE = HERE / "call_sites.py"
ALWAYS = "rel=1e-3 when=always"


def line_of(comment):
    """Returns the number of the line of call_sites.py that ends with the comment."""
    return next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith("# line of " + comment))


class CallSites(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def compiled(self, source, *compiler):
        program = self.folder / source.replace(".", "_")
        subprocess.run([*compiler, "-rdynamic", "-w", "-o", program, HERE / source, "-lm"], check=True)
        return str(program)

    def taut(self, *arguments, code=0):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_")} | OF_OPENMPI
        environment["TAUT_PRELOAD"] = f"{LAYERS}/libtaut_preload.so"
        done = subprocess.run([TAUT, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_reporting(self, report, *program, options=(), mpiexec=MPIEXEC):
        """Returns {call site without its offset: (calls, compressed calls)} of rank 0; runs on 2 ranks."""
        self.taut("run", "--report", report, *options, "--", mpiexec, "-n", "2", *program)
        return self.sites(f"{report}.0")

    def sites(self, file):
        rows = {}
        for communicator in json.loads((self.folder / file).read_text())["communicators"]:
            for kind in communicator["kinds"]:
                name = kind["site"].partition("+")[0]
                rows[name] = (kind["calls"], kind["compressed_calls"])
        return rows

    def test_c(self):
        program = self.compiled("call_sites.c", MPICC, "-O2")
        sites = self.run_reporting("r.json", program)
        lasting = sites.pop("lasting", (3, 0))  # MPI before 4 has no persistent collectives
        self.assertEqual(lasting, (3, 0))
        self.assertEqual(sites, {"solve": (3, 0), "statistics": (3, 0), "overlapped": (3, 0), "pass_on": (3, 0)})
        printed = self.taut("advise", "r.json", "--link", "1gbit")
        for setting in ("TAUT_MESSAGES=1", "TAUT_NONBLOCKING=1"):
            self.assertIn(f"export {setting}\n", printed)
        self.assertNotIn("the run would take", printed)  # some calls are not timed
        self.assertNotIn("% of the run's", printed)

        rules = f"Allreduce callsite=solve : {ALWAYS} ; Allreduce callsite=overlapped : {ALWAYS} ; * : off"
        sites = self.run_reporting("with.json", program, options=["--rules", rules, "--nonblocking"])
        self.assertEqual((sites["solve"], sites["statistics"], sites["overlapped"]), ((3, 3), (3, 0), (3, 3)))
        self.assertIn("is the report of a run whose calls were compressed", self.taut("advise", "with.json", code=1))

    def test_python(self):
        if subprocess.run([PYTHON, "-c", "import numpy, mpi4py"], capture_output=True, check=False).returncode:
            self.skipTest(f"{PYTHON} has no mpi4py")
        sites = self.run_reporting("r.json", PYTHON, str(SOURCE))
        calls = {"solve": 3, "statistics": 3, "the nonblocking call": 3, "the pickles": 1, "the pickled message": 1}
        self.assertEqual(sites, {f"call_sites.py:{line_of(text)}": (n, 0) for text, n in calls.items()})
        self.assertIn("Use\nmpi4py's upper-case calls", self.taut("advise", "r.json"))
        rules = f"Allreduce callsite=call_sites.py:{line_of('solve')} : {ALWAYS} ; Gather callsite=main : lossless ; * : off"
        sites = self.run_reporting("with.json", PYTHON, str(SOURCE), options=["--rules", rules])
        self.assertEqual(sites[f"call_sites.py:{line_of('solve')}"], (3, 3))
        self.assertEqual(sites[f"call_sites.py:{line_of('statistics')}"], (3, 0))

    def check_fortran(self, kind):
        compiler, mpiexec = f"mpif90.{kind}", f"mpiexec.{kind}"
        if not shutil.which(compiler) or not shutil.which(mpiexec):
            self.skipTest(f"no {compiler}")
        program = self.compiled("call_sites.f90", compiler, "-O1")
        rules = f"Allreduce callsite=solve_ : {ALWAYS} ; * : off"
        sites = self.run_reporting("r.json", program, options=["--rules", rules], mpiexec=mpiexec)
        self.assertEqual(sites, {"solve_": (3, 3), "statistics_": (3, 0)})

    def test_fortran_with_mpich(self):
        self.check_fortran("mpich")

    def test_fortran_with_open_mpi(self):
        self.check_fortran("openmpi")

    def test_files_of_another_run_are_refused(self):
        program = self.compiled("call_sites.c", MPICC, "-O2")
        self.run_reporting("old.json", program)
        self.run_reporting("r.json", program)
        (self.folder / "old.json.1").rename(self.folder / "r.json.1")
        self.assertRegex(self.taut("advise", "r.json", code=1), r"r.json.1: is not of the same run as r.json.0; remove")

    def test_files_stay_where_the_program_began(self):
        program = self.compiled("elsewhere.c", MPICC)
        self.taut("run", "--report", "r.json", "--trace", "t.json", "--", MPIEXEC, "-n", "2", program)
        self.assertEqual({p.name for p in self.folder.glob("?.json.*")}, {f"{x}.json.{rank}" for x in "rt" for rank in range(2)})

    def test_spawned_programs_have_files_of_their_own(self):
        program = self.compiled("elsewhere.c", MPICC)
        self.taut("run", "--report", "r.json", "--", MPIEXEC, "-n", "2", program, "spawn")
        names = sorted(p.name for p in self.folder.glob("r.json.*"))
        self.assertEqual(names[:2], ["r.json.0", "r.json.1"])
        self.assertEqual([re.sub("[0-9a-f]{16}", "RUN", name) for name in names[2:]], ["r.json.spawned-RUN.0", "r.json.spawned-RUN.1"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Tests `taut run` with fake launchers, and the environment of these and their ranks; tests `taut doctor`."""

import ctypes
import os
import re
import shutil
import stat
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from program import ProgramTest

RULES = "Allreduce f32 >=1MiB : abs=1e-4 ; * : off"

# A fake launcher: prints its version, or its arguments and its environment.
FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "{version}"; exit 0; fi
echo "launcher preloads [$LD_PRELOAD] rules [$TAUT_RULES] prepends [$OMPI_LD_PRELOAD_PREPEND]"
for word in "$@"; do echo "<$word>"; done
exit {status}
"""
VERSIONS = {"hydra": "HYDRA build details:", "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.19",
            "openmpi": "mpiexec (Open MPI) 4.1.4", "prrte": "prterun (PRRTE) 3.0"}


class Run(ProgramTest):
    def setUp(self):
        super().setUp()
        self.library = str(self.folder / "libtaut_preload.so")
        self.file("libtaut_preload.so", b"")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TAUT_") and k != "LD_PRELOAD"}
        clean |= {"TAUT_PRELOAD": self.library, "PATH": f"{self.folder}:{clean['PATH']}"}
        patched = mock.patch.dict(os.environ, clean, clear=True)
        patched.start()
        self.addCleanup(patched.stop)

    def fake(self, name, version="", status=0):
        self.file(name, FAKE.format(version=version, status=status).encode())
        (self.folder / name).chmod(stat.S_IRWXU)

    def words(self, *arguments):
        """Returns the first line that the fake launcher prints, and its arguments."""
        first, *rest = self.succeed("run", *arguments).splitlines()
        return first, [word[1:-1] for word in rest]

    # ---- --check

    def checking(self, over, share=0.25, finished="true", status=0):
        """A fake launcher, which writes the report of a run whose greatest error is `share` of its bound."""
        check = f'"check": {{"calls": 3, "calls_over_bound": {over}, "nanoseconds": 200000000, "error": 2.5e-5, "bound": 1e-4, "share": {share}, "element": 41}}'
        kind = (f'{{"collective": "allreduce", "type": "f32", "operator": "sum", "least_bytes": 1048576, "site": "solve+0x1f3", '
                f'"compressed_calls": 4, {check}}}')  # fmt: skip
        head = f'"format": "taut-report", "version": 2, "rank": 0, "ranks": 1, "finished": {finished}, "seconds": 2.0'
        report = f'{{{head}, "communicators": [{{"kinds": [{kind}]}}]}}'
        text = f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'HYDRA build details:' && exit 0\necho \"check $TAUT_CHECK\"\ncat > \"$TAUT_REPORT\" <<'END'\n{report}\nEND\nexit {status}\n"
        self.file("mpiexec", text.encode())
        (self.folder / "mpiexec").chmod(stat.S_IRWXU)

    def check(self, *arguments):
        return self.run_program("run", *arguments, "--", "mpiexec", "./app")

    def test_check_prints_the_greatest_errors_and_cleans_up(self):
        self.checking(over=0)
        done = self.check("--check")
        self.assertEqual((done.returncode, done.stdout), (0, "check 1\n"))
        self.assertIn("3 of 4 compressed calls of 1 ranks checked, in 0.2 of 2 s", done.stderr)
        self.assertIn(" 2.5e-05   0.0001   0.25    0        41     3  allreduce f32 sum 1MiB\n      at solve+0x1f3\n", done.stderr)
        self.assertIn("every error is within its bound", done.stderr)
        self.assertEqual([path.name for path in self.folder.glob("taut-check*")], [])

    def test_a_broken_bound_ends_with_1(self):
        self.checking(over=2, share=1.5)
        done = self.check("--check=1/16", "--report", "kept.json")
        self.assertEqual((done.returncode, done.stdout), (1, "check 16\n"))
        self.assertIn("2 checked calls broke their bound", done.stderr)
        self.assertTrue((self.folder / "kept.json").exists())

    def test_the_clock_of_the_file_system_may_be_behind(self):
        self.checking(over=0)
        launcher = self.folder / "mpiexec"
        text = launcher.read_text().replace("\nEND\n", "\nEND\ntouch -d '1 minute ago' \"$TAUT_REPORT\"\n")
        launcher.write_text(text)
        self.assertEqual(self.check("--check").returncode, 0)

    def test_no_verdict_without_the_reports_of_this_run(self):
        self.checking(over=0, finished="false")
        done = self.check("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no verdict: 0 of 1 ranks", done.stderr)
        self.file("mpiexec", b"#!/bin/sh\nexit 0\n")
        (self.folder / "mpiexec").chmod(stat.S_IRWXU)
        self.assertEqual(self.check("--check", "--report", "never.json").returncode, 1)

    def test_reports_of_an_older_run_are_no_verdict(self):
        self.checking(over=0)
        self.assertEqual(self.check("--check", "--report", "kept.json").returncode, 0)
        self.file("mpiexec", b"#!/bin/sh\nexit 0\n")
        self.assertEqual(self.check("--check", "--report", "kept.json").returncode, 1)

    def test_the_status_of_the_program_is_handed_on(self):
        self.checking(over=2, status=7)
        self.assertEqual(self.check("--check").returncode, 7)

    def test_shares_that_are_none(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        for share in ("0", "1/0", "1/x", "16"):
            done = self.check(f"--check={share}")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--check=1/16", done.stderr)

    def test_hydra_hands_on_its_environment(self):
        for version in ("hydra", "intel"):
            self.fake("mpiexec", VERSIONS[version])
            said, words = self.words("--rules", RULES, "--", "mpiexec", "-n", "4", "./app", "-x")
            self.assertEqual(said, f"launcher preloads [] rules [{RULES}] prepends []")
            self.assertEqual(words, ["-genv", "LD_PRELOAD", self.library, "-n", "4", "./app", "-x"])

    def test_open_mpi_is_told_names(self):
        for version in ("openmpi", "prrte"):
            self.fake("mpirun", VERSIONS[version])
            said, words = self.words("-r", RULES, "--report", "r.json", "--", "mpirun", "-n", "1", "a", ":", "-n", "2", "b")
            self.assertEqual(said, f"launcher preloads [] rules [{RULES}] prepends []")
            named = ["-x", "TAUT_RULES", "-x", "TAUT_REPORT", "-x", "LD_PRELOAD=" + self.library]
            self.assertEqual(words, [*named, "-n", "1", "a", ":", *named, "-n", "2", "b"])

    def test_options_set_variables(self):
        self.fake("app")
        printed = self.succeed("run", "--messages", "--nonblocking", "--summary", "--print", "--", "./app")
        self.assertIn("TAUT_SUMMARY=1 TAUT_MESSAGES=1 TAUT_NONBLOCKING=1 ", printed)
        printed = self.succeed("run", "--report", "r.json", "--trace", "t.json", "--print", "--", "./app")
        self.assertIn(f"TAUT_REPORT={self.folder}/r.json TAUT_TRACE={self.folder}/t.json ", printed)

    def test_slurm_exports(self):
        self.fake("srun")
        _, words = self.words("--bound", "abs:1e-4", "--", "srun", "-n", "4", "./app")
        self.assertEqual(words, ["--export=ALL,LD_PRELOAD=" + self.library, "-n", "4", "./app"])
        self.refuse(2, "srun has an --export=NONE of its own", "run", "--", "srun", "--export=NONE", "./app")

    def test_jsrun_prepends(self):
        self.fake("jsrun")
        said, words = self.words("--bound", "abs:1e-4", "--", "jsrun", "-n", "4", "./app")
        self.assertEqual(said, f"launcher preloads [] rules [* : abs:1e-4] prepends [{self.library}]")
        self.assertEqual(words, ["-n", "4", "./app"])

    def test_names_tell_without_asking(self):
        self.fake("mpiexec.hydra", VERSIONS["openmpi"])
        self.assertEqual(self.words("--", "mpiexec.hydra", "x")[1][0], "-genv")

    def test_a_program_alone(self):
        self.fake("app")
        printed = self.succeed("run", "--bound", "lossless", "--print", "--", "./app", "an argument")
        self.assertEqual(printed, f"env TAUT_RULES='* : lossless' LD_PRELOAD={self.library} ./app 'an argument'\n")

    def test_programs_with_address_sanitizer_are_told_to_start(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        self.file("app", b"\x7fELF" + bytes(100) + b"__asan_init")
        (self.folder / "app").chmod(stat.S_IRWXU)
        told = f"env ASAN_OPTIONS=verify_asan_link_order=0:halt_on_error=1 mpiexec -genv LD_PRELOAD {self.library} ./app\n"
        with mock.patch.dict(os.environ, {"ASAN_OPTIONS": "halt_on_error=1"}):
            self.assertEqual(self.succeed("run", "--print", "--", "mpiexec", "./app"), told)

    def test_what_was_preloaded_stays(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        first = {"ASAN_OPTIONS": "verify_asan_link_order=0"}  # a sanitizer's library must be loaded first
        with mock.patch.dict(os.environ, {"LD_PRELOAD": "libm.so.6"} | first):
            printed = self.succeed("run", "--print", "--", "mpiexec", "x")
        self.assertEqual(printed, f"env mpiexec -genv LD_PRELOAD {self.library}:libm.so.6 x\n")

    def test_the_environment_holds_where_no_option_says_otherwise(self):
        self.fake("mpirun", VERSIONS["openmpi"])
        with mock.patch.dict(os.environ, {"TAUT_RULES": "* : lossless", "TAUT_KERNELS": "scalar"}):
            _, words = self.words("--", "mpirun", "x")
            self.assertEqual(words[:4], ["-x", "TAUT_RULES", "-x", "TAUT_KERNELS"])
            self.assertIn("[* : abs:1]", self.words("--bound", "abs:1", "--", "mpirun", "x")[0])

    def test_the_exit_code_is_the_command_s(self):
        self.fake("mpiexec", VERSIONS["hydra"], status=7)
        self.assertEqual(self.run_program("run", "--", "mpiexec", "x").returncode, 7)

    def test_nothing_is_started_under_faulty_rules(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        result = self.run_program("run", "--rules", "Allreduce f33 : off", "--", "mpiexec", "x")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("column 11", result.stderr)

    def test_what_cannot_be_run(self):
        self.refuse(2, "the command is missing", "run", "--bound", "abs:1")
        self.refuse(2, "'-n' is an option of mpiexec; put -- before mpiexec", "run", "--rules", RULES, "mpiexec", "-n", "2", "x")
        self.refuse(2, "exclude each other", "run", "--bound", "abs:1", "--rules", RULES, "--", "true")
        self.refuse(1, "there is no such program", "run", "--", "no-such-program")
        with mock.patch.dict(os.environ, {"TAUT_PRELOAD": "/no/such/library"}):
            self.refuse(1, "TAUT_PRELOAD=/no/such/library: there is no such file", "run", "--", "true")

    # ---- taut doctor

    def test_the_doctor_names_what_is_missing(self):
        self.fake("mpiexec", "something else")
        with mock.patch.dict(os.environ, {"TAUT_RULES": "* f33 : off", "TAUT_RULE": "x"}):
            result = self.run_program("doctor")
        self.assertEqual(result.returncode, 1, result.stderr)
        faults = [line for line in result.stdout.splitlines() if line.startswith("! ")]
        self.assertTrue(any("neither MPICH's, Intel MPI's" in line for line in faults), faults)
        self.assertTrue(any("cannot be preloaded" in line for line in faults), faults)
        self.assertTrue(any("did you mean TAUT_RULES?" in line for line in faults), faults)
        self.assertTrue(any("TAUT_RULES, column 3" in line for line in faults), faults)
        self.assertIn("processor    kernels ", result.stdout)

    def doctor_with_layers(self, *layers, arguments=()):
        """Returns the lines of `taut doctor` on other MPIs, beside a library that can be preloaded."""
        ctypes.CDLL("libm.so.6")
        maps = Path("/proc/self/maps").read_text()
        shutil.copy(re.search(r"/\S*/libm[-.]\S*", maps)[0], self.library)
        for layer in layers:
            self.file(f"libtaut_{layer}.so", b"")
        return [line for line in self.run_program("doctor", *arguments).stdout.splitlines() if "other MPI" in line]

    def test_the_doctor_names_every_mpi(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        self.fake("mpiexec.openmpi", VERSIONS["openmpi"])
        (line,) = self.doctor_with_layers("mpich")
        self.assertRegex(line, r"^! other MPI .*/mpiexec.openmpi: Open MPI, whose programs run without Taut")
        self.assertIn("-DTAUT_OPENMPI_INCLUDE=FOLDER", line)
        self.assertEqual(self.doctor_with_layers("mpich", arguments=["--mpiexec", "./mpiexec"]), [])
        (line,) = self.doctor_with_layers("mpich", "openmpi")
        self.assertRegex(line, r"^  other MPI .*/mpiexec.openmpi: Open MPI$")

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_the_doctor_names_the_standard_abi(self):
        (self.folder / "bin").mkdir()
        (self.folder / "lib").mkdir()
        self.fake("bin/mpiexec", VERSIONS["openmpi"])
        self.file("open_mpi.c", b"int ompi_mpi_comm_self;\n")
        self.file("mpi.c", b"int PMPI_Init(int* c, char*** v) { return 0; }\n")
        self.file("mpi_abi.c", b"int PMPI_Abi_get_version(int* a, int* b) { *a = 1, *b = 0; return 0; }\n")
        # As in Open MPI 6: both libraries are linked to one that has what both share.
        for name, linked in (("open_mpi.so", []), ("mpi.so.40", ["-lopen_mpi"]), ("mpi_abi.so.1", ["-lopen_mpi"])):
            flags = ["-shared", "-fPIC", f"{name.split('.')[0]}.c", "-o", f"lib/lib{name}", "-Llib", "-Wl,-rpath,$ORIGIN"]
            subprocess.run(["cc", *flags, "-Wl,--no-as-needed", *linked], check=True, cwd=self.folder)
        self.program_of("libmpi_abi.so.1")
        for layers, program, well in (["openmpi"], [], False), ([], ["./app"], False), (["mpiabi"], [], True), ([], ["./app"], True):
            arguments = ["--mpiexec", "./bin/mpiexec", *program]
            self.doctor_with_layers(*layers, arguments=arguments)
            with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": str(self.folder)}):
                result = self.run_program("doctor", *arguments)
            self.assertIn("/lib/libmpi.so.40 (openmpi)", result.stdout)
            self.assertRegex(result.stdout, r"\n  standard ABI .*/lib/libmpi_abi.so.1 \(mpiabi\)")
            self.assertEqual("all is well" in result.stdout, well, result.stdout)
            self.assertEqual(result.returncode, 0 if well else 1, result.stdout)
            self.assertEqual("-DTAUT_MPIABI_INCLUDE=FOLDER" in result.stdout, not well, result.stdout)

    def test_the_doctor_names_what_serves_gpus(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        self.doctor_with_layers("mpich")
        lines = self.run_program("doctor").stdout
        self.assertIn("  GPU memory   no libtaut_cuda.so.0: MPI and NCCL serve all calls on GPU memory", lines)
        self.assertNotIn("  NCCL  ", lines)
        for name in ("cuda", "nccl"):
            shutil.copy(self.library, self.folder / f"libtaut_{name}.so.0")
        lines = self.run_program("doctor").stdout
        self.assertRegex(lines, r"\n  GPU memory   /\S+/libtaut_cuda.so.0\n  NCCL         /\S+/libtaut_nccl.so.0\n")

    def test_the_doctor_knows_launchers_by_name(self):
        self.fake("srun", "something else")
        self.assertRegex(self.run_program("doctor", "--mpiexec", "./srun").stdout, r"\n  launcher     ./srun: Slurm\n")

    def program_of(self, library):
        """Makes a program that is linked to a library of this name."""
        flags = ["-shared", "-fPIC", "-x", "c", "/dev/null", f"-Wl,-soname,{library}", "-o", self.folder / library]
        subprocess.run(["cc", *flags], check=True)
        self.file("app.c", b"int main(void) { return 0; }\n")
        subprocess.run(["cc", "app.c", "-o", "app", "-Wl,--no-as-needed", f"./{library}"], check=True, cwd=self.folder)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_a_launcher_of_another_mpi_is_told(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        self.fake("mpiexec.openmpi", VERSIONS["openmpi"])
        for library, mismatch in (("libmpi.so.40", True), ("libmpich.so.12", False), ("libmpi.so.12", False)):
            self.program_of(library)
            with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": str(self.folder)}):
                found = self.run_program("doctor", "./app").stdout
                run = self.run_program("run", "--", "mpiexec", "-n", "4", "./app")
            (line,) = (line for line in found.splitlines() if line[2:].startswith("program "))
            self.assertEqual(line.startswith("! "), mismatch, line)
            self.assertIn(library, line)
            self.assertEqual("4 programs of 1 rank" in run.stderr, mismatch, run.stderr)
            self.assertEqual("mpiexec.openmpi" in line, mismatch, line)
            self.assertEqual(run.returncode, 0)

    def test_the_doctor_runs_no_program(self):
        self.fake("mpiexec", VERSIONS["hydra"])
        self.file("script", b"#!/bin/sh\ntouch ran\n")
        (self.folder / "script").chmod(0o755)
        self.assertIn("linked to no MPI", self.run_program("doctor", "./script").stdout)
        self.assertFalse((self.folder / "ran").exists())
        self.assertIn("there is no such program", self.run_program("doctor", "./absent").stdout)
        self.assertEqual(self.run_program("doctor", "a", "b").returncode, 2)

    def test_the_doctor_tells_where_the_library_was_looked_for(self):
        with mock.patch.dict(os.environ, {"TAUT_PRELOAD": "/nowhere/x.so"}):
            self.assertIn("TAUT_PRELOAD=/nowhere/x.so: there is no such file", self.run_program("doctor").stdout)


if __name__ == "__main__":
    unittest.main()

"""tools/gpu/check.sh without a GPU: compilers, sanitizer, MPI and the programs that it builds are played."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Files of the tree whose names are played; of the CPU's codec only a few.
SOURCES = ("src/compressor/gpu/*.cu", "src/compressor/gpu/*/*.cu", "src/compressor/gpu/simt/*.hpp", "src/compressor/simd/*.cpp", "src/compressor/codecs/*/codec.cpp")
SOURCES += ("src/compressor/codecs/registry.cpp", "src/compressor/codecs/zfp/shape.cpp", "src/compressor/frame/*.cpp", "src/compressor/base/*.cpp", "src/compressor/values/reduction.cpp")
SOURCES += ("include/taut/*.h", "tests/gpu/kernels/shim.cpp", "tests/gpu/kernels/rate_codec.cpp", "tools/gpu/*.c*", "tools/gpu/*.hpp")

# Compiles to an empty object, if the source is there; links to a program that prints a line, if all objects are there.
COMPILER = """#!/bin/bash
echo "$*" >>"$CALLS"
sources=() out=
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    -ccbin) shift ;;
    -c) compiles=1 ;;
    *.cpp | *.cu | *.o) sources+=("$1") ;;
  esac
  shift
done
for source in "${sources[@]}"; do [ -e "$source" ] || exit 3; done
if [ -n "${compiles:-}" ]; then touch "$out"; exit; fi
printf '#!/bin/bash\\necho '"'"'{"check": "program", "ok": true}'"'"'\\n' >"$out"
chmod +x "$out"
"""
NVIDIA_SMI = """#!/bin/bash
case $* in
  *compute_cap*) echo 9.0 ;;
  *clocks*) echo "345 MHz, 1980 MHz, 2619 MHz, 700.00 W, 31" ;;
  *) echo '580.1, Default, "Disabled"' ;;
esac
"""
MPIEXEC = """#!/bin/bash
[ "$1 $2" = "-iface lo" ] || { echo "cannot resolve the name of the host" >&2; exit 1; }
shift 4
exec "$@"
"""


class CheckSh(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for pattern in SOURCES:
            for file in ROOT.glob(pattern):
                to = self.root / file.relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.touch()
        shutil.copy(ROOT / "tools/gpu/check.sh", self.root / "tools/gpu")
        self.out = self.root / "results/all.json"
        self.play("nvcc", COMPILER)
        self.play("g++", COMPILER)
        self.play("nvidia-smi", NVIDIA_SMI)

    def play(self, name, text, folder="bin"):
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_part(self, part, **environment):
        """Returns the status of the part and the lines of its results."""
        path = f"{self.root}/bin:/usr/bin:/bin"
        env = {"PATH": path, "CALLS": str(self.root / "calls"), "HOME": str(self.root), **environment}
        done = subprocess.run(
            ["bash", "tools/gpu/check.sh", part, str(self.out)], cwd=self.root, env=env, capture_output=True, text=True, timeout=50
        )
        self.said = done.stderr
        lines = self.out.read_text().splitlines() if self.out.exists() else []
        return done.returncode, [json.loads(line) for line in lines]

    def compiled(self):
        calls = (self.root / "calls").read_text().splitlines()
        (self.root / "calls").unlink()
        return sum(" -c " in call for call in calls)

    def test_a_sanitizer_that_refuses_the_device_is_skipped(self):
        self.play("compute-sanitizer", "#!/bin/bash\necho '========= Error: Device not supported.'; exit 1\n")
        status, lines = self.run_part("correctness")
        self.assertEqual(status, 0, self.said)
        by_tool = {line["check"]: line for line in lines}
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            self.assertIn("does not support", by_tool[tool]["skipped"])
            self.assertIn("Device not supported", (self.out.parent / f"all.{tool}.log").read_text())

    def test_a_sanitizer_that_finds_errors_fails(self):
        self.play("compute-sanitizer", "#!/bin/bash\necho 'not supported on this path'; echo 'ERROR SUMMARY: 2 errors'; exit 9\n")
        status, lines = self.run_part("correctness")
        self.assertNotEqual(status, 0)
        self.assertIn({"check": "memcheck", "ok": False, "log": f"{self.out.parent}/all.memcheck.log"}, lines)

    def test_a_sanitizer_that_finds_nothing_is_good(self):
        self.play("compute-sanitizer", "#!/bin/bash\necho 'ERROR SUMMARY: 0 errors'\n")
        status, lines = self.run_part("correctness")
        self.assertEqual(status, 0, self.said)
        self.assertEqual([line["ok"] for line in lines], [True] * 5)

    def test_calls_are_checked_by_a_script_of_their_own(self):
        script = '#!/bin/bash\nmkdir -p "$(dirname "$1")"\necho \'{"check": "halo", "ok": false}\' >"$1"\nexit 1\n'
        self.play("check_calls.sh", script, "tools/gpu")
        self.assertEqual(self.run_part("calls"), (1, [{"check": "halo", "ok": False}]))

    def test_objects_are_made_anew_only_where_contents_changed(self):
        self.assertEqual(self.run_part("correctness")[0], 0, self.said)
        self.assertGreater(self.compiled(), 12)
        for file in self.root.rglob("*.cu"):
            file.touch()
        self.assertEqual(self.run_part("correctness")[0], 0, self.said)
        self.assertEqual(self.compiled(), 0)
        (self.root / "src/compressor/gpu/simt/sink.hpp").write_text("// changed\n")
        self.assertEqual(self.run_part("correctness")[0], 0, self.said)
        self.assertGreater(self.compiled(), 12)

    def test_the_probe_says_what_is_there(self):
        status, lines = self.run_part("probe", PYTHON="/nowhere/python")
        self.assertEqual(status, 0, self.said)
        told = {line["probe"]: line["is"] for line in lines if "is" in line}
        self.assertEqual(told["driver"], "580.1, Default, Disabled")
        self.assertIn("345 MHz", told["clocks"])
        self.assertEqual(told["nvidia-cuda-mps-control"], "absent")
        self.assertEqual(lines[-1], {"check": "program", "ok": True})
        self.assertEqual(self.compiled(), 1)

    def test_ranks_run_by_an_mpi_that_was_carried_here(self):
        self.play("mpicxx", COMPILER, "site/bin")
        self.play("mpiexec", MPIEXEC, "site/bin")
        status, lines = self.run_part("ranks", MPI=str(self.root / "site"), RANKS="2")
        self.assertEqual(status, 0, self.said)
        self.assertEqual(lines, [{"check": "program", "ok": True}])

    def test_ranks_without_mpi_are_skipped(self):
        if shutil.which("mpicxx", path="/usr/bin:/bin"):
            self.skipTest("there is an MPI in /usr/bin")
        self.assertEqual(self.run_part("ranks")[0], 77)
        self.assertIn("there is no mpicxx", self.said)


if __name__ == "__main__":
    unittest.main()

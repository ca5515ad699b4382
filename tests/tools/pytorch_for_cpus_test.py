"""Tests the libraries that tools/pytorch_for_cpus.py makes in place of NVIDIA's."""

import ctypes
import importlib.util
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/pytorch_for_cpus.py"
spec = importlib.util.spec_from_file_location("pytorch_for_cpus", TOOL)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def library(path, text, *options):
    """Compiles a shared library."""
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path, f"-Wl,-soname,{path.name}", *options],
                   input=text, text=True, check=True)  # fmt: skip


class StandIns(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder, self.elsewhere = Path(scratch.name, "lib"), Path(scratch.name, "elsewhere")
        self.folder.mkdir()
        self.elsewhere.mkdir()

    def test_a_library_loads_without_those_that_it_was_linked_with(self):
        versions = self.elsewhere / "versions"
        versions.write_text("CUFOO { global: cuFoo; };\n")
        cufoo, nvbar = self.elsewhere / "libcufoo.so.13", self.elsewhere / "libnvbar.so.0"
        library(cufoo, "int cuFoo(void) { return 0; }", f"-Wl,--version-script={versions}")
        library(nvbar, "int nvBar(void) { return 0; }")
        library(self.folder / "libuser.so", "int cuFoo(void), nvBar(void); int both(void) { return 10 * cuFoo() + nvBar(); }",
                cufoo, nvbar, "-Wl,-rpath,$ORIGIN")  # fmt: skip
        cufoo.unlink()
        nvbar.unlink()
        with self.assertRaises(OSError):
            ctypes.CDLL(self.folder / "libuser.so")
        tool.stand_in(self.folder)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"libuser.so", "libcufoo.so.13", "libnvbar.so.0"})
        self.assertEqual(tool.undefined(self.folder)[0], {})
        self.assertEqual(ctypes.CDLL(self.folder / "libuser.so").both(), 11)

    def test_nothing_is_made_for_a_library_without_cuda(self):
        library(self.folder / "libuser.so", "int one(void) { return 1; }")
        tool.stand_in(self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["libuser.so"])


if __name__ == "__main__":
    unittest.main()

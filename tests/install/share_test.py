"""Tests what an installation has in share: share_test.py PREFIX."""

import re
import shutil
import subprocess
import sys
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


if __name__ == "__main__":
    unittest.main()

"""Tests `taut config`: it lists correct rules and points at errors in others."""

import os
import shutil
import subprocess
import unittest
from unittest import mock

from program import PROGRAM, ProgramTest

RULES = "Allreduce f32 sum >=1MiB : abs:1e-4 ; Bcast,Allgather >=4MiB : lossless ; * : off"
FILE = b'[[rule]]\ncall = "Allreduce"\nbound = "rel:1e-3"\n'


class Config(ProgramTest):
    def refused(self, *arguments):
        result = self.run_program("config", *arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        return result.stderr.splitlines()

    def test_rules_are_listed(self):
        printed = self.succeed("config", "--rules", RULES).splitlines()
        self.assertEqual(printed[0], " 1  Allreduce f32 sum >=1MiB : abs:1e-4")
        self.assertEqual(printed[2], " 3  * : off")
        self.assertEqual(len(printed), 4)

    def test_a_file_is_listed(self):
        self.file("run.toml", FILE)
        self.assertIn(" 1  Allreduce : rel:1e-3\n", self.succeed("config", "--check", "run.toml"))

    def test_faults_have_a_caret(self):
        self.file("run.toml", FILE.replace(b"rel:1e-3", b"rel:x"))
        lines = self.refused("--check", "run.toml")
        self.assertTrue(lines[0].startswith("taut config: run.toml, line 3, column 9: bound cannot be 'rel:x'"), lines)
        self.assertEqual(lines[1:], ['  bound = "rel:x"', "          ^"])
        self.assertIn("TAUT_RULES, column 3", self.refused("--rules", "* f33 : off")[0])
        self.assertIn("No such file", self.refused("--check", "no.toml")[0])

    def test_what_is_in_force(self):
        with mock.patch.dict(os.environ, {"TAUT_RULES": RULES, "TAUT_RULE": "x"}):
            printed = self.succeed("config", "--print")
        self.assertIn("TAUT_RULES     " + RULES, printed)
        self.assertIn("did you mean TAUT_RULES?", printed)
        self.assertIn(" 3  * : off", printed)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a program another user's rights")
    def test_a_program_with_rights_of_its_own_reads_no_variables(self):
        privileged = self.folder / "taut"
        shutil.copy(PROGRAM, privileged)
        self.folder.chmod(0o755)
        os.chown(privileged, 65534, 65534)
        privileged.chmod(0o4755)
        with mock.patch.dict(os.environ, {"TAUT_RULES": RULES, "TAUT_RULE": "x"}):
            printed = subprocess.run([privileged, "config", "--print"], capture_output=True, text=True, check=False)
        self.assertIn("no rules", printed.stdout, printed.stderr)
        self.assertNotIn("did you mean", printed.stdout + printed.stderr)

    def test_nothing_to_do(self):
        self.refuse(2, "use --check FILE", "config")
        self.refuse(2, "'run.toml' belongs to no option", "config", "--print", "run.toml")


if __name__ == "__main__":
    unittest.main()

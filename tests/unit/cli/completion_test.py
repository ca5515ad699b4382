"""Tests `taut completion` in bash, and in zsh and fish where they are; and the manual page in troff, where that is."""

import re
import shutil
import subprocess
import unittest

from program import ProgramTest


class Completion(ProgramTest):
    def commands(self):
        return re.findall(r"^  ([a-z-]+)  ", self.succeed("--help"), re.M)

    def complete(self, *words):
        """Returns what bash proposes for the last word of a command line."""
        self.file("script", self.succeed("completion", "bash").encode())
        line = f". ./script; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _taut; echo ${{COMPREPLY[@]}}"
        result = subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_bash(self):
        self.assertEqual(set(self.complete("taut", "")), {*self.commands(), "--help", "--version"})
        self.assertEqual(self.complete("taut", "adv"), ["advise"])
        self.assertEqual(self.complete("taut", "advise", "--b"), ["--bound"])
        self.assertEqual(self.complete("taut", "report", "--"), ["--help"])
        self.assertEqual(self.complete("taut", "compress", "scr"), ["script"])

    def test_scripts_are_read_by_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.file("script." + shell, self.succeed("completion", shell).encode())
            if shutil.which(shell):
                result = subprocess.run([shell, "-n", script], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)
            for command in self.commands():
                self.assertIn(command, self.read(script).decode())

    def test_manual(self):
        page = self.file("taut.1", self.succeed("manual").encode())
        python = (".SS taut bounds", ".SS taut calibrate", ".SS taut bench\\-fabric")
        for line in (".SS taut advise REPORT... ", ".B \\-b, \\-\\-bound BOUND", ".B TAUT_REPORT=file", *python):
            self.assertIn(line, self.read(page).decode())
        if shutil.which("groff"):
            result = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", page], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()

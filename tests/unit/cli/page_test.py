"""Checks that docs/cli.md has every command and option of the program, and no others."""

import re
import unittest
from pathlib import Path

from program import ProgramTest

PAGE = (Path(__file__).resolve().parents[3] / "docs/cli.md").read_text()


class Page(ProgramTest):
    def test_commands_and_options(self):
        commands = re.findall(r"^  ([a-z-]+)  ", self.succeed("--help"), re.M)
        sections = dict(re.findall(r"^## taut (\S+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
        self.assertEqual(set(sections), set(commands))
        for command in set(commands) - {"bounds", "tune", "report", "trace", "calibrate", "bench-fabric"}:  # commands in Python
            told = re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", self.succeed(command, "--help"), re.M)
            written = re.findall(r"(?<![-\w])(--[a-z][a-z-]*)", sections[command])
            self.assertEqual(set(written), set(told) - {"--help"}, command)


if __name__ == "__main__":
    unittest.main()

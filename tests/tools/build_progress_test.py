"""Tests the progress that the Python package's build shows."""

import io
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from build_progress import Progress, counts

EDGES = "build a.o: CXX_COMPILER__x_Release a.cpp\nbuild d/b.o: C_COMPILER__y_Release b.c\nbuild all: phony a.o\n"


class Counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def log(self, *outputs):
        lines = [f"0\t1\t2\t{output}\t3" for output in outputs]
        (self.folder / ".ninja_log").write_text("\n".join(["# ninja log v5", *lines]) + "\n")

    def test_files_are_counted(self):
        self.assertEqual(counts(self.folder), (0, 0))
        (self.folder / "build.ninja").write_text(EDGES)
        self.assertEqual(counts(self.folder), (0, 2))
        self.log("generated.hpp", "a.o")
        self.assertEqual(counts(self.folder), (1, 2))
        self.assertEqual(counts(self.folder, before=1), (0, 2))

    def test_the_terminal_is_told(self):
        (self.folder / "build.ninja").write_text(EDGES)
        terminal = io.StringIO()
        with Progress(self.folder, terminal):
            self.log("a.o")
            time.sleep(1.5)
        self.assertIn("taut: 1 of 2 files are compiled", terminal.getvalue())


if __name__ == "__main__":
    unittest.main()

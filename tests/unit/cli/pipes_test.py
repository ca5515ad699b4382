"""Tests `-`, which is standard input or output, and several inputs."""

import json
import os
import pty
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, npy, numbers


class Pipes(ProgramTest):
    def piped(self, data, *arguments):
        """Returns the exit code, stdout and stderr of the program with this standard input."""
        done = subprocess.run([Path(PROGRAM).resolve(), *arguments], cwd=self.folder, input=data, capture_output=True)
        return done.returncode, done.stdout, done.stderr.decode()

    def test_each_end_may_be_a_pipe(self):
        array = npy("f32", (70, 100), numbers("f32", 7000))
        self.file("x.npy", array)
        self.succeed("compress", "x.npy", "--bound", "abs:1e-3")
        packed = self.read("x.npy.taut")
        for arguments in (["-"], ["-", "-o", "-"], ["x.npy", "-o", "-"]):
            code, out, errors = self.piped(array, "compress", *arguments, "--bound", "abs:1e-3")
            self.assertEqual((code, out), (0, packed), errors)
            self.assertIn(" -> standard output", errors)
        self.assertEqual(self.piped(array, "compress", "-", "--bound", "abs:1e-3", "-q", "-o", "y.taut"), (0, b"", ""))
        self.assertEqual(self.read("y.taut"), packed)
        self.succeed("decompress", "y.taut", "-o", "y.npy")
        for arguments in (["-"], ["-", "-o", "-"], ["y.taut", "-o", "-"]):
            self.assertEqual(self.piped(packed, "decompress", *arguments, "-q"), (0, self.read("y.npy"), ""))
        code, out, _ = self.piped(packed, "info", "-", "--json")
        self.assertEqual((code, json.loads(out)["file"]), (0, "standard input"))
        code, _, errors = self.piped(array, "compress", "-", "--json", "--bound", "abs:1e-3")
        self.assertEqual((code, json.loads(errors)["output"]), (0, "standard output"))

    def test_raw_values_and_errors(self):
        raw = numbers("f32", 100000)
        code, packed, _ = self.piped(raw, "compress", "-", "--dtype", "f32", "-q")
        self.assertEqual(self.piped(packed, "decompress", "-", "-q"), (0, raw, ""))
        for code, text, data, *arguments in (
            (2, "standard input: holds raw values of a type", raw, "compress", "-"),
            (2, "standard input: is a file compressed by gzip", b"\x1f\x8b\x08" + raw, "compress", "-"),
            (1, "standard input: is no .taut file", b"", "decompress", "-"),
            (1, "standard input: is damaged", packed[:-1], "info", "-"),
        ):
            self.assertEqual(self.piped(data, *arguments)[:2], (code, b""))
            self.assertIn(text, self.piped(data, *arguments)[2])

    def test_standard_input_that_is_a_file_is_read_from_where_it_stands(self):
        self.file("x", b"head" + numbers("f32", 100))
        for skipped, expected in ((0, 101), (4, 100)):
            with open(self.folder / "x", "rb") as file:
                os.lseek(file.fileno(), skipped, os.SEEK_SET)
                done = subprocess.run([Path(PROGRAM).resolve(), "compress", "-", "--dtype", "f32"], stdin=file, capture_output=True)
            self.assertIn(f"{expected} f32", done.stderr.decode())

    def test_terminals_get_no_bytes(self):
        self.succeed("compress", self.file("x.f32", numbers("f32", 100)))
        ours, terminal = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, terminal)
        for arguments in (["compress", "x.f32", "-o", "-"], ["decompress", "x.f32.taut", "-o", "-"], ["compress", "-", "-o", "y"]):
            done = subprocess.run([Path(PROGRAM).resolve(), *arguments], cwd=self.folder, stdin=terminal, stdout=terminal,
                                  stderr=subprocess.PIPE)  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), "is a terminal|is not a regular file or a pipe")


class Several(ProgramTest):
    def test_each_input_has_its_output_and_the_worst_exit_code_counts(self):
        for i in range(3):
            self.file(f"{i}.npy", npy("f32", (100 + i,), numbers("f32", 100 + i)))
        lines = self.run_program("compress", "0.npy", "1.npy", "2.npy", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["output"] for line in lines], ["0.npy.taut", "1.npy.taut", "2.npy.taut"])
        self.succeed("compress", "0.npy", "1.npy", "-o", "out/")
        self.succeed("decompress", "out/0.npy.taut", "out/1.npy.taut", "-o", "out/", "-q")
        self.assertTrue(self.read("out/1.npy").endswith(numbers("f32", 101)))
        self.assertRegex(self.run_program("compress", "0.npy", "-o", "1.npy/", "-q").stderr, "1.npy/: this folder cannot be made: ")
        self.assertIn("100 f32", self.succeed("info", "0.npy.taut", "2.npy.taut"))
        self.file("bad.dat", b"x")
        result = self.run_program("compress", "0.npy", "bad.dat", "2.npy", "-o", "out", "-q")
        self.assertEqual(result.returncode, 2)  # of bad.dat; of 0.npy it is 1
        self.assertRegex(result.stderr, "^taut compress: out/0.npy.taut: exists.*\ntaut compress: bad.dat: .*--dtype.*\n$")
        self.assertEqual(self.read("out/2.npy.taut"), self.read("2.npy.taut"))


if __name__ == "__main__":
    unittest.main()

"""Tests errors of the program: one line names argument and remedy, and all files stay as they are."""

import json
import re
import signal
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, npy, numbers


class Errors(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file("x.f32", numbers("f32", 100))
        self.succeed("compress", "x.f32", "--bound", "abs:1e-3")

    def test_command_lines(self):
        for text, *arguments in (
            ("unknown command 'squeeze'", "squeeze"),
            ("is a command of the Python package", "calibrate"),
            ("the Python package", "report", "r.json"),
            ("is a command of the Python package", "bounds", "x.npy"),
            ("'tcsh' is no shell known here; use bash, zsh or fish", "completion", "tcsh"),
            ("manual takes no names", "manual", "x"),
            ("say what the number limits: abs:1e-3", "compress", "x.f32", "--bound", "1e-3"),
            ("IN is missing", "compress"),
            ("unknown option '--bond'", "compress", "x.f32", "--bond", "abs:1"),
            ("--bound lacks its value", "compress", "x.f32", "--bound"),
            ("--force takes no value", "compress", "x.f32", "--force=yes"),
            ("is one file for 2 inputs; name a folder, y/", "compress", "x.f32", "y", "-o", "y"),
            ("would go to out/x.f32.taut, as another input does", "compress", "x.f32", "./x.f32", "-o", "out/"),
            ("name the file for standard input", "compress", "-", "-o", "."),
            ("'bash' is one name too many", "completion", "zsh", "bash"),
            ("--bound 'abs'", "compress", "x.f32", "--bound", "abs"),
            ("give a bound above 0", "compress", "x.f32", "--bound", "abs:-1"),
            ("start with", "compress", "x.f32", "--bound", "codec=planes"),
            ("codec", "compress", "x.f32", "--bound", "abs:1,codec=zip"),
            ("use --shape", "compress", "x.f32", "--bound", "abs:1,dims=3x4"),
            ("--dtype: 'f8' is no type; use f32", "compress", "x.f32", "--dtype", "f8"),
            ("--shape 3", "compress", "x.f32", "--dtype", "f64", "--shape", "3"),
            ("--shape: '3x' is no shape", "compress", "x.f32", "--shape", "3x"),
            ("100 values of f32", "compress", "x.f32", "--shape", "10x11"),
            ("100 values of f32", "compress", "x.f32", "--shape", "4294967296x4294967296x4294967296"),
            ("100 values of f32", "compress", "x.f32", "--shape", "1000000x1000000x1000000"),
            ("--form: 'hdf5' is unknown", "decompress", "x.f32.taut", "--form", "hdf5", "-o", "y"),
            ("--seconds", "bench-codec", "x.f32", "--seconds", "soon"),
            ("'zip' is no codec", "bench-codec", "x.f32", "--codec", "raw,zip"),
            ("name codecs with --codec", "bench-codec", "x.f32", "--bound", "abs:1,codec=raw"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.refuse(2, text, *arguments)

    def test_types_that_are_not_said(self):
        self.file("x.dat", numbers("f32", 3))
        self.refuse(2, "--dtype", "compress", "x.dat")
        self.refuse(2, "no multiple of 8", "compress", "x.dat", "--dtype", "f64")
        self.file("x.npy", npy("f32", (3,), numbers("f32", 3)))
        self.refuse(2, "holds f32", "compress", "x.npy", "--dtype", "f64")
        self.refuse(2, "leave it out", "compress", "x.npy", "--shape", "3")

    def test_files(self):
        self.refuse(1, "none.f32: cannot be read: No such file", "compress", "none.f32")
        self.refuse(1, "not a regular file", "compress", ".", "--dtype", "f32")
        self.refuse(1, "x.f32.taut: exists", "compress", "x.f32")
        self.refuse(1, "x.f32: exists", "decompress", "x.f32.taut")
        self.refuse(1, "cannot be written", "compress", "x.f32", "-o", "none/x.taut")
        self.refuse(1, "not a regular file", "compress", "x.f32", "-o", "/dev/null", "--force")
        self.refuse(1, "x.f32: is no .taut file", "info", "x.f32")
        self.file("empty", b"")
        self.refuse(1, "is no .taut file", "decompress", "empty", "-o", "y")
        self.file("big.npy", npy("f32", (10**6, 10**6, 10**6), b""))
        self.refuse(1, "is shorter than its .npy header says", "compress", "big.npy")
        self.file("big_endian.npy", npy("f32", (3,), numbers("f32", 3), descr=">f4"))
        self.refuse(1, "newbyteorder", "compress", "big_endian.npy")
        self.refuse(2, "name the output with -o", "decompress", self.file("x", self.read("x.f32.taut")))

    def test_damage(self):
        good = self.read("x.f32.taut")
        for at in range(0, len(good), 7):
            damaged = bytearray(good)
            damaged[at] ^= 16
            self.file("y.taut", bytes(damaged))
            self.refuse(1, "y.taut", "decompress", "y.taut")
        for size in range(0, len(good), 13):
            self.file("y.taut", good[:size])
            self.refuse(1, "y.taut", "decompress", "y.taut")
            self.refuse(1, "y.taut", "info", "y.taut", "--frames")

    def test_a_signal_leaves_nothing_behind(self):
        with open(self.folder / "big.f32", "wb") as file:
            file.truncate(1 << 32)
        before = sorted(self.folder.iterdir())
        program = subprocess.Popen([Path(PROGRAM).resolve(), "compress", "big.f32"], cwd=self.folder)
        while sorted(self.folder.iterdir()) == before:
            self.assertIsNone(program.poll())
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(), -signal.SIGTERM)
        self.assertEqual(sorted(self.folder.iterdir()), before)


class Texts(ProgramTest):
    def test_help_and_version(self):
        commands = re.findall(r"^  ([a-z-]+)  ", self.succeed("--help"), flags=re.M)
        self.assertEqual(self.succeed(), self.succeed("--help"))
        own = ["run", "advise", "config", "doctor", "compress", "decompress", "info", "bench-codec", "completion", "manual"]
        self.assertEqual(commands, [*own, "bounds", "tune", "report", "trace", "calibrate", "bench-fabric"])
        for command in own:
            text = self.succeed(command, "--help")
            self.assertIn(f"usage: taut {command}", text)
            self.assertIn("Exit codes", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertRegex(self.succeed("--version"), r"^taut \d+\.\d+\.\d+$")

    def test_summaries(self):
        self.file("x.f32", numbers("f32", 1000))
        text = self.succeed("compress", "x.f32", "--bound", "rel:1e-3")
        for word in ("ratio", "max error", "NRMSE", "PSNR", "GB/s", "rel:1e-3 = abs:"):
            self.assertIn(word, text)
        self.assertEqual(self.succeed("compress", "x.f32", "--quiet", "--force"), "")
        self.assertIn("1000 f32", self.succeed("info", "x.f32.taut"))

    def test_bench_codec(self):
        self.file("x.f32", numbers("f32", 1000))
        table = self.succeed("bench-codec", "x.f32", "--bound", "abs:1e-3", "--seconds", "1e-4", "--json")
        lines = {line["codec"]: line for line in table["lines"]}
        self.assertTrue({"planes", "raw", "auto"} <= set(lines))
        self.assertEqual(lines["raw"]["max_error"], 0)
        for line in lines.values():
            self.assertLessEqual(line["max_error"], 1e-3)
            self.assertGreater(min(line[key] for key in ("ratio", "encode_gb_s", "decode_gb_s", "memcpy_gb_s")), 0)
        two = self.run_program("bench-codec", "x.f32", "-b", "abs:1", "-b", "rel:1e-2", "--codec", "auto", "--seconds", "1e-4", "--json")
        self.assertEqual([json.loads(line)["bound"] for line in two.stdout.splitlines()], ["abs:1", "rel:1e-2"])
        built_in = self.succeed("bench-codec", "--codec", "planes", "--seconds", "1e-4")
        self.assertEqual(len(built_in.splitlines()), 2)

    def test_awkward_names_stay_json(self):
        name = self.file('a "b" \\ c.f32', numbers("f32", 10))
        self.assertEqual(self.succeed("compress", name, "--json")["input"], name)


if __name__ == "__main__":
    unittest.main()

"""The program under test, and arrays made without NumPy."""

import json
import math
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("TESTED_PROGRAM", "build/test/bin/taut")

# Type name of the program -> name in struct, NumPy's name in .npy headers, numbers in a value (complex: 2).
TYPES = {
    "f16": ("e", "<f2", 1), "f32": ("f", "<f4", 1), "f64": ("d", "<f8", 1), "bf16": ("H", "<V2", 1),
    "c64": ("f", "<c8", 2), "c128": ("d", "<c16", 2),
    "i8": ("b", "|i1", 1), "u8": ("B", "|u1", 1), "i16": ("h", "<i2", 1), "u16": ("H", "<u2", 1),
    "i32": ("i", "<i4", 1), "u32": ("I", "<u4", 1), "i64": ("q", "<i8", 1), "u64": ("Q", "<u8", 1),
}  # fmt: skip


def numbers(dtype, count):
    """Returns smooth numbers as bytes of the type."""
    code, _, parts = TYPES[dtype]
    waves = [10 + 10 * math.sin(i / 50) for i in range(count * parts)]
    if dtype == "bf16":
        return b"".join(struct.pack("<f", x)[2:] for x in waves)
    if code not in "efd":
        waves = [int(x) for x in waves]
    return struct.pack(f"<{len(waves)}{code}", *waves)


def as_floats(dtype, raw):
    code, _, _ = TYPES[dtype]
    if dtype == "bf16":
        raw, code = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2)), "f"
    return struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)


def npy(dtype, shape, raw, version=1, fortran=False, descr=None):
    header = f"{{'descr': '{descr or TYPES[dtype][1]}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + raw


class ProgramTest(unittest.TestCase):
    """Runs the program in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, contents):
        (self.folder / name).write_bytes(contents)
        return name

    def read(self, name):
        return (self.folder / name).read_bytes()

    def run_program(self, *arguments):
        return subprocess.run([Path(PROGRAM).resolve(), *arguments], cwd=self.folder, capture_output=True, text=True)

    def succeed(self, *arguments):
        """Runs the program, which must succeed; returns its output, parsed if that is JSON."""
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return json.loads(result.stdout) if "--json" in arguments else result.stdout

    def refuse(self, code, text, *arguments):
        """Runs the program, which must fail with the exit code and one line that contains the text, and leave
        all files as they are."""
        before = sorted(self.folder.iterdir())
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertTrue(result.stderr.startswith("taut") and result.stderr.count("\n") == 1, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)

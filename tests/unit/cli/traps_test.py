"""Files that other compressors stumble over: constants, single values, integers under bounds, containers."""

import gzip
import struct
import unittest

from program import TYPES, ProgramTest, npy, numbers


class Traps(ProgramTest):
    def back(self, name, *arguments):
        """Returns the summary of compressing, and the restored bytes."""
        result = self.run_program("compress", name, "--json", "--force", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.succeed("decompress", name + ".taut", "-o", "back", "--quiet", "--force")
        return result.stdout, self.read("back")

    def test_values_without_a_range_and_bounds_above_it(self):
        constant, one = struct.pack("<f", 273.15) * 7001, struct.pack("<f", 0.1)
        near = struct.pack("<2d", 1.0, 1.0 + 2**-52) * 500
        cases = ((constant, "f32"), (one, "f32"), (near, "f64"), (numbers("f32", 5000), "f32"))
        for raw, dtype in cases:
            for bound in ("abs:1e-2", "snap:1e-2", "rel:1e-3", "pwrel:1e-3", "psnr:60", "abs:100"):
                with self.subTest(bytes=len(raw), bound=bound):
                    _, back = self.back(self.file("x", raw), "--dtype", dtype, "--bound", bound)
                    code = TYPES[dtype][0]
                    n = len(raw) // struct.calcsize(code)
                    error = max(abs(a - b) for a, b in zip(struct.unpack(f"<{n}{code}", raw), struct.unpack(f"<{n}{code}", back)))
                    self.assertLessEqual(error, {"abs:100": 100, "pwrel:1e-3": 0.3}.get(bound, 20 * 1e-2))
        scalar = npy("f64", (), struct.pack("<d", 3.25))
        self.assertTrue(self.back(self.file("x.npy", scalar), "--bound", "abs:1e-2")[1][-8:])

    def test_integers_lose_nothing_and_are_coded_under_every_bound(self):
        for dtype in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
            raw = numbers(dtype, 20000)
            for bound in ("abs:10", "snap:10", "rel:0.5", "psnr:10", "pwrel:0.5", "rate:4", "abs:10,codec=planes"):
                with self.subTest(dtype=dtype, bound=bound):
                    summary, back = self.back(self.file("x", raw), "--dtype", dtype, "--bound", bound)
                    self.assertEqual(back, raw)
                    self.assertIn('"mpc"', summary)
                    self.assertLess(len(self.read("x.taut")), len(raw) / 2)

    def test_containers_are_named_and_never_coded_as_numbers(self):
        zeros = bytes(4096)
        for name, start in {
            "an HDF5 file: name a variable, x.f32::VARIABLE": b"\x89HDF\r\n\x1a\n",
            "an HDF5 file": bytes(1024) + b"\x89HDF\r\n\x1a\n",
            "a NetCDF-3 file: convert it": b"CDF\x01",
            "64-bit offsets": b"CDF\x02",
            "CDF-5": b"CDF\x05",
            "a ZIP archive": b"PK\x03\x04",
            "a GRIB file": b"GRIB\0\0\0\x02",
            "a FITS file": b"SIMPLE  =                    T",
            "a TIFF file": b"II*\0",
            "a PNG file": b"\x89PNG\r\n\x1a\n",
            "a file compressed by gzip: unpack it first": gzip.compress(b"x"),
            "a file compressed by zstd": b"\x28\xb5\x2f\xfd",
            "a file compressed by xz": b"\xfd7zXZ\0",
            "a file compressed by bzip2": b"BZh91AY&SY",
            "a .taut file already": b"\x89TAUT\r\n\x1a",
        }.items():
            with self.subTest(name):
                self.file("x.f32", (start + zeros)[:4096])
                self.refuse(2, name, "compress", "x.f32", "--dtype", "f32")
        self.refuse(2, "a .taut file already", "bench-codec", "x.f32", "--json")
        self.succeed("compress", self.file("x.f32", b"BZh9" + zeros), "--quiet")

    def test_bounds_that_leave_little_are_warned_of(self):
        wave = struct.unpack("<20000f", numbers("f32", 20000))
        filled = struct.pack("<20000f", *(1e20 if i % 20 == 0 else x for i, x in enumerate(wave)))
        for text, name, bound in (
            ("x.f32: the bound 100 exceeds the range 20 of the values: nothing of the field is left", "x.f32", "abs:100"),
            ("y.f32: the range is set by 1000 values of 1e+20, the others lie within 20 ", "y.f32", "rel:1e-3"),
        ):
            self.file("x.f32", numbers("f32", 20000))
            self.file("y.f32", filled)
            result = self.run_program("compress", name, "--bound", bound, "--force")
            self.assertEqual((result.returncode, result.stderr.count("\n")), (0, 1), result.stderr)
            self.assertIn("taut compress: warning: " + text, result.stderr)
            self.assertEqual(self.run_program("compress", name, "--bound", bound, "--force", "--quiet").stderr, "")
        self.succeed("compress", "y.f32", "--bound", "rel:1e-3,fill=1e20", "--force")
        self.succeed("compress", self.file("z.f32", struct.pack("<f", 273.15) * 999), "--bound", "abs:1")


if __name__ == "__main__":
    unittest.main()

"""Compresses and restores values: every type, form and bound, in one frame and in several."""

import struct
import unittest

from program import TYPES, ProgramTest, as_floats, npy, numbers

try:
    import numpy
except ImportError:
    numpy = None


class RoundTrip(ProgramTest):
    def back(self, name, *arguments):
        """Returns the summary of compressing, and the restored bytes."""
        summary = self.succeed("compress", name, "--json", "--force", *arguments)
        self.succeed("decompress", name + ".taut", "-o", "back", "--quiet", "--force")
        return summary, self.read("back")

    def test_lossless_is_the_default_for_raw_files_of_every_type(self):
        for dtype in TYPES:
            with self.subTest(dtype):
                raw = numbers(dtype, 600)
                summary, back = self.back(self.file("x", raw), "--dtype", dtype, "--shape", "20x30")
                self.assertEqual(back, raw)
                self.assertEqual((summary["bound"], summary["max_error"], summary["psnr_db"]), ("lossless", 0, None))
                self.assertEqual(summary["shape"], [20, 30])

    def test_npy_files_of_every_type_and_version_come_back_with_shape_and_type(self):
        for dtype, version in [*((dtype, 1) for dtype in TYPES), ("f32", 2), ("f32", 3)]:
            with self.subTest(dtype=dtype, version=version):
                raw = numbers(dtype, 24)
                name = self.file("x.npy", npy(dtype, (2, 3, 4), raw, version))
                _, back = self.back(name, *(["--dtype", "bf16"] if dtype == "bf16" else []))
                self.assertTrue(back.endswith(raw))
                header = f"'descr': '{TYPES[dtype][1]}', 'fortran_order': False, 'shape': (2, 3, 4)"
                self.assertIn(header.encode(), back)

    def test_bounds_hold_for_each_floating_type(self):
        for dtype in ("f16", "bf16", "f32", "f64", "c64", "c128"):
            raw = numbers(dtype, 5000)
            x = as_floats(dtype, raw)
            span = max(x) - min(x)
            for bound, limit in (("abs:0.5", 0.5), ("rel:1e-2", 1e-2 * span), ("psnr:40", span), ("snap:0.5", 0.5)):
                with self.subTest(dtype=dtype, bound=bound):
                    summary, back = self.back(self.file("x", raw), "--dtype", dtype, "--bound", bound)
                    error = max(abs(a - b) for a, b in zip(x, as_floats(dtype, back)))
                    self.assertLessEqual(error, limit)
                    self.assertAlmostEqual(summary["max_error"], error)
                    self.assertAlmostEqual(summary["range"], span)
                    self.assertGreaterEqual(summary["psnr_db"], 40 if bound == "psnr:40" else 0)
                    self.assertTrue(summary["verified"])

    def test_large_arrays_stream_in_frames_of_whole_planes_under_one_range(self):
        # The range of the second frame is a hundredth of the first's; the bound is relative to the range of
        # the whole file.
        planes, plane = 5, 1 << 20
        ramp = b"".join(struct.pack("<f", i * 2.0**-20) for i in range(plane))
        raw = ramp * 3 + bytes(4 * plane * (planes - 3))
        summary, back = self.back(self.file("x.f32", raw), "--shape", f"{planes}x1024x1024", "--bound", "rel:1e-3")
        self.assertEqual(summary["frames"], 2)
        listed = self.succeed("info", "x.f32.taut", "--frames", "--json")["all_frames"]
        self.assertEqual([frame["values"] for frame in listed], [3 * plane, 2 * plane])
        self.assertEqual({frame["bound"] for frame in listed}, {summary["frame_bound"]})
        self.assertLessEqual(float(summary["frame_bound"].removeprefix("abs:")), 1e-3)
        self.assertEqual(len(back), len(raw))

    def test_fill_values_stay_out_of_the_range(self):
        raw = struct.pack("<6f", 1e20, 0, 1, 2, 4, 1e20) * 100
        summary, back = self.back(self.file("x.f32", raw), "--bound", "rel:1e-2,fill=1e20")
        self.assertEqual(summary["range"], 4)
        self.assertEqual(back[:4], raw[:4])

    def test_nothing_constants_and_single_values(self):
        for raw in (b"", bytes(4), bytes(400), struct.pack("<3f", float("nan"), float("inf"), 1)):
            with self.subTest(raw):
                summary, back = self.back(self.file("x.f32", raw), "--bound", "rel:1e-3,codec=planes")
                self.assertEqual((back, summary["frame_bound"]), (raw, "lossless"))
        scalar = npy("f64", (), numbers("f64", 1))
        self.assertTrue(self.back(self.file("x.npy", scalar))[1].endswith(numbers("f64", 1)))

    def test_form_of_the_output_can_be_chosen(self):
        raw = numbers("f32", 12)
        self.succeed("compress", self.file("x.f32", raw), "--shape", "3x4", "--quiet")
        self.succeed("decompress", "x.f32.taut", "--form", "npy", "-o", "x.npy")
        self.assertTrue(self.read("x.npy").endswith(raw))
        self.assertIn(b"(3, 4)", self.read("x.npy"))
        self.succeed("compress", "x.npy")
        self.succeed("decompress", "x.npy.taut", "--form", "raw", "-o", "y")
        self.assertEqual(self.read("y"), raw)

    def test_without_verification(self):
        summary, _ = self.back(self.file("x.f32", numbers("f32", 100)), "--no-verify", "--bound", "abs:1e-3")
        self.assertFalse(summary["verified"])
        self.assertNotIn("max_error", summary)


@unittest.skipUnless(numpy, "NumPy is not there")
class WithNumPy(ProgramTest):
    def test_numpy_reads_what_it_wrote(self):
        for dtype in ("f2", "f4", "f8", "c8", "c16", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
            for order in "CF":
                with self.subTest(dtype=dtype, order=order):
                    array = numpy.asarray(numpy.arange(60).reshape(3, 4, 5), dtype="<" + dtype, order=order)
                    numpy.save(self.folder / "x.npy", array)
                    self.succeed("compress", "x.npy", "--force")
                    self.succeed("decompress", "x.npy.taut", "--force")
                    back = numpy.load(self.folder / "x.npy")
                    self.assertEqual((back.dtype, back.flags.f_contiguous), (array.dtype, array.flags.f_contiguous))
                    self.assertTrue(numpy.array_equal(back, array))


if __name__ == "__main__":
    unittest.main()

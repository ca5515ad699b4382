"""Compresses files as what has changed since an earlier file: forms of that file, and files that are refused."""

import math
import struct
import unittest

from program import ProgramTest, as_floats, npy

COUNT = 20000
DECIMALS = "abs:1e-4,codec=planes"


def step(t, count=COUNT):
    """Returns the values of a time step as bytes: smooth in time, rough in space."""
    return struct.pack(f"<{count}f", *(math.sin(12.9898 * i) + 0.01 * t * math.cos(3 * i) for i in range(count)))


class References(ProgramTest):
    def setUp(self):
        super().setUp()
        for t in range(3):
            self.file(f"{t}.f32", step(t))
        self.file("0.npy", npy("f32", (100, 200), step(0)))
        self.succeed("compress", "0.f32", "--bound", DECIMALS)
        self.succeed("decompress", "0.f32.taut", "-o", "back0.f32")

    def compress(self, new, *old, bound=DECIMALS):
        references = [word for name in old for word in ("--reference", name)]
        return self.succeed("compress", new, *references, "--bound", bound, "-o", "new.taut", "--force", "--json")

    def decompress(self, *old):
        references = [word for name in old for word in ("--reference", name)]
        self.succeed("decompress", "new.taut", *references, "-o", "back", "--force", "--quiet")
        return self.read("back")

    def check(self, raw, bound, *old):
        back = self.decompress(*old)
        for x, y in zip(as_floats("f32", raw), as_floats("f32", back)):
            self.assertLessEqual(abs(x - y), bound)
        return back

    def test_the_bound_holds_in_fewer_bytes(self):
        alone = self.compress("1.f32")
        plain = self.check(step(1), 1e-4)
        behind = self.compress("1.f32", "0.f32.taut")
        self.assertEqual(self.check(step(1), 1e-4, "0.f32.taut"), plain)
        self.assertLess(behind["output_bytes"], 0.7 * alone["output_bytes"])
        self.assertEqual(behind["referring_frames"], behind["frames"])
        self.assertNotIn("referring_frames", alone)

    def test_a_taut_file_and_what_came_out_of_it_are_one_reference(self):
        self.compress("1.f32", "0.f32.taut")
        values = self.decompress("0.f32.taut")
        self.assertEqual(self.decompress("back0.f32"), values)
        self.file("back0.npy", npy("f32", (COUNT,), self.read("back0.f32")))
        self.assertEqual(self.decompress("back0.npy"), values)

    def test_two_references_predict_a_steady_change(self):
        one = self.compress("2.f32", "1.f32", bound="abs:1e-5,codec=planes")
        two = self.compress("2.f32", "1.f32", "0.npy", bound="abs:1e-5,codec=planes")
        self.assertLess(two["output_bytes"], 0.7 * one["output_bytes"])
        self.check(step(2), 1e-5, "1.f32", "0.npy")
        self.refuse(1, "refers to other values", "decompress", "new.taut", "--reference", "0.npy", "--reference", "1.f32",
                    "-o", "x")  # fmt: skip

    def test_every_chunk_refers_to_its_place(self):
        count = (1 << 22) + 5000
        old = struct.pack(f"<{count}B", *(i * i % 251 for i in range(count)))
        self.file("old.u8", old)
        self.file("new.u8", old[:-1] + b"\xff")
        self.succeed("compress", "old.u8", "--bound", "lossless,codec=mpc")
        summary = self.compress("new.u8", "old.u8.taut", bound="lossless,codec=mpc")
        self.assertGreater(summary["frames"], 1)
        self.assertGreater(summary["ratio"], 50)
        self.assertEqual(self.decompress("old.u8"), self.read("new.u8"))

    def test_info_tells_of_references(self):
        self.compress("1.f32", "0.f32.taut")
        about = self.succeed("info", "new.taut", "--json")
        self.assertEqual(about["references"], 1)
        self.assertEqual([len(state) for state in about["first_frame"]["references"]], [16])
        self.assertIn("to an earlier file, which decompress needs", self.succeed("info", "new.taut"))
        self.assertIn(about["first_frame"]["references"][0], self.succeed("info", "new.taut", "--frames"))
        alone = self.succeed("info", "0.f32.taut", "--json")
        self.assertEqual(alone["references"], 0)
        self.assertNotIn("references", alone["first_frame"])

    def test_a_file_without_references_is_of_version_1(self):
        self.assertEqual(self.read("0.f32.taut")[8], 1)
        self.compress("1.f32", "0.f32.taut")
        self.assertEqual(self.read("new.taut")[8], 2)

    def test_wrong_references_are_refused(self):
        self.compress("1.f32", "0.f32.taut")
        decompress = "decompress", "new.taut", "-o", "x"
        self.refuse(2, "new.taut: refers to an earlier file; name it with --reference", *decompress)
        self.refuse(1, "new.taut: refers to other values than --reference names", *decompress, "--reference", "0.f32")
        self.refuse(2, "name it with --reference", *decompress, "--reference", "0.f32", "--reference", "1.f32")
        self.refuse(1, "none: cannot be read", *decompress, "--reference", "none")
        self.refuse(2, "holds 10 values of f32, and new.taut 20000 of f32", *decompress, "--reference",
                    self.file("short", step(0, 10)))  # fmt: skip
        self.refuse(2, "no multiple of 4", *decompress, "--reference", self.file("odd", b"x" * 79999))
        self.refuse(2, "refers to no other file; leave it out", "decompress", "0.f32.taut", "-o", "x", "--reference", "0.f32")
        self.refuse(2, "refers to another file itself", "compress", "2.f32", "-o", "x", "--reference", "new.taut")
        self.file("0.f64", self.read("0.f32") * 2)
        self.file("f64.npy", npy("f64", (COUNT,), self.read("0.f64")))
        self.refuse(2, "holds 20000 values of f64", "compress", "1.f32", "-o", "x", "--reference", "f64.npy")
        self.refuse(2, "give them one by one", "compress", "1.f32", "2.f32", "--reference", "0.f32")
        self.refuse(2, "one file too many", "compress", "1.f32", "-o", "x", *["--reference", "0.f32"] * 3)

    def test_an_older_state_of_the_earlier_file_is_refused(self):
        self.compress("1.f32", "back0.f32")
        changed = bytearray(self.read("back0.f32"))
        changed[4 * COUNT - 1] ^= 1
        self.file("back0.f32", changed)
        self.refuse(1, "refers to other values", "decompress", "new.taut", "-o", "x", "--reference", "back0.f32")

    def test_help_manual_and_completion_have_the_option(self):
        for command in ("compress", "decompress"):
            self.assertIn("--reference OLD", self.succeed(command, "--help"))
        self.assertIn("\\-\\-reference OLD", self.succeed("manual"))
        self.assertEqual(self.succeed("completion", "bash").count("--reference "), 2)


if __name__ == "__main__":
    unittest.main()

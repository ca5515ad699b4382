"""Series of files, each coded as what has changed since the one before: bytes, bounds, and files out of order."""

import math
import struct
import unittest

from program import ProgramTest, as_floats, npy

COUNT = 20000
BOUND = 1e-4
SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 1e-42, 1e30)


def step(t, count=COUNT, special=False):
    """Returns the values of a time step as bytes: smooth in time, rough in space."""
    values = [math.sin(12.9898 * i) + 0.01 * t * math.cos(3 * i) for i in range(count)]
    if special:
        values[7 * t : 7 * t + len(SPECIAL)] = SPECIAL
    return struct.pack(f"<{count}f", *values)


class Series(ProgramTest):
    def steps(self, n, **how):
        """Writes n time steps; returns the names of the files, and of those that compress makes of them."""
        names = [self.file(f"s{t:02}.f32", step(t, **how)) for t in range(n)]
        return names, [f"{name}.taut" for name in names]

    def compress(self, names, *options, bound=f"abs:{BOUND},codec=planes"):
        return self.succeed(
            "compress", *names, "--bound", bound, "--force", "--quiet", *options
        )

    def references(self, name):
        return self.succeed("info", name, "--json")["references"]

    def check(self, name, raw):
        for x, y in zip(as_floats("f32", raw), as_floats("f32", self.read(name))):
            same = math.isnan(x) and math.isnan(y) or x == y
            self.assertTrue(same or abs(x - y) <= BOUND, (x, y))

    def test_values_are_those_of_single_files_in_fewer_bytes(self):
        for special in (False, True):
            names, coded = self.steps(5, special=special)
            self.compress(names)
            self.succeed("decompress", *coded, "-o", "alone/", "--force", "--quiet")
            alone = [len(self.read(name)) for name in coded]
            self.compress(names, "--series", *(["--no-verify"] if special else []))
            self.assertEqual([self.references(name) for name in coded], [0, 1, 1, 1, 1])
            self.succeed(
                "decompress", "--series", *coded, "-o", "back/", "--force", "--quiet"
            )
            for t, name in enumerate(names):
                self.assertEqual(self.read(f"back/{name}"), self.read(f"alone/{name}"))
                self.check(f"back/{name}", step(t, special=special))
                self.assertTrue(t == 0 or len(self.read(coded[t])) < 0.75 * alone[t])

    def test_one_in_k_stands_alone(self):
        names, coded = self.steps(7)
        self.compress(names, "--series=3")
        self.assertEqual(
            [self.references(name) for name in coded], [0, 1, 1, 0, 1, 1, 0]
        )
        self.succeed("decompress", "--series", *coded[3:5], "-o", "back/", "--quiet")
        self.check(f"back/{names[4]}", step(4))
        self.succeed("decompress", coded[6], "-o", "last", "--quiet")
        self.compress(names, "--series=1")
        self.assertEqual({self.references(name) for name in coded}, {0})

    def test_files_that_are_missing_renamed_or_in_another_order_are_refused(self):
        names, coded = self.steps(4)
        self.compress(names, "--series")
        decompress = "decompress", "--series", "-o", "back/", "--force", "--quiet"
        self.succeed(*decompress, *coded)
        self.refuse(1, "s03.f32.taut: refers to other values than those of s01.f32.taut before it", *decompress, *coded[:2],
                    coded[3])  # fmt: skip
        self.refuse(
            1,
            "give all files in the order of taut compress",
            *decompress,
            coded[0],
            coded[2],
        )
        self.refuse(
            2,
            "s01.f32.taut: refers to an earlier file, and is the first one",
            *decompress,
            coded[1],
        )
        self.refuse(
            2,
            "refers to an earlier file; name it with --reference",
            "decompress",
            coded[1],
            "-o",
            "x",
        )
        short = self.file("short.f32", step(0, 10))
        self.compress([short])
        self.refuse(
            2,
            "short.f32.taut cannot be that file: it holds other values",
            *decompress,
            "short.f32.taut",
            coded[1],
        )
        self.file(coded[2], self.read(coded[3]))  # under another name
        self.refuse(
            1,
            "s02.f32.taut: refers to other values than those of s01.f32.taut",
            *decompress,
            *coded[:3],
        )

    def test_the_last_file_may_be_decompressed_behind_the_one_before(self):
        names, coded = self.steps(2)
        self.compress(names, "--series")
        self.succeed(
            "decompress", coded[1], "--reference", coded[0], "-o", "back", "--quiet"
        )
        self.check("back", step(1))

    def test_other_shapes_begin_anew(self):
        self.file("a.npy", npy("f32", (100, 200), step(0)))
        self.file("b.npy", npy("f32", (200, 100), step(1)))
        self.file("c.npy", npy("f32", (10,), step(2, 10)))
        self.file("d.npy", npy("f32", (0,), b""))
        self.file("e.npy", npy("f32", (0,), b""))
        names = [f"{letter}.npy" for letter in "abcde"]
        coded = [f"{name}.taut" for name in names]
        self.compress(names, "--series")
        self.assertEqual([self.references(name) for name in coded], [0, 1, 0, 0, 1])
        self.succeed("decompress", "--series", *coded, "-o", "back/", "--quiet")
        for name, bytes_of_values in zip(
            names, (4 * COUNT, 4 * COUNT, 40, 0, 0), strict=True
        ):
            self.assertEqual(len(self.read(f"back/{name}")), 128 + bytes_of_values)

    def test_lossless_files_of_several_frames(self):
        count = (1 << 22) + 5000
        old = struct.pack(f"<{count}B", *(i * i % 251 for i in range(count)))
        names = [self.file("0.u8", old), self.file("1.u8", old[:-1] + b"\xff")]
        self.compress(names, "--series", bound="lossless,codec=mpc")
        self.assertLess(50 * len(self.read("1.u8.taut")), count)
        self.succeed(
            "decompress", "--series", "0.u8.taut", "1.u8.taut", "-o", "back/", "--quiet"
        )
        self.assertEqual(self.read("back/1.u8"), self.read("1.u8"))

    def test_a_file_that_fails_is_passed_over(self):
        names, coded = self.steps(3)
        self.file(names[1], b"x" * 5)
        result = self.run_program(
            "compress",
            *names,
            "--series",
            "--bound",
            f"abs:{BOUND},codec=planes",
            "--quiet",
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("s01.f32", result.stderr)
        self.succeed(
            "decompress", "--series", coded[0], coded[2], "-o", "back/", "--quiet"
        )
        self.check(f"back/{names[2]}", step(2))

    def test_command_lines_that_cannot_be_followed(self):
        names = self.steps(2)[0]
        for distance in ("0", "-1", "1.5", "x", "nan"):
            self.refuse(2, "--series", "compress", *names, f"--series={distance}")
        self.refuse(
            2,
            "is not for --series",
            "compress",
            *names,
            "--series",
            "--reference",
            names[0],
        )
        for command in ("compress", "decompress"):
            self.assertIn("--series", self.succeed(command, "--help"))


if __name__ == "__main__":
    unittest.main()

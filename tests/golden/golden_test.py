"""Decodes the golden frames by tools/decode_frame.py, which is written from the specification alone. Every
frame decodes to the values whose hash is in frames.txt, and the values lie within the bound of the input,
which this file computes by its own formulas."""
import math
import struct
import sys
import tarfile
import unittest
from fractions import Fraction
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent.parent / "tools"), str(FOLDER.parent / "support")]
import decode_frame  # noqa: E402
from test_size import is_sampled  # noqa: E402

M64 = (1 << 64) - 1
SPECIAL = [math.inf, -math.inf, math.nan, -0.0]
MANTISSA_BITS = {"f32": 23, "f64": 52, "c64": 23, "c128": 52, "f16": 10, "bf16": 7}
GREATEST_EXPONENT = {"f16": 15, "f64": 1023, "c128": 1023}  # others: 127


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & M64
    return h


def mixed(x):
    x = x + 0x9E3779B97F4A7C15 & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def number(pattern, i, k):
    """Returns number i of series k of a pattern: (mantissa, exponent), or a float that is NaN, infinite or
    -0."""
    h = mixed(i + 65536 * k)
    noise = (h >> 44) - (1 << 19)
    triangle = abs((i * 7 + 13 * k) % 512 - 256) * 16
    if pattern == "special":
        if h % 16 < 4:
            return SPECIAL[h % 16]
        if h % 16 == 4:
            return (3 if h % 32 == 4 else -3), 100
        return (5, -140) if h % 16 == 5 else (noise, -12)
    printed, step = triangle + (noise & 7), 49517601571415
    quotient = abs(noise) // 256 * (1 if noise >= 0 else -1)
    return {
        "zeros": (0, 0),
        "ramp": (i * 3 - 500 + 11 * k, -6),
        "triangle": (triangle, -8),
        "steps": ((i // 37 + k) % 9 - 4, 0),
        "noise": (noise, -12),
        "sparse": (noise if h % 23 == 0 else 0, -12),
        "rows": (abs(i * 7 % 512 - 256) * 16 + (0 if mixed(i // 32 + 65536 * k) % 16 else noise & 255), -12),
        "packed": ((triangle // 16 + (noise & 7)) * step + (1 << 59), -57),
        "units22": ((printed * step >> 33) - (2400 * step >> 33), -22),
        "units46": ((printed * step >> 4) - (2400 * step >> 4), -46),
        "printed22": (((printed << 22) + 500) // 1000, -22),
        "printed46": (((printed << 46) + 50) // 100, -46),
        "pairs": ((-20000 if i % 2 else 20000) + triangle, -8),
        "wild": (quotient, h % 60 - 40),
    }[pattern]


def rounded(m, e, kind):
    """Returns m * 2^e, rounded towards zero to the precision and range of the type; infinity beyond the
    range."""
    digits, greatest = MANTISSA_BITS[kind], GREATEST_EXPONENT.get(kind, 127)
    excess = max(0, abs(m).bit_length() - digits - 1, 1 - greatest - digits - e)
    size = abs(m) >> excess
    too_large = size.bit_length() + e + excess - 1 > greatest
    return math.copysign(math.inf if too_large else math.ldexp(size, e + excess), m)


@cache
def inputs(kind, pattern, count, series):
    """Returns the numbers of a series as floats, rounded towards zero to the type; for integer types, ints of
    its range."""
    values = []
    for i in range(count * (2 if kind in ("c64", "c128") else 1)):
        x = number(pattern, i, series)
        if kind[0] in "iu":
            bits = int(kind[1:])
            m = (x[0] if isinstance(x, tuple) else 0) & (1 << bits) - 1
            x = m - (1 << bits) if kind[0] == "i" and m >> (bits - 1) else m
        elif isinstance(x, tuple):
            x = rounded(*x, kind)
        values.append(x)
    return values


def ulp(kind, x):
    """Returns half a unit in the last place of a number of this size."""
    digits = MANTISSA_BITS[kind]
    exponent = max(math.frexp(x)[1] - 1, 1 - GREATEST_EXPONENT.get(kind, 127))
    return Fraction(2) ** (exponent - digits - 1)


def allowed(kind, bound, value, x):
    if bound == "pointwise":
        return Fraction(value) * abs(Fraction(x))
    return None if bound == "rate" else Fraction(value)


def surely_within(bound, value, y, x):
    """Returns true if floats, whose rounding is far below 1e-9, show that the error of y is allowed."""
    most = value * abs(x) if bound == "pointwise" else value
    return y == x or (bound != "rate" and 1e-300 < most and abs(y - x) < most * (1 - 1e-9))


class GoldenFrames(unittest.TestCase):
    def references(self, row, archive):
        """Returns the references of a frame: the series of its pattern from 1 on; of a sum, an earlier sum of noise."""
        of, pattern, count, n = row[2], row[6], int(row[7]), int(row[12]) if row[12:] else 0
        numbers = {"f32": 1, "f64": 2, "f16": 3, "bf16": 4, "c64": 5, "c128": 6, "i8": 7, "u8": 8, "i16": 9, "u16": 10,
                   "i32": 11, "u32": 12, "i64": 13, "u64": 14}  # fmt: skip
        kind = decode_frame.Type(numbers[of])
        if n > 0 and int(row[8]) > 1:
            name = row[0].removesuffix(f"_behind{n}").replace(f"_{pattern}_", "_noise_")
            _, bits = decode_frame.decode(archive.extractfile(f"{name}.taut").read())
            yield decode_frame.state_of(numbers[of], count, b"".join(struct.pack(kind.bits, b) for b in bits)), bits
            return
        for k in range(1, 1 + n):
            values = inputs(of, pattern, count, k)
            bits = [kind.of(x) if kind.float else x for x in values]
            data = b"".join(struct.pack(kind.bits, b) for b in bits)
            yield decode_frame.state_of(numbers[of], count, data), bits

    def check_values(self, row, decoded):
        name, _, kind, bound, value, _, pattern, count, addends = row[:9]
        series = [inputs(kind, pattern, int(count), k) for k in range(int(addends))]
        for i, (y, xs) in enumerate(zip(decoded, zip(*series))):
            if len(xs) == 1 and surely_within(bound, float(value), y, xs[0]):
                continue
            if not all(map(math.isfinite, xs)):
                expected = sum(x for x in xs if not math.isfinite(x))
                self.assertTrue(y == expected or y != y and expected != expected, f"{name} at {i}: {y} for {xs}")
                continue
            exact = sum(map(Fraction, xs))
            most = allowed(kind, bound, float(value), exact)
            if most is None:
                continue
            most = most * len(xs) + (ulp(kind, float(exact)) if len(xs) > 1 else 0)
            self.assertLessEqual(abs(Fraction(y) - exact), most, f"{name} at {i}: {y} for {xs}")

    def test_frames(self):
        archives = {path.stem: tarfile.open(path) for path in FOLDER.glob("*.tar")}
        self.addCleanup(lambda: [archive.close() for archive in archives.values()])
        for line in (FOLDER / "frames.txt").read_text().splitlines():
            row = line.split()
            if line.startswith("#") or not is_sampled():
                continue
            with self.subTest(row[0]):
                frame = archives[row[1]].extractfile(row[0] + ".taut").read()
                self.assertEqual((len(frame), fnv1a(frame)), (int(row[9]), int(row[10], 16)))
                kind, bits = decode_frame.decode(frame, list(self.references(row, archives[row[1]])))
                self.assertEqual(fnv1a(b"".join(struct.pack(kind.bits, b) for b in bits)), int(row[11], 16))
                self.check_values(row, [kind.value(b) for b in bits])


if __name__ == "__main__":
    unittest.main()

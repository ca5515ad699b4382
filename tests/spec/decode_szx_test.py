"""Compares szx frames of the library bit for bit with tools/decode_szx.py, which is written from the
specification alone."""
import math
import random
import unittest

from decode_frame_test import FORMATS, decode, decode_frame, encode, fields


def widths(rng, n, bound):
    """Returns values whose blocks each have another width."""
    return [100 * bound * (i // 64) + rng.uniform(0, 1) * bound * 2.0 ** (i // 64 % 48) for i in range(n)]


class SzxFramesAgainstTheSpecification(unittest.TestCase):
    def check(self, frame, kind, count):
        self.assertEqual(frame[5], 4)
        self.assertEqual(decode_frame.decode(frame)[1], decode(frame, kind, count))

    def test_frames(self):
        rng = random.Random(6)
        for kind in FORMATS:
            for n in (0, 1, 63, 64, 65, 1000, 5120, 5121):
                for bound in (1e-3, 0.37):
                    checksum = rng.choice(["", ",checksum=on"])
                    for name, x in [*fields(rng, n, bound), ("widths", widths(rng, n, bound)), ("zero", [0.0] * n)]:
                        with self.subTest(kind=kind, n=n, bound=bound, field=name):
                            self.check(encode(x, kind, f"abs:{bound!r},codec=szx{checksum}"), kind, n)

    def test_damage_is_found(self):
        frame = encode([math.sin(i) for i in range(300)], 1, "abs:0.001,codec=szx,checksum=on")
        for at in range(0, len(frame), 3):
            broken = bytearray(frame)
            broken[at] ^= 1 << at % 8
            with self.subTest(at=at), self.assertRaises(decode_frame.Damaged):
                decode_frame.decode(bytes(broken))

    def test_damage_without_a_checksum_is_judged_alike(self):
        frame = encode([math.sin(0.1 * i) for i in range(300)], 1, "abs:0.001,codec=szx")
        for at in range(64, 110):
            for byte in (0, 1, 2, 7, 64, 127, 128, 254, 255):
                broken = bytearray(frame)
                broken[at] = byte
                with self.subTest(at=at, byte=byte):
                    try:
                        expected = decode_frame.decode(bytes(broken))[1]
                    except decode_frame.Damaged:
                        with self.assertRaises(AssertionError):
                            decode(bytes(broken), 1, 300)
                    else:
                        self.assertEqual(decode(bytes(broken), 1, 300), expected)


if __name__ == "__main__":
    unittest.main()

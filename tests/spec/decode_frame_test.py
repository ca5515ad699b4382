"""Compares frames of the library bit for bit with tools/decode_frame.py, which is written from the
specification alone."""
import ctypes
import math
import os
import random
import struct
import sys
import unittest
from fractions import Fraction

sys.path[:0] = [os.path.join(os.path.dirname(__file__), folder) for folder in ("../../tools", "../support")]
import decode_frame  # noqa: E402
from test_size import ONE_CASE_IN, is_sampled  # noqa: E402

taut = ctypes.CDLL(os.environ["TAUT_LIBRARY"])
taut.TAUT_Max_bytes.restype = ctypes.c_size_t
taut.TAUT_Max_bytes.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_uint]
taut.TAUT_Encode.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p,
                             ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
taut.TAUT_Decode.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
taut.TAUT_Frame_add.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                                ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
taut.TAUT_Encode_with_references.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p,
                                             ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                             ctypes.c_void_p]
taut.TAUT_Decode_with_references.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int,
                                             ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
LENGTHS = (0, 1, 7, 65, 1000, 4097)


FORMATS = {1: "f", 2: "d"}  # formats of the struct module


def filled(call, capacity):
    out, size = ctypes.create_string_buffer(capacity), ctypes.c_size_t()
    status = call(out, capacity, ctypes.byref(size))
    assert status == 0, status
    return out.raw[: size.value]


def encode(values, kind, coding):
    """Encodes real numbers, or the parts of complex numbers."""
    of = decode_frame.Type(kind)
    data, count = b"".join(struct.pack(of.bits, of.of(v)) for v in values), len(values) // of.parts
    return filled(lambda *out: taut.TAUT_Encode(data, count, kind, coding.encode(), *out),
                  taut.TAUT_Max_bytes(kind, count, 1))


class Earlier:
    """References, newest first, of real numbers or the parts of complex numbers."""

    def __init__(self, kind, arrays):
        of = decode_frame.Type(kind)
        self.kind, self.count = kind, len(arrays[0]) // of.parts
        self.data = [b"".join(struct.pack(of.bits, of.of(x)) for x in values) for values in arrays]
        self.pointers = (ctypes.c_char_p * len(arrays))(*self.data)
        self.for_the_specification = [(decode_frame.state_of(kind, self.count, d), of.unpack(d)) for d in self.data]

    def encode(self, values, coding):
        of = decode_frame.Type(self.kind)
        data = b"".join(struct.pack(of.bits, of.of(x)) for x in values)
        return filled(lambda *out: taut.TAUT_Encode_with_references(data, self.count, self.kind, coding.encode(),
                                                                    self.pointers, len(self.data), *out),
                      taut.TAUT_Max_bytes(self.kind, self.count, 1))

    def decode(self, frame):
        """Returns the status and the bits of the values."""
        of = decode_frame.Type(self.kind)
        size = self.count * of.size * of.parts
        out = ctypes.create_string_buffer(max(1, size))
        status = taut.TAUT_Decode_with_references(frame, len(frame), self.pointers, len(self.data), out, self.count,
                                                  self.kind)
        return status, of.unpack(out.raw[:size])


def add(a, b, kind, count):
    return filled(lambda *out: taut.TAUT_Frame_add(a, len(a), b, len(b), *out), taut.TAUT_Max_bytes(kind, count, 8))


def decode(frame, kind, count):
    of = decode_frame.Type(kind)
    size = count * of.size * of.parts
    out = ctypes.create_string_buffer(max(1, size))
    assert taut.TAUT_Decode(frame, len(frame), out, count, kind) == 0
    return of.unpack(out.raw[:size])


def has_zfp():
    out, size = ctypes.create_string_buffer(4096), ctypes.c_size_t()
    return taut.TAUT_Encode(bytes(4), 1, 1, b"abs:1,codec=zfp", out, len(out), ctypes.byref(size)) == 0


needs_zfp = unittest.skipUnless(has_zfp(), "a build without libzfp")


def fields(rng, n, bound):
    yield "smooth", [math.sin(0.01 * i) * 1000 * bound for i in range(n)]
    yield "constant", [3 * bound] * n
    yield "large", [rng.uniform(-1e6, 1e6) * bound for _ in range(n)]
    yield "wide", [rng.uniform(-1e11, 1e11) * bound for _ in range(n)]
    yield "fill", [1e30 if i // 40 % 3 == 0 else rng.uniform(-50, 50) * bound for i in range(n)]
    yield "special", [rng.choice([math.nan, math.inf, -math.inf, -0.0, 1e-40, rng.uniform(-9, 9) * bound]) for _ in range(n)]
    yield "scattered", [rng.uniform(-1, 1) * 2.0 ** rng.randint(-60, 60) for _ in range(n)]
    yield "two series", [(100 if i % 2 else -100) * bound + math.sin(0.01 * i) * bound for i in range(n)]


class FramesAgainstTheSpecification(unittest.TestCase):
    def check(self, frame, kind, count):
        if not is_sampled():
            return
        got, bits = decode_frame.decode(frame)
        self.assertEqual((got.bits, got.parts), decode_frame.TYPES[kind][:2])
        self.assertEqual(bits, decode(frame, kind, count))

    def test_frames_and_sums(self):
        rng = random.Random(5)
        for kind in range(1, 7):
            for n in LENGTHS if kind < 4 else (7, 1000):
                for bound in (1e-3, 0.37):
                    options = rng.choice(["", ",codec=planes,predictor=pairs", ",codec=planes,predictor=none,checksum=on",
                                          ",codec=planes,predictor=second", ",codec=planes,predictor=delta+64",
                                          ",codec=planes,predictor=second+70+300"])
                    numbers = fields(rng, n * decode_frame.Type(kind).parts, bound)
                    frames = {name: encode(x, kind, f"abs:{bound!r}{options}") for name, x in numbers}
                    total = None
                    for name, frame in frames.items():
                        with self.subTest(kind=kind, n=n, bound=bound, options=options, field=name):
                            self.check(frame, kind, n)
                            total = frame if total is None else add(total, frame, kind, n)
                            self.check(total, kind, n)

    def check_behind(self, rng, kind, n, bound, coding):
        """Checks frames of all fields behind one and two fields that differ a little, or altogether."""
        found = 0
        all_fields = list(fields(rng, n * decode_frame.Type(kind).parts, bound))
        for name, x in all_fields:
            near = [y + rng.randint(-3, 3) * bound for y in x]
            for arrays in ([near], [near, x], [rng.choice(all_fields)[1]]):
                if not is_sampled():
                    continue
                with self.subTest(kind=kind, n=n, coding=coding, field=name, references=len(arrays)):
                    earlier = Earlier(kind, arrays)
                    frame = earlier.encode(x, coding)
                    found += frame[46]
                    _, bits = decode_frame.decode(frame, earlier.for_the_specification)
                    self.assertEqual((0, bits), earlier.decode(frame))
                    if frame[5] == 2:
                        total = add(add(frame, frame, kind, n), frame, kind, n)
                        _, bits = decode_frame.decode(total, earlier.for_the_specification)
                        self.assertEqual((0, bits), earlier.decode(total))
                    if frame[46] > 0:
                        self.refuse(frame, earlier)
        return found

    def refuse(self, frame, earlier):
        """Checks that nobody decodes a frame without its references, or behind others."""
        (state, bits), *rest = earlier.for_the_specification
        for references in ([], [(state ^ 1, bits), *rest]):
            with self.assertRaises(decode_frame.Damaged):
                decode_frame.decode(frame, references)
        out = ctypes.create_string_buffer(max(1, len(earlier.data[0])))
        self.assertNotEqual(taut.TAUT_Decode(frame, len(frame), out, earlier.count, earlier.kind), 0)
        earlier.data[0] = earlier.data[0][:-1] + bytes([earlier.data[0][-1] ^ 1])
        earlier.pointers[0] = earlier.data[0]
        self.assertNotEqual(earlier.decode(frame)[0], 0)

    def test_frames_behind_references(self):
        rng = random.Random(9)
        found = 0
        for kind in range(1, 7):
            for n in (1, 65) if kind < 3 else (300,):
                for predictor in ("auto", "delta", "second"):
                    found += self.check_behind(rng, kind, n, 0.37, f"abs:0.37,codec=planes,predictor={predictor}")
            found += self.check_behind(rng, kind, 65, 2.0**-7, "snap:0.01,codec=planes,checksum=on")
        found += self.check_behind(rng, 1, 4200, 0.37, "abs:0.37,codec=planes,predictor=none")
        self.assertGreater(found, 300 / ONE_CASE_IN * 0.8)

    def test_mpc_frames_behind_references(self):
        rng = random.Random(10)
        found = 0
        for kind in range(1, 7):
            for n in (1, 65) if kind > 1 else (1100,):
                for bound in ("lossless", "pwrel:1e-3"):
                    found += self.check_behind(rng, kind, n, 1e-3, f"{bound},codec=mpc,predictor=d{rng.randint(0, 8)}")
        self.assertGreater(found, 100 / ONE_CASE_IN * 0.8)

    def test_blocks_frames(self):
        rng = random.Random(6)
        for kind in (1, 3, 4):
            for n in (0, 1, 63, 64, 65, 1000):
                for rate in (8, 6, 4):
                    for name, x in fields(rng, n, 1e-2):
                        with self.subTest(kind=kind, n=n, rate=rate, field=name):
                            frame = encode(x, kind, f"block:{rate},checksum=on")
                            self.assertEqual(len(frame), 64 + -(-2 * -(-n // 64) // 16) * 16 + -(-n // 64) * 8 * rate)
                            self.check(frame, kind, n)

    @needs_zfp
    def test_zfp_frames(self):
        rng = random.Random(6)
        for kind in FORMATS:
            for n, dims in ((0, ""), (1, ""), (7, ""), (66, ",dims=6x11"), (150, ""), (150, ",dims=10x15")):
                for bound in ("abs:0.37", "abs:1e-3", "rate:4", "rate:9"):
                    for name, x in fields(rng, n, 1e-2):
                        with self.subTest(kind=kind, n=n, dims=dims, bound=bound, field=name):
                            self.check(encode(x, kind, f"{bound},codec=zfp{dims}"), kind, n)

    @needs_zfp
    def test_zfp_fields_of_several_boxes(self):
        x = [1e-3 * (i % 700) for i in range(70000)]
        self.check(encode(x, 1, "abs:0.1,codec=zfp,dims=100x700"), 1, len(x))

    def test_exact_frames(self):
        x = [math.nan, 1.5, -0.0, 1e30]
        self.check(encode(x, 2, "lossless"), 2, len(x))
        for kind, (form, *_) in decode_frame.TYPES.items():
            if kind > 6:
                values = struct.pack(f"<3{form[1]}", 1, 2, 127)
                frame = filled(lambda *out: taut.TAUT_Encode(values, 3, kind, b"lossless", *out), 1000)
                self.check(frame, kind, 3)

    def test_snapped_frames(self):
        rng = random.Random(6)
        for kind in (1, 2, 3):
            for name, x in fields(rng, 1000, 1e-3):
                with self.subTest(kind=kind, field=name):
                    self.check(encode(x, kind, "snap:1e-3,codec=planes"), kind, len(x))

    def test_mpc_frames(self):
        rng = random.Random(6)
        for kind in FORMATS:
            for n in (0, 1, 65, 1100):
                for bound in ("lossless", "pwrel:1e-3", "pwrel:0.2"):
                    lags = rng.choice(("", "+64", "+70+300"))
                    coding = f"{bound},codec=mpc,predictor=d{rng.randint(0, 8)}{lags}"
                    for name, x in fields(rng, n, 1e-3):
                        with self.subTest(kind=kind, n=n, coding=coding, field=name):
                            self.check(encode(x, kind, coding), kind, n)

    def test_sparse_records_of_mpc(self):
        rng = random.Random(9)
        for kind in FORMATS:
            for density in (0.002, 0.04, 0.3):
                x = [rng.choice((1.0, rng.random())) if rng.random() < density else 0.0 for _ in range(5000)]
                for predictor in ("d0", "d3", "d1+70"):
                    with self.subTest(kind=kind, density=density, predictor=predictor):
                        self.check(encode(x, kind, f"lossless,codec=mpc,predictor={predictor}"), kind, len(x))

    def test_exponents_frames(self):
        rng = random.Random(8)
        for kind in (3, 4):
            for n in (0, 1, 65, 1100, 5000):
                for name, x in fields(rng, n, 1e-3):
                    with self.subTest(kind=kind, n=n, field=name):
                        self.check(encode(x, kind, "lossless,codec=exponents"), kind, n)

    def test_mpc_frames_are_exact_or_within_their_bound(self):
        for kind in FORMATS:
            x = [math.sin(0.01 * i) * 10 ** (i % 40 - 20) for i in range(2000)]
            x = list(struct.unpack(f"<2000{FORMATS[kind]}", struct.pack(f"<2000{FORMATS[kind]}", *x)))
            for bound, coding in ((0, "lossless"), (1e-3, "pwrel:1e-3"), (0.2, "pwrel:0.2")):
                form, bits = decode_frame.decode(encode(x, kind, coding + ",codec=mpc"))
                y = struct.unpack(f"<2000{FORMATS[kind]}", b"".join(struct.pack(form.bits, b) for b in bits))
                for a, b in zip(map(Fraction, x), map(Fraction, y)):
                    self.assertLessEqual(abs(a - b), Fraction(bound) * abs(a))

    def test_damage_is_found(self):
        for coding in ("abs:1e-3,checksum=on", "lossless,codec=mpc,checksum=on"):
            self.find_damage(encode([math.sin(i // 3) for i in range(300)], 1, coding))

    def test_damage_that_no_checksum_tells_of(self):
        frame = bytearray(encode([math.sin(i // 3) for i in range(300)], 1, "lossless,codec=mpc,predictor=d1"))
        frame[-5] ^= 128  # the top bitmap, beyond 19 vectors
        with self.assertRaises(decode_frame.Damaged):
            decode_frame.decode(bytes(frame))

    def find_damage(self, frame):
        for at in range(0, len(frame), 3):
            broken = bytearray(frame)
            broken[at] ^= 1 << at % 8
            with self.subTest(at=at), self.assertRaises(decode_frame.Damaged):
                decode_frame.decode(bytes(broken))
        for size in range(0, len(frame), 5):
            with self.subTest(size=size), self.assertRaises(decode_frame.Damaged):
                decode_frame.decode(frame[:size])


if __name__ == "__main__":
    unittest.main()

"""Encodes and decodes real fields with every codec and bound by the C API; NumPy alone checks the decoded
values.

TAUT_LIBRARY names libtaut.so, TAUT_FIELDS the folder with MANIFEST.json and the fields, plain or as .xz.
Skipped where NumPy or the fields are missing.
"""
import ctypes
import json
import lzma
import os
import sys
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: needs NumPy")
    sys.exit(77)

FIELDS = Path(os.environ.get("TAUT_FIELDS", ""))
if not (FIELDS / "MANIFEST.json").is_file():
    print("skipped: TAUT_FIELDS names no folder of fields")
    sys.exit(77)

taut = ctypes.CDLL(os.environ["TAUT_LIBRARY"])
taut.TAUT_Max_bytes.restype = ctypes.c_size_t
taut.TAUT_Max_bytes.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_uint]
taut.TAUT_Encode.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p,
                             ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
taut.TAUT_Decode.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
taut.TAUT_Last_error.restype = ctypes.c_char_p
TYPES = {"f32": (1, "<f4", "<u4"), "f64": (2, "<f8", "<u8"), "f16": (3, "<f2", "<u2"), "bf16": (4, "<u2", "<u2")}
POLICY_ERROR, TYPE_ERROR = 4, 3

CODECS = ("auto", "planes", "szx", "zfp", "mpc", "raw")
EXACT_CODECS = ("auto", "mpc", "exponents", "raw")  # of 16-bit numbers, without loss
BOUNDS = ("lossless", "rel:1e-2", "rel:1e-3", "rel:1e-4", "abs", "snap", "psnr:60", "psnr:90", "pwrel:1e-3", "pwrel:0.1",
          "rate:12")


def round_trip(values, kind, coding):
    """Returns the decoded values and the frame's bytes; None if the codec does not serve the type or bound."""
    number = TYPES[kind][0]
    capacity = taut.TAUT_Max_bytes(number, values.size, 1)
    frame, size = np.empty(capacity, np.uint8), ctypes.c_size_t()
    status = taut.TAUT_Encode(values.ctypes.data, values.size, number, coding.encode(), frame.ctypes.data, capacity,
                              ctypes.byref(size))
    if status in (POLICY_ERROR, TYPE_ERROR):
        return None
    assert status == 0, (coding, taut.TAUT_Last_error())
    decoded = np.empty_like(values)
    status = taut.TAUT_Decode(frame.ctypes.data, size.value, decoded.ctypes.data, values.size, number)
    assert status == 0, (coding, taut.TAUT_Last_error())
    return decoded, size.value


def load(entry):
    kind = "f64" if entry["raw_file"].endswith("f64") else "f32"
    plain = FIELDS / entry["raw_file"]
    data = plain.read_bytes() if plain.is_file() else lzma.decompress((FIELDS / entry["file"]).read_bytes())
    return kind, np.frombuffer(data, TYPES[kind][1])


def in_16_bits(values):
    """Yields the values rounded to float16, and the upper halves of float32, which are bfloat16."""
    single = values.astype("<f4")
    with np.errstate(over="ignore"):
        yield "f16", single.astype("<f2")
    yield "bf16", (single.view("<u4") >> 16).astype("<u2")


def entries_of_manifest():
    entries = json.loads((FIELDS / "MANIFEST.json").read_text())
    return entries["fields"] if isinstance(entries, dict) else entries


def wide(values):
    return values.astype(np.longdouble)


class RealFields(unittest.TestCase):
    def check_special(self, x, y):
        """Checks that NaN and infinities keep their positions and class."""
        odd = ~np.isfinite(x)
        np.testing.assert_array_equal(x[odd], y[odd])
        self.assertTrue(np.isfinite(y[~odd]).all())

    def check_bound(self, kind, bound, entry, x, y):
        finite = np.isfinite(x)
        error = np.abs(wide(x[finite]) - wide(y[finite]))
        counted = x[finite] if "fill_value" not in entry else x[finite & (x != x.dtype.type(entry["fill_value"]))]
        span = np.longdouble(counted.max()) - np.longdouble(counted.min())
        name, _, text = bound.partition(":")
        value = np.longdouble(text or 0)
        if name == "lossless":
            np.testing.assert_array_equal(x.view(TYPES[kind][2]), y.view(TYPES[kind][2]))
        elif name == "rel":
            self.assertLessEqual(error.max(), value * span)
        elif name in ("abs", "snap"):
            self.assertLessEqual(error.max(), value)
        elif name == "pwrel":
            self.assertTrue((error <= value * np.abs(wide(x[finite]))).all())
        elif name == "psnr":
            rms = np.sqrt(np.mean(error**2))
            self.assertTrue(rms == 0 or 20 * np.log10(span / rms) >= value)
        if name == "snap":
            step = np.exp2(np.floor(np.log2(2 * float(value))))
            moved = y[finite][error > 0]
            np.testing.assert_array_equal(np.remainder(moved, step), 0)

    def test_contract(self):
        entries, checked = entries_of_manifest(), 0
        for entry in entries:
            kind, x = load(entry)
            fill = f",fill={entry['fill_value']}" if entry.get("fill_value") else ""
            span = float(entry["max"]) - float(entry["min"])
            for codec in CODECS:
                for bound in BOUNDS:
                    if bound in ("abs", "snap"):
                        bound += f":{span * 1e-3!r}"
                    relative = fill if bound.startswith(("rel", "psnr")) else ""
                    coding = f"{bound},codec={codec}{relative}"
                    with self.subTest(field=entry["name"], coding=coding):
                        result = round_trip(x, kind, coding)
                        if result is None:
                            continue
                        y, size = result
                        self.check_special(x, y)
                        self.check_bound(kind, bound, entry, x, y)
                        checked += 1
        print(f"{checked} round trips of {len(entries)} fields kept their contract")
        self.assertGreaterEqual(checked, 16 * 11)

    def test_every_bit_of_16_bit_numbers_returns(self):
        smallest = {codec: 0 for codec in EXACT_CODECS}
        for entry in entries_of_manifest():
            for kind, x in in_16_bits(load(entry)[1]):
                for codec in EXACT_CODECS:
                    with self.subTest(field=entry["name"], type=kind, codec=codec):
                        y, size = round_trip(x, kind, f"lossless,codec={codec}")
                        np.testing.assert_array_equal(x.view("<u2"), y.view("<u2"))
                        smallest[codec] += size < x.nbytes
        self.assertGreater(smallest["exponents"], 16)  # it codes; frames of stored values would return as well


if __name__ == "__main__":
    unittest.main()

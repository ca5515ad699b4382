"""Tests that arrays of any kind come back from compress within their bound."""

import struct

import contract
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
import taut
from hypothesis import given
from hypothesis.extra import numpy as hnp

FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)]
COMPLEX = [np.dtype(t) for t in (np.complex64, np.complex128)]
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
BOUNDS = ["abs:1e-3", "abs:1e30", "abs:1e-30", "rel:1e-3", "psnr:60", "snap:0.01", "pwrel:1e-2", "lossless"]


@st.composite
def arrays(draw, dtypes=tuple(FLOATS + COMPLEX + INTEGERS)):
    """Draws arrays of any bits, or of smooth values, of any shape."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=9))
    count = int(np.prod(shape))
    if draw(st.booleans()):
        seed = draw(st.integers(0, 2**32 - 1))
        raw = np.random.default_rng(seed).bytes(count * dtype.itemsize)
        values = np.frombuffer(raw, dtype)
    else:
        scale = draw(st.sampled_from([1e-3, 1.0, 100.0]))
        values = (scale * np.sin(0.1 * np.arange(count))).astype(dtype)
    return values.reshape(shape, order=draw(st.sampled_from("CF")))


@given(arrays(), st.sampled_from(BOUNDS), st.sampled_from(["", ",checksum=on"]))
def test_comes_back_within_the_bound(values, bound, option):
    back = taut.decompress(taut.compress(values, bound + option))
    contract.check(values, back, bound)


@given(arrays(), st.data())
def test_damage_is_never_taken_for_an_array(values, data):
    packed = bytearray(taut.compress(values, "abs:1e-2"))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(taut.FrameError):
        taut.decompress(packed)
    with pytest.raises(taut.FrameError):
        taut.decompress(packed[:at])


@given(st.binary(max_size=200))
def test_any_bytes_are_rejected(data):
    with pytest.raises(taut.FrameError):
        taut.decompress(data)


def test_many_frames():
    values = np.cumsum(np.random.default_rng(1).normal(size=(5, 1500, 1000)), axis=1).astype(np.float32)
    packed = taut.compress(values, "rel:1e-4")
    assert taut.info(packed).frames > 1
    contract.check(values, taut.decompress(packed), "rel:1e-4")


def test_order_alignment_and_steps(wave):
    for values in (np.asfortranarray(wave), wave[::2, ::3], wave[::-1], wave.T[3:, 1:]):
        contract.check(values, taut.decompress(taut.compress(values, "abs:1e-3")), "abs:1e-3")
    assert taut.decompress(taut.compress(np.asfortranarray(wave))).flags.f_contiguous
    misaligned = np.frombuffer(b"x" + wave.tobytes(), np.float32, offset=1)
    contract.check(misaligned, taut.decompress(taut.compress(misaligned)), "lossless")


def test_read_only_and_other_buffers(wave):
    wave.setflags(write=False)
    packed = taut.compress(wave, "abs:1e-3")
    back = taut.decompress(memoryview(packed))
    assert back.flags.writeable
    assert np.array_equal(taut.decompress(taut.compress(memoryview(wave), "abs:1e-3")), back)
    assert taut.decompress(taut.compress(b"abc")).tobytes() == b"abc"


def test_the_program_reads_it_and_it_reads_what_the_program_wrote(wave, tmp_path, taut_program):
    (tmp_path / "wave.taut").write_bytes(taut.compress(wave, "abs:1e-3,codec=szx"))
    taut_program("decompress", tmp_path / "wave.taut", "-o", tmp_path / "back.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "back.npy"), taut.decompress((tmp_path / "wave.taut").read_bytes()))
    np.save(tmp_path / "wave.npy", np.asfortranarray(wave))
    taut_program("compress", tmp_path / "wave.npy", "--bound", "rel:1e-3", "-o", tmp_path / "two.taut")
    data = (tmp_path / "two.taut").read_bytes()
    contract.check(wave, taut.decompress(data), "rel:1e-3")
    assert data == taut.compress(np.asfortranarray(wave), "rel:1e-3")


class DLPackBfloat16:
    """Exports bfloat16 as other frameworks do; NumPy itself cannot import bfloat16."""

    def __init__(self, values):
        import ctypes

        self.bits = values.view(np.uint16)
        self.extents = (ctypes.c_int64 * 2)(*values.shape)
        self.tensor = ctypes.create_string_buffer(
            struct.pack("<QiiiBBHQQQQQ", self.bits.ctypes.data, 1, 0, values.ndim, 4, 16, 1,
                        ctypes.addressof(self.extents), 0, 0, 0, 0))  # fmt: skip
        self.capsule = ctypes.pythonapi.PyCapsule_New
        self.capsule.restype, self.capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.address = ctypes.addressof(self.tensor)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return self.capsule(self.address, b"dltensor", None)


def test_dlpack(wave):
    class OnlyDLPack:
        def __dlpack__(self, **arguments):
            return wave.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return wave.__dlpack_device__()

    contract.check(wave, taut.decompress(taut.compress(OnlyDLPack(), "abs:1e-3")), "abs:1e-3")
    half = wave.astype(ml_dtypes.bfloat16)
    contract.check(half, taut.decompress(taut.compress(DLPackBfloat16(half), "abs:1e-2")), "abs:1e-2")


def test_memory_of_another_accelerator_is_refused():
    class OnDevice:
        def __dlpack_device__(self):
            return (10, 0)  # ROCm

        def __dlpack__(self, **_):
            raise AssertionError("not asked for")

    with pytest.raises(taut.DTypeError, match="copy it to the host"):
        taut.compress(OnDevice())


def test_the_grid_of_a_field_that_is_mostly_one_value_is_found():
    z, y, x = np.ogrid[:80, :96, :96]
    distance = np.sqrt((z - 40.0) ** 2 + (y - 50) ** 2 + (x - 40) ** 2)
    wave = np.where(distance < 9, np.sin(distance) * np.exp(-distance / 4), 0)
    step = (wave.max() - wave.min()) / 65000
    packed = np.rint((wave - wave.min()) / step) * step + wave.min()
    assert len(taut.compress(packed, "lossless")) <= 1.01 * len(taut.compress(packed, "lossless,predictor=grid"))

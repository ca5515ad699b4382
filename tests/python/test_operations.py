"""Tests of scale and statistics, which work on compressed values."""

import struct

import numpy as np
import pytest
import taut
from taut import _file


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("factor", [-1, 0.25, -3.7])
def test_scaled_values_are_within_the_scaled_bound(dtype, factor):
    values = (10 * np.sin(0.01 * np.arange(5_000_000))).astype(dtype).reshape(1000, 5000)
    packed = taut.scale(taut.compress(values, "abs:1e-3,codec=planes"), factor)
    back = taut.decompress(packed)
    assert back.shape == values.shape and back.dtype == values.dtype
    error = back - values.astype(np.complex128 if dtype is np.complex64 else np.float64) * factor
    assert max(np.abs(error.real).max(), np.abs(error.imag).max()) <= 1e-3 * abs(factor) + 1e-5
    assert taut.info(packed).bound == f"abs:{abs(factor) * 1e-3:g}"


def test_statistics_are_within_the_bound():
    values = np.random.default_rng(1).normal(size=5_000_000)
    values[::7] = np.nan
    found = taut.statistics(taut.compress(values, "abs:1e-2"))
    assert found.count == np.isfinite(values).sum()
    for computed, exact in zip(found[1:], (np.nanmean(values), np.nanmin(values), np.nanmax(values))):
        assert abs(computed - exact) <= 1e-2
    nothing = taut.statistics(taut.compress(np.full(10, np.nan)))
    assert nothing.count == 0 and np.isnan(nothing.mean) and np.isnan(nothing.max)
    assert taut.statistics(taut.compress(np.empty(0))).count == 0


def test_what_cannot_be_multiplied_says_why():
    with pytest.raises(taut.ArgumentError, match="factor"):
        taut.scale(taut.compress(np.ones(10), "abs:1e-3,codec=planes"), 0)
    with pytest.raises(taut.ArgumentError, match="power of two"):
        taut.scale(taut.compress(np.ones(10, np.float16), "abs:1e-3,codec=planes"), 3)
    with pytest.raises(taut.FrameError, match="codec=planes"):
        taut.scale(taut.compress(np.ones(10), "lossless"), -1)


def frame_of(count, payload, addends=1, codec=3):
    """Returns a frame of float32 whose header names this count and these addends."""
    header = b"TAUT" + bytes([1, codec, 1, 1]) + struct.pack("<QddQIIII", count, 0, 0, len(payload), addends, 0, 0, 0) + bytes(4)
    return header + struct.pack("<I", _file.checksum(header)) + payload


@pytest.mark.parametrize("count", [2, 1 << 30, 1 << 62, (1 << 62) + 1])
@pytest.mark.parametrize("operation", [taut.info, taut.statistics, taut.decompress, lambda data: taut.scale(data, 2)])
def test_a_frame_with_another_count_than_its_index_is_damaged(operation, count):
    about = _file.Description(1, _file.NPY, (1,), "lossless")
    with pytest.raises(taut.FrameError):
        operation(_file.write(about, [(frame_of(count, bytes(4)), 1)]))


def test_an_array_that_no_frame_can_hold_is_refused_before_memory_is_taken():
    count = 1000 * _file.MOST_VALUES
    about = _file.Description(1, _file.NPY, (count,), "lossless")
    frames = [(frame_of(_file.MOST_VALUES, b""), _file.MOST_VALUES)] * 1000
    with pytest.raises(taut.FrameError, match="sizes in its index"):
        taut.decompress(_file.write(about, frames))


def test_a_sum_of_many_addends_needs_no_memory_for_each():
    packed = taut.compress(np.ones(1 << 16, np.float32), "abs:1e-3,codec=planes")
    contents = _file.read(packed)
    frame = bytearray(contents.frame(0).tobytes())
    frame[40:44] = struct.pack("<I", (1 << 32) - 1)
    frame[60:64] = struct.pack("<I", _file.checksum(bytes(frame[:60])))
    scaled = taut.scale(_file.write(contents.about, [(bytes(frame), 1 << 16)]), -2)
    assert len(scaled) < 2 * len(packed)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_frame_of_few_bytes_is_long_enough(count):
    values = np.arange(count, dtype=np.uint8)
    assert np.array_equal(taut.decompress(taut.compress(values, "lossless,codec=raw")), values)

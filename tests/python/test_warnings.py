"""Tests of warnings about bounds that leave little of an array, and of integers, which no bound touches."""

import warnings

import numpy as np
import pytest
import taut

WAVE = np.sin(np.arange(20000) * 1e-3)


def warned(values, bound):
    """Returns the warning of `compress`; None: there is none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        taut.compress(values, bound)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else None


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_a_bound_above_the_range(dtype):
    values = WAVE.astype(dtype)
    for bound in ("abs:100", "snap:100"):
        assert "the bound 100 exceeds the range 2 of the values: nothing of the field is left" in warned(values, bound)
    assert warned(values, "abs:1e-2") is None


@pytest.mark.parametrize(("dtype", "fill", "text"), [("f4", 1e20, "1e+20"), ("f8", -9999.0, "-9999"), ("f2", 60000.0, "6e+04")])
def test_a_range_that_missing_values_set(dtype, fill, text):
    values = WAVE.astype(dtype)
    values[::20] = fill
    found = warned(values, "rel:1e-3")
    assert f"the range is set by 1000 values of {text}," in found
    assert f"fill={text} leaves them out" in found
    assert warned(values, f"rel:1e-3,fill={text}") is None
    assert warned(values, "lossless") is None


def test_what_is_no_reason_to_warn():
    mask = (WAVE > 0.9).astype("f4")
    spike = np.where(np.arange(20000) == 7, 1e6, WAVE)
    nothing = np.full(20000, np.nan)
    for values in (np.full(20000, 273.15), np.zeros(0), np.array(3.25), mask, spike, nothing, WAVE):
        for bound in ("rel:1e-3", "psnr:60", "pwrel:1e-3", "abs:1e-2"):
            assert warned(values, bound) is None, (values, bound)
    fine = np.where(np.arange(20000) % 20 == 0, 1000, WAVE)
    assert warned(fine, "rel:1e-7") is None  # the bound still resolves the other values
    assert warned((1000 * WAVE).astype("i4"), "abs:1e6") is None


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("bound", ["abs:10", "rel:0.5", "psnr:10", "snap:10", "pwrel:0.5", "rate:4", "block:8", "abs:10,codec=planes"])
def test_integers_are_coded_without_loss_under_every_bound(dtype, bound):
    values = (100 + 20 * WAVE).astype(dtype).reshape(100, 200)
    packed = taut.compress(values, bound)
    about = taut.info(packed)
    assert about.ratio > 3
    assert (about.codec, about.frame_bound) == ("mpc", "lossless")
    np.testing.assert_array_equal(taut.decompress(packed), values)


def test_a_codec_that_stores_integers_is_taken_by_name():
    assert taut.info(taut.compress(np.arange(20000), "abs:1,codec=raw")).codec == "raw"

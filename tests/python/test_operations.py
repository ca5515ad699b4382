"""Tests of scale and statistics, which work on compressed values."""

import numpy as np
import pytest
import taut


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

"""Checks of each kind of bound on an array, with NumPy alone."""

import numpy as np


def parts(values):
    """Returns the real numbers of an array: both parts of complex numbers."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind == "c":
        return values.view(values.real.dtype)
    return values


def wide(values):
    """Returns exactly these values, in a type whose differences are exact to 1e-15 of themselves."""
    with np.errstate(invalid="ignore"):  # signalling NaN
        return parts(values).astype(np.float64)


def bits(values):
    return np.ascontiguousarray(values).view(np.uint8)


def same(a, b):
    """Returns true if two arrays have the same shape, type and bits."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def finite_range(values, fill=None):
    fill = None if fill is None else values.dtype.type(fill)
    x = wide(values)
    x = x[np.isfinite(x)]
    x = x[x != fill] if fill is not None else x
    return (x.max() - x.min()) if x.size else x.dtype.type(0)


def check(before, after, bound, fill=None):
    """Fails unless `after` is within `bound`, such as "abs:1e-3", of `before`."""
    assert after.shape == before.shape and after.dtype == before.dtype
    kind, _, value = bound.partition(":")
    if kind == "lossless" or before.dtype.kind in "iu":
        np.testing.assert_array_equal(bits(after), bits(before))
        return
    x, y = wide(before), wide(after)
    special = ~np.isfinite(x)
    np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
    np.testing.assert_array_equal(x[np.isinf(x)], y[np.isinf(x)])
    error = np.abs(x[~special] - y[~special])
    if kind == "rate" or error.size == 0:
        return
    most = float(value)
    if kind == "rel":
        most = most * finite_range(before, fill)
    elif kind == "psnr":
        most = finite_range(before, fill) * 10 ** (-most / 20)
    elif kind == "pwrel":
        most = most * np.abs(x[~special])
    slack = 1 + 1e-12  # for the rounding of this check itself
    assert np.all(error <= most * slack), f"{bound}: error {error.max()}"

"""Arrays for the tests of files."""

import ml_dtypes
import numpy as np
import pytest


def special(dtype):
    """Returns smooth values with NaN, infinities, zeros of both signs and subnormal numbers."""
    values = np.sin(np.linspace(0, 9, 600)).astype(dtype)
    values[[3, 77, 400]] = [np.nan, np.inf, -np.inf]
    values[5:8] = [-0.0, 0.0, np.finfo(dtype).smallest_subnormal]
    return values.reshape(20, 30)


@pytest.fixture(params=["float32", "float64", "float16", "complex64", "complex128", "int16", "uint8", "int64"])
def field(request):
    """Returns a field of each type that all of the formats hold."""
    dtype = np.dtype(request.param)
    if dtype.kind == "f":
        return special(dtype)
    if dtype.kind == "c":
        values = np.empty((20, 30), dtype)
        values.real = special(values.real.dtype)
        values.imag = values.real[::-1]
        return values
    return np.arange(600).reshape(20, 30).astype(dtype)


@pytest.fixture
def bfloat16():
    return np.sin(np.linspace(0, 9, 600)).astype(ml_dtypes.bfloat16).reshape(20, 30)

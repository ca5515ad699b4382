"""Conversion of arrays, buffers and DLPack objects to NumPy arrays, without copying."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ._dtypes import bfloat16, size_of
from ._errors import DTypeError


@dataclass(frozen=True)
class Values:
    """Contiguous values, in memory of the host or of a GPU."""

    address: int
    type: int  # enum TAUT_Type
    shape: tuple[int, ...]
    fortran: bool  # Fortran order: the first index is the fastest
    owner: Any  # keeps the memory alive

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * size_of(self.type)

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents, slowest first, as in memory."""
        return self.shape[::-1] if self.fortran else self.shape


def as_array(data: Any) -> np.ndarray:
    """Returns a NumPy array on the memory of `data`.

    Parameters
    ----------
    data
        A NumPy array, an object with the buffer protocol, or an object with ``__dlpack__`` in host memory.
    """
    if isinstance(data, np.ndarray):
        return data
    try:
        return np.asarray(memoryview(data))
    except (TypeError, ValueError, BufferError):
        pass
    if hasattr(data, "__dlpack__"):
        return _from_dlpack(data)
    if np.isscalar(data) or isinstance(data, (list, tuple)):
        raise DTypeError(f"{type(data).__name__} is no array: use numpy.asarray(...) and say its dtype")
    raise DTypeError(f"{type(data).__name__} has neither the buffer protocol nor __dlpack__: give a NumPy array")


def _from_dlpack(data: Any) -> np.ndarray:
    device = data.__dlpack_device__() if hasattr(data, "__dlpack_device__") else (1, 0)
    if device[0] not in (1, 3, 11):  # host, and host memory that CUDA or ROCm have pinned
        raise DTypeError("the array lies in the memory of an accelerator; copy it to the host first")
    try:
        return np.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError):  # bfloat16 is unknown to NumPy
        from ._core import bfloat16_bits

        return np.asarray(bfloat16_bits(data)).view(bfloat16())


def address_of(array: np.ndarray) -> int:
    """Returns the address of the first value."""
    return int(array.__array_interface__["data"][0])

"""Conversion of arrays, buffers and DLPack objects to NumPy arrays, without copying."""

from dataclasses import dataclass
from math import prod
from typing import Any, Optional

import numpy as np

from ._dlpack import ON_HOST, device_of, is_bool, number_of, tensor_of
from ._dtypes import BFLOAT16, bfloat16, dtype_of, size_of
from ._errors import ArgumentError, DTypeError


@dataclass(frozen=True)
class Values:
    """Contiguous values, in memory of the host or of a GPU."""

    address: int
    type: int  # enum TAUT_Type
    shape: tuple[int, ...]
    fortran: bool  # Fortran order: the first index is the fastest
    owner: Any  # keeps the memory alive
    source: Any = None  # the array of another library that has the values
    device: Optional[int] = None  # number of the GPU, if it is known

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
        A NumPy array, an object with the buffer protocol, or an object with ``__dlpack__`` or ``__array_interface__`` in
        host memory.
    """
    if isinstance(data, np.ndarray):
        return data
    try:
        return np.asarray(memoryview(data))
    except (TypeError, ValueError, BufferError):
        pass
    device = device_of(data)
    if device is not None and device[0] not in ON_HOST:
        raise DTypeError("the array is in memory of an accelerator other than CUDA's; copy it to the host first")
    if device is not None:
        return _from_dlpack(data)
    if hasattr(data, "__array_interface__"):
        return np.asarray(data)
    if np.isscalar(data) or isinstance(data, (list, tuple)):
        raise DTypeError(f"{type(data).__name__} is no array: use numpy.asarray(...) and say its dtype")
    raise DTypeError(f"{type(data).__name__} has neither the buffer protocol nor __dlpack__: give a NumPy array")


class _Exported:
    """Host memory that NumPy takes by its array interface; keeps the memory alive."""

    def __init__(self, tensor: Any, dtype: np.dtype) -> None:
        strides = tuple(step * dtype.itemsize for step in tensor.strides)
        self.__array_interface__ = {
            "shape": tuple(tensor.shape),
            "typestr": dtype.str,
            "data": (tensor.address, False),
            "strides": strides,
            "version": 3,
        }
        self._tensor = tensor


def _from_dlpack(data: Any) -> np.ndarray:
    """Returns a writable array, as numpy.from_dlpack does not for producers of DLPack below 1.0."""
    tensor = tensor_of(data)
    if is_bool(tensor):
        return np.asarray(_Exported(tensor, np.dtype(bool)))
    if number_of(tensor) == BFLOAT16:  # is not in array interfaces
        return np.asarray(_Exported(tensor, np.dtype(np.uint16))).view(bfloat16())
    return np.asarray(_Exported(tensor, dtype_of(number_of(tensor))))


def check_writable(data: Any) -> None:
    """Raises if an array to receive into must not be changed."""
    flags = getattr(data, "flags", None)
    if type(data).__module__.partition(".")[0] in ("jax", "jaxlib"):
        raise ArgumentError(
            "the array to receive into is read-only, as all of JAX's are: take the array that the call returns without "
            "recvbuf, or receive into a NumPy or CuPy array"
        )
    if getattr(flags, "writeable", True) is False:
        raise ArgumentError("the array to receive into is read-only: pass a copy of it")


def address_of(array: np.ndarray) -> int:
    """Returns the address of the first value."""
    return int(array.__array_interface__["data"][0])

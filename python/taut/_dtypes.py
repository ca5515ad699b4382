"""NumPy types and their numbers in frames (enum TAUT_Type)."""

from typing import Optional

import numpy as np

from ._errors import DTypeError

BFLOAT16 = 4
_NUMBERS = {
    "float32": 1,
    "float64": 2,
    "float16": 3,
    "bfloat16": BFLOAT16,
    "complex64": 5,
    "complex128": 6,
    "int8": 7,
    "uint8": 8,
    "int16": 9,
    "uint16": 10,
    "int32": 11,
    "uint32": 12,
    "int64": 13,
    "uint64": 14,
}
_NAMES = {number: name for name, number in _NUMBERS.items()}


def number_of(dtype: np.dtype) -> Optional[int]:
    """Returns the number of a NumPy type in this machine's byte order; None if there is none."""
    return _NUMBERS.get(dtype.name) if dtype.isnative else None


def coded_number(dtype: np.dtype) -> int:
    """Returns the number of a NumPy type; raises if there is none."""
    number = number_of(dtype)
    if number is not None:
        return number
    if not dtype.isnative:
        raise DTypeError(f"values of type {dtype} are in foreign byte order; use array.astype(dtype.newbyteorder('='))")
    raise DTypeError(f"values of type {dtype} are not coded; convert them to one of {', '.join(_NUMBERS)}")


def name_of(number: int) -> str:
    """Returns the name of the NumPy type of a number."""
    return _NAMES[number]


def size_of(number: int) -> int:
    """Returns the size of a value in bytes."""
    return 2 if number == BFLOAT16 else np.dtype(_NAMES[number]).itemsize


def dtype_of(number: int) -> np.dtype:
    """Returns the NumPy type of a number; bfloat16 needs the package ml_dtypes."""
    if number == BFLOAT16:
        return bfloat16()
    return np.dtype(_NAMES[number])


def bfloat16() -> np.dtype:
    """Returns bfloat16 of ml_dtypes; raises if ml_dtypes is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError("NumPy has no bfloat16 of its own; pip install ml_dtypes") from None
    found: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return found

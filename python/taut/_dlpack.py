"""DLPack: the memory of other libraries' arrays, on the host or on a GPU, without copying."""

from typing import Any, Optional

from . import _core
from ._errors import ArgumentError, DTypeError

CPU, CUDA, CUDA_HOST, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 11, 13  # DLDeviceType
ON_HOST = (CPU, CUDA_HOST, ROCM_HOST)  # the last two are host memory that CUDA or ROCm have pinned
# (DLDataTypeCode, bits) -> enum TAUT_Type
_TYPES = {(2, 32): 1, (2, 64): 2, (2, 16): 3, (4, 16): 4, (5, 64): 5, (5, 128): 6}
_TYPES |= {(code, bits): 7 + 2 * power + code for code in (0, 1) for power, bits in enumerate((8, 16, 32, 64))}
_REFUSALS = (AttributeError, BufferError, RuntimeError, TypeError, ValueError)  # exceptions of __dlpack__


def device_of(data: Any) -> Optional[tuple[int, int]]:
    """Returns (DLDeviceType, number) of an array's device; None if the array has no DLPack."""
    if not hasattr(data, "__dlpack_device__"):
        return (CPU, 0) if hasattr(data, "__dlpack__") else None
    try:
        kind, number = data.__dlpack_device__()
    except _REFUSALS as error:
        raise DTypeError(f"{type(data).__name__} does not hand over its memory: {error}") from None
    return int(kind), int(number)


def tensor_of(data: Any, **options: Any) -> _core.Tensor:
    """Returns the memory that an array hands over; `options` are those of ``__dlpack__``."""
    try:
        tensor = _core.Tensor(data.__dlpack__(**options))
    except _REFUSALS as error:
        raise DTypeError(f"{type(data).__name__} does not hand over its memory: {error}") from None
    if tensor.address == 0 and 0 not in tensor.shape:
        raise ArgumentError("the array's memory has been freed")
    return tensor


def is_bool(tensor: _core.Tensor) -> bool:
    return tuple(tensor.type) == (6, 8, 1)


def number_of(tensor: _core.Tensor) -> int:
    """Returns the TAUT_Type of a tensor's values; raises if there is none."""
    *type_and_bits, lanes = tensor.type
    number = _TYPES.get(tuple(type_and_bits)) if lanes == 1 else None
    if number is None:
        raise DTypeError("values of this type are not coded; convert them to float32")
    return number

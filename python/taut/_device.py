"""Arrays in memory of a GPU, by DLPack or ``__cuda_array_interface__`` and their rules about streams.

The library works on CUDA's legacy default stream and waits for its own work there. The producer is therefore asked to make
that stream wait for the producer's pending work, and need not wait itself.
"""

from math import prod
from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import Values
from ._dtypes import coded_number
from ._errors import DTypeError

_CUDA, _CUDA_MANAGED = 2, 13  # DLDeviceType
_DEFAULT_STREAM = 1  # the legacy one, in DLPack and in __cuda_array_interface__
# (DLDataTypeCode, bits) -> enum TAUT_Type
_TYPES = {(2, 32): 1, (2, 64): 2, (2, 16): 3, (4, 16): 4, (5, 64): 5, (5, 128): 6}
_TYPES |= {(code, bits): 7 + 2 * power + code for code in (0, 1) for power, bits in enumerate((8, 16, 32, 64))}


def device_values(data: Any, writable: bool = False) -> Optional[Values]:
    """Returns the values of `data` if they are on a CUDA device, else None.

    Raises
    ------
    DTypeError
        If the type of the values is not coded, the values are not contiguous, or `writable` is set and they are read-only.
    """
    if hasattr(data, "__dlpack_device__"):
        return _by_dlpack(data, writable) if data.__dlpack_device__()[0] in (_CUDA, _CUDA_MANAGED) else None
    if hasattr(data, "__cuda_array_interface__"):
        return _by_interface(data, writable)
    return None


def _by_dlpack(data: Any, writable: bool) -> Values:
    if writable and getattr(getattr(data, "flags", None), "writeable", True) is False:
        raise DTypeError("the array is read-only")
    tensor = _core.Tensor(data.__dlpack__(stream=_DEFAULT_STREAM))
    *type_and_bits, lanes = tensor.type
    number = _TYPES.get(tuple(type_and_bits)) if lanes == 1 else None
    if number is None:
        raise DTypeError("values of this type are not coded; convert them to float32")
    shape = tuple(tensor.shape)
    values = Values(tensor.address, number, shape, _is_fortran(shape, tensor.strides), tensor)
    if tensor.device == _CUDA_MANAGED and values.count:
        _core.wait_for_stream(values.address, _DEFAULT_STREAM)  # the host may read this memory
    return values


def _by_interface(data: Any, writable: bool) -> Values:
    about = data.__cuda_array_interface__
    dtype, shape = np.dtype(about["typestr"]), tuple(about["shape"])
    address, read_only = about["data"]
    if read_only and writable:
        raise DTypeError("the array is read-only")
    if about.get("mask") is not None:
        raise DTypeError("arrays with a mask are not coded; fill in the masked values")
    strides = about.get("strides")
    in_values = _c_strides(shape) if strides is None else [step // dtype.itemsize for step in strides]
    values = Values(address or 0, coded_number(dtype), shape, _is_fortran(shape, in_values), data)
    stream = about.get("stream")
    if stream is not None and values.count:
        _core.wait_for_stream(values.address, stream)
    return values


def _c_strides(shape: tuple[int, ...]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _is_fortran(shape: tuple[int, ...], strides: list[int]) -> bool:
    """Returns true if the values are in Fortran order and not in C order; raises if they are not contiguous."""
    steps = [(n, step) for n, step in zip(shape, strides) if n != 1]
    in_c_order = _c_strides(tuple(n for n, _ in steps))
    in_fortran_order = _c_strides(tuple(n for n, _ in reversed(steps)))[::-1]
    own = [step for _, step in steps]
    if 0 in shape or own == in_c_order:
        return False
    if own == in_fortran_order:
        return True
    raise DTypeError("the array's values lie apart; make it contiguous first (.contiguous(), cupy.ascontiguousarray)")

"""Arrays in memory of a GPU, by DLPack or ``__cuda_array_interface__`` and their rules about streams.

The library works on one CUDA stream and waits for its own work there. The producer of an array is therefore asked to make
that stream wait for the producer's pending work, and need not wait itself.
"""

from math import prod
from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import Values, check_writable
from ._dlpack import CUDA, CUDA_MANAGED, device_of, number_of, tensor_of
from ._dtypes import coded_number
from ._errors import ArgumentError, DTypeError

LEGACY_STREAM = 1  # the legacy default stream, in DLPack and in __cuda_array_interface__
NO_STREAM = -1  # in DLPack: the caller does not access the values, and no stream waits for them


def device_values(data: Any, writable: bool = False, stream: int = LEGACY_STREAM) -> Optional[Values]:
    """Returns the values of `data` if they are on a CUDA device, else None. Work on `stream` sees them complete.

    Raises
    ------
    DTypeError
        If the type of the values is not coded, or the values are not contiguous.
    ArgumentError
        If the memory has been freed, or `writable` is set and the array is read-only.
    """
    if isinstance(data, np.ndarray):
        return None
    where = device_of(data)
    if where is not None and where[0] not in (CUDA, CUDA_MANAGED):
        return None
    if where is None and not hasattr(data, "__cuda_array_interface__"):
        return None
    if writable:
        check_writable(data)
    return _by_dlpack(data, where, stream) if where is not None else _by_interface(data, writable, stream)


def stream_number(stream: Any) -> int:
    """Returns the number of a CUDA stream, a ``cudaStream_t``.

    Parameters
    ----------
    stream
        A number, a stream of CuPy or PyTorch, an object with ``__cuda_stream__``, or None: the legacy default stream.
    """
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for attribute in ("ptr", "cuda_stream"):  # CuPy's and PyTorch's
        stream = getattr(stream, attribute, stream)
    if stream is not None and not isinstance(stream, int):
        raise ArgumentError(f"{type(stream).__name__} is no CUDA stream: give its cudaStream_t as an int")
    return stream or LEGACY_STREAM


def _by_dlpack(data: Any, where: tuple[int, int], stream: int) -> Values:
    tensor = tensor_of(data, stream=stream)
    shape = tuple(tensor.shape)
    fortran = _is_fortran(shape, tensor.strides)
    values = Values(tensor.address, number_of(tensor), shape, fortran, tensor, data, where[1])
    if where[0] == CUDA_MANAGED and values.count and stream != NO_STREAM:
        _core.wait_for_stream(values.address, stream)  # the host may read this memory
    return values


def _by_interface(data: Any, writable: bool, stream: int) -> Values:
    about = data.__cuda_array_interface__
    dtype, shape = np.dtype(about["typestr"]), tuple(about["shape"])
    address, read_only = about["data"]
    if read_only and writable:
        raise ArgumentError("the array to receive into is read-only: pass a copy of it")
    if about.get("mask") is not None:
        raise DTypeError("arrays with a mask are not coded; fill in the masked values")
    if not address and prod(shape):
        raise ArgumentError("the array's memory has been freed")
    strides = about.get("strides")
    in_values = _c_strides(shape) if strides is None else [step // dtype.itemsize for step in strides]
    values = Values(address or 0, coded_number(dtype), shape, _is_fortran(shape, in_values), data, data)
    pending = about.get("stream")
    if pending not in (None, stream) and stream != NO_STREAM and values.count:
        _core.wait_for_stream(values.address, pending)
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

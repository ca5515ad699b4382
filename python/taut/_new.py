"""New arrays to receive into, of the library, on the device and of the type of the array to send."""

from typing import Any

import numpy as np

from ._arrays import as_array
from ._device import device_values
from ._errors import ArgumentError

Shape = tuple[int, ...]


def empty(like: Any, shape: Shape) -> Any:
    """Returns a new array in C order, made by the interface of the library of `like`."""
    if hasattr(like, "new_empty"):  # PyTorch
        return like.new_empty(shape)
    if hasattr(like, "__array_function__"):  # NumPy, CuPy
        return np.empty_like(like, order="C", shape=shape)
    if hasattr(like, "__array_namespace__"):  # JAX, and others with the array API
        return like.__array_namespace__().empty(shape, dtype=like.dtype, device=like.device)
    if device_values(like) is not None:
        raise ArgumentError(f"recvbuf is missing, and {type(like).__name__} has no way to make it on the GPU: pass recvbuf")
    return np.empty(shape, as_array(like).dtype)


def shape_of(sendbuf: Any) -> Shape:
    """Returns the shape of the array to send."""
    if not hasattr(sendbuf, "shape"):
        raise ArgumentError("recvbuf is missing, and can be made only if sendbuf is an array: pass recvbuf")
    if not _in_c_order(sendbuf):
        raise ArgumentError("recvbuf is missing, and can be made only if sendbuf is in C order: pass recvbuf")
    return tuple(sendbuf.shape)


def _in_c_order(array: Any) -> bool:
    if hasattr(array, "is_contiguous"):  # PyTorch
        return bool(array.is_contiguous())
    return bool(getattr(getattr(array, "flags", None), "c_contiguous", True))


def block_of(shape: Shape, blocks: int, copies: int = 1) -> Shape:
    """Returns the shape of `copies` of the blocks into which ranks divide an array: rows if they can, else values."""
    if shape and blocks and shape[0] % blocks == 0:
        return (shape[0] // blocks * copies, *shape[1:])
    return (int(np.prod(shape)) // max(blocks, 1) * copies,)

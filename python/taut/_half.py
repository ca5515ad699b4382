"""Reductions of 16-bit floats under an MPI without a type for them: in float32, which represents each of their values.

The result is rounded to 16 bits once, so that the error bound is the same as with such a type: E plus half an ulp.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Optional

import numpy as np
from mpi4py import MPI

from ._arrays import as_array
from ._device import NO_STREAM, device_values
from ._dtypes import name_of
from ._errors import DTypeError
from ._layer import flavour
from ._message import bfloat16_type, split


@dataclass
class Staged:
    """Replacement buffers of a reduction, and the conversions before and after the call."""

    send: Any
    recv: Any
    before: Optional[Callable[[], None]] = None
    after: Optional[Callable[[], None]] = None


def _needs_float32(spec: Any) -> bool:
    if spec is None or spec is MPI.IN_PLACE:
        return False
    buffer, counts, displs, kind = split(spec)
    if buffer is None or kind is not None or not _missing():
        return False
    on_gpu = device_values(buffer, stream=NO_STREAM)
    if on_gpu is not None and name_of(on_gpu.type) in _missing():
        raise DTypeError(f"this MPI has no type for {name_of(on_gpu.type)}: convert an array on a GPU to float32")
    if on_gpu is not None or as_array(buffer).dtype.name not in _missing():
        return False
    if counts is not None or displs is not None:
        raise DTypeError("this MPI has no type for these values: give a part of the array instead of counts")
    return True


@lru_cache(maxsize=None)
def _missing() -> list[str]:
    """Returns the names of the types of 16-bit floats that this MPI lacks."""
    has = {"float16": flavour() == "mpich", "bfloat16": bfloat16_type() is not None}
    return [name for name, there in has.items() if not there]


def stage(send: Any, recv: Any) -> Staged:
    """Returns the two sides of a reduction, converted to float32 if necessary."""
    in_place = send is MPI.IN_PLACE
    if not _needs_float32(recv if in_place or send is None else send):
        return Staged(send, recv)
    source = None if send is None else as_array(recv if in_place else send)
    target = None if recv is None else as_array(recv)
    wide_in = None if source is None else np.empty(source.shape, np.float32)
    wide_out = wide_in if in_place else None if target is None else np.empty(target.shape, np.float32)

    def before() -> None:
        if wide_in is not None:
            wide_in[...] = source

    def after() -> None:
        if target is not None and wide_out is not None:
            with np.errstate(over="ignore"):
                target[...] = wide_out.astype(target.dtype)

    return Staged(send if in_place else wide_in, wide_out, before, after)

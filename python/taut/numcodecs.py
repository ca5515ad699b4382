"""Codec of numcodecs: arrays of Zarr format 2, and of other formats that name codecs of numcodecs.

    zarr.create_array(store, shape=..., dtype="f4", zarr_format=2, compressors=taut.numcodecs.Taut("abs:1e-4"))

A coded chunk is what `taut.compress` returns. It names type, shape and bound of its values. Metadata have the bound.
"""

from typing import Any, Optional, Union

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from numcodecs.registry import register_codec

from ._codec import ChunkPacker, decompress
from ._core import check_coding
from ._policy import Policy


class Taut(Codec):
    """Codes arrays within a bound.

    Parameters
    ----------
    bound : str or Policy
        As in `taut.compress`: ``"abs:1e-4"``, ``"lossless"``, ... A bound relative to the range of the values refers to
        each chunk.
    """

    codec_id = "taut"

    def __init__(self, bound: Union[str, Policy] = "lossless") -> None:
        self.bound = check_coding(str(bound))
        self._pack = ChunkPacker(self.bound)

    def encode(self, buf: Any) -> bytes:
        """Encodes an array, whose type must be one of those of `taut.compress`."""
        return self._pack(buf)

    def decode(self, buf: Any, out: Optional[Any] = None) -> Any:
        """Decodes an array, whose shape, type and order are those of the original.

        An ``out`` of other shape or type receives the values in their order in memory, as numcodecs has it.
        """
        values: np.ndarray = decompress(ensure_contiguous_ndarray(buf))
        if out is None:
            return values
        if (getattr(out, "shape", None), getattr(out, "dtype", None)) != (values.shape, values.dtype):
            return ndarray_copy(values, out)
        np.copyto(out, values)
        return out


register_codec(Taut)

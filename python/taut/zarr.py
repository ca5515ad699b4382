"""Codec of Zarr format 3: a serializer, which turns the arrays of chunks into bytes.

    zarr.create_array(store, shape=..., dtype="f4", serializer=taut.zarr.Taut("abs:1e-4"), compressors=None)

A coded chunk is what `taut.compress` returns. It names type, shape and bound of its values. The array's metadata have the
bound beside type and shape of the chunks.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

from ._codec import ChunkPacker, decompress
from ._core import check_coding
from ._dtypes import coded_number
from ._errors import ArgumentError, FrameError
from ._policy import Policy

NAME = "taut"


@dataclass(frozen=True)
class Taut(ArrayBytesCodec):
    """Codes the chunks of an array within a bound.

    Parameters
    ----------
    bound : str or Policy
        As in `taut.compress`: ``"abs:1e-4"``, ``"lossless"``, ... A bound relative to the range of the values refers to
        each chunk.
    """

    is_fixed_size = False

    bound: str
    _pack: ChunkPacker = field(init=False, repr=False, compare=False)

    def __init__(self, bound: Union[str, Policy] = "lossless") -> None:
        object.__setattr__(self, "bound", check_coding(str(bound)))
        object.__setattr__(self, "_pack", ChunkPacker(self.bound))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Taut":
        """Makes the codec from its entry in the array's metadata."""
        configuration = dict(data.get("configuration") or {})
        bound = configuration.pop("bound", "lossless")
        if data.get("name") != NAME or configuration:
            raise ArgumentError(f"{data} is not metadata of codec {NAME!r}, or of a later version of it")
        return cls(bound)

    def to_dict(self) -> dict[str, Any]:
        """Returns the codec's entry in the array's metadata."""
        return {"name": NAME, "configuration": {"bound": self.bound}}

    def validate(self, *, shape: Any, dtype: Any, chunk_grid: Any) -> None:
        """Raises if values of the type are not coded."""
        coded_number(dtype.to_native_dtype())

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: Any) -> int:
        raise NotImplementedError("the size of coded chunks depends on their values")

    async def _encode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        packed = await asyncio.to_thread(self._pack, chunk_data.as_ndarray_like())
        return chunk_spec.prototype.buffer.from_bytes(packed)

    async def _decode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        values: np.ndarray = await asyncio.to_thread(decompress, chunk_data.as_numpy_array())
        expected = (chunk_spec.shape, chunk_spec.dtype.to_native_dtype())
        if (values.shape, values.dtype) != expected:
            raise FrameError(f"a chunk holds {values.shape} {values.dtype}, where the array has {expected}; get it again")
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(values)


register_codec(NAME, Taut)

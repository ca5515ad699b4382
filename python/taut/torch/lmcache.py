"""Codec for the serde interface of LMCache (lmcache.v1.distributed.serde): KV caches in the frames of Taut, on the host or a GPU.

::

    python -m taut.torch.lmcache server --l2-adapter '{..., "serde": {"type": "taut"}}' ...

is the command ``lmcache`` with the codec; the ``serde`` may also have a ``"bound": "rel:1e-3"``. Other programs that hold LMCache call
``taut.torch.lmcache.register()`` before they read its configuration.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, Optional

import torch

from .. import _core
from .._errors import ArgumentError
from . import _frames

_PREFIX_BYTES = 64  # header in front of a frame; begins with the size of the frame, since a buffer may be longer than its content


def _values(memory: Any) -> torch.Tensor:
    """Returns the tensor of one of LMCache's memory objects."""
    if memory.tensor is None:
        raise ArgumentError("a memory object without a tensor: the codec needs the KV cache as one tensor")
    return memory.tensor.detach()


class Serializer:
    """Encodes KV caches. Without a bound nothing is lost; float8 and other types that Taut does not code travel as bytes.

    Parameters
    ----------
    bound
        Policy of values of float32, float64, float16 and bfloat16.
    """

    def __init__(self, bound: str = "lossless") -> None:
        self._bound = _core.check_coding(bound)

    def serialize(self, src: Any, dst: Any, key: Any = None) -> int:
        """Encodes the tensor of `src` into the bytes of `dst`; returns the number of bytes written."""
        values = _frames.movable(_values(src).contiguous().view(-1))
        room = _frames.values_of(_values(dst), "dst").view(torch.uint8)
        if room.numel() < _PREFIX_BYTES:
            raise ArgumentError("dst is shorter than estimate_serialized_size")
        written = 0
        if values.numel() > 0:
            number, place = _frames.number_of(values), room[_PREFIX_BYTES:]
            span = (place.data_ptr(), place.numel())
            coding = _frames.coding_of(values.dtype, self._bound)
            written = _core.encode_into(values.data_ptr(), values.numel(), number, coding, span)
        prefix = torch.zeros(_PREFIX_BYTES // 8, dtype=torch.int64)
        prefix[0] = written
        room[:_PREFIX_BYTES].copy_(prefix.view(torch.uint8))
        return _PREFIX_BYTES + written

    def estimate_serialized_size(self, layout_desc: Any) -> int:
        """Returns how many bytes serialize() needs at most."""
        return _PREFIX_BYTES + sum(_most_bytes(prod(shape), dtype) for shape, dtype in zip(layout_desc.shapes, layout_desc.dtypes))


class Deserializer:
    """Decodes what `Serializer` wrote, under every bound."""

    def deserialize(self, src: Any, dst: Any, key: Any = None) -> None:
        """Decodes the bytes of `src` into the tensor of `dst`, which has the type and the number of values that were encoded."""
        stored = _frames.values_of(_values(src), "src").view(torch.uint8)
        length = int(stored[:_PREFIX_BYTES].cpu()[:8].view(torch.int64)) if stored.numel() >= _PREFIX_BYTES else -1
        if not 0 <= length <= stored.numel() - _PREFIX_BYTES:
            raise ArgumentError("src was not written by this codec, or is damaged")
        wanted = _values(dst)
        values = wanted if wanted.is_contiguous() else torch.empty_like(wanted, memory_format=torch.contiguous_format)
        if (length == 0) != (values.numel() == 0):
            raise ArgumentError("dst has another number of values than were encoded")
        _frames.decode(stored[_PREFIX_BYTES : _PREFIX_BYTES + length], _frames.movable(values.view(-1)))
        if values is not wanted:
            wanted.copy_(values)


def _most_bytes(count: int, dtype: torch.dtype) -> int:
    coded = dtype in _frames.NUMBERS
    return _core.max_bytes(_frames.NUMBERS[dtype if coded else torch.uint8], count if coded else count * dtype.itemsize, 1)


def _processor(options: Optional[Mapping[str, Any]] = None) -> Any:
    from lmcache.v1.distributed.serde.async_processor import AsyncSerdeProcessor

    options = options or {}
    serializer = Serializer(str(options.get("bound", "lossless")))
    return AsyncSerdeProcessor(serializer, Deserializer(), max_workers=int(options.get("max_workers", 1)))


def register(name: str = "taut") -> None:
    """Makes the codec known to LMCache as a type of serde."""
    from lmcache.v1.distributed.serde.base import Deserializer as AnyDeserializer
    from lmcache.v1.distributed.serde.base import Serializer as AnySerializer
    from lmcache.v1.distributed.serde.factory import register_serde_factory

    AnySerializer.register(Serializer)
    AnyDeserializer.register(Deserializer)
    register_serde_factory(name, _processor)


def main() -> None:
    """Runs LMCache's command with the codec."""
    from lmcache.cli.main import main as command

    register()
    command()


if __name__ == "__main__":
    main()

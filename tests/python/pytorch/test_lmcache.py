"""Tests the codec for LMCache against a stand-in of its serde interface (lmcache/v1/distributed/serde, LMCache of 2026)."""

import abc
import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import pytest
import taut
import torch

from taut.torch import lmcache


@dataclass
class Memory:
    """A memory object of LMCache, as far as codecs see it."""

    tensor: torch.Tensor


@dataclass
class Layout:
    shapes: list
    dtypes: list


def stored(serializer, values, slack=0):
    """Returns the buffer that LMCache would store, and the number of bytes that were written."""
    size = serializer.estimate_serialized_size(Layout([values.shape], [values.dtype]))
    buffer = Memory(torch.full((size + slack,), 0xA5, dtype=torch.uint8, device=values.device))
    written = serializer.serialize(Memory(values), buffer, "key")
    assert 0 < written <= size
    return buffer, written


def bits(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8)


def cache(shape, dtype, seed=0):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return values.to(dtype) if dtype.is_floating_point else (100 * values).to(dtype)


TYPES = [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.uint8, torch.int32]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (2, 4, 64, 16), (2, 3, 4099)], ids=str)
def test_caches_come_back_bit_for_bit(dtype, shape):
    values = cache(shape, dtype)
    for slack in (0, 1000):
        buffer, written = stored(lmcache.Serializer(), values, slack)
        for kept in (buffer, Memory(buffer.tensor[:written].clone())):  # an L2 store may keep all of the buffer
            back = Memory(torch.empty_like(values))
            lmcache.Deserializer().deserialize(kept, back, "key")
            assert torch.equal(bits(back.tensor), bits(values))


def test_bfloat16_shrinks_and_every_pattern_comes_back():
    buffer, written = stored(lmcache.Serializer(), cache((2, 8, 4096), torch.bfloat16))
    assert written < 2 * 2 * 8 * 4096 / 1.3
    patterns = torch.arange(65536, dtype=torch.int32).to(torch.int16)
    for dtype in (torch.bfloat16, torch.float16):
        values = patterns.view(dtype).view(256, 256)
        buffer, _ = stored(lmcache.Serializer(), values)
        back = Memory(torch.empty_like(values))
        lmcache.Deserializer().deserialize(buffer, back)
        assert torch.equal(bits(back.tensor), bits(values))


def test_tensors_whose_values_lie_apart():
    whole = cache((4, 6, 50), torch.float16)
    values = whole.transpose(0, 2)
    buffer, _ = stored(lmcache.Serializer(), values)
    back = Memory(torch.empty_like(whole).transpose(0, 2))
    lmcache.Deserializer().deserialize(buffer, back)
    assert torch.equal(back.tensor, values)


def test_a_bound():
    values = cache((2, 5000), torch.float32)
    buffer, written = stored(lmcache.Serializer("abs:1e-2"), values)
    back = Memory(torch.empty_like(values))
    lmcache.Deserializer().deserialize(buffer, back)
    assert 0 < float((back.tensor - values).abs().max()) <= 1e-2 and written < values.nbytes / 2


def test_mistakes_are_told():
    for bound in ("abs:nothing", "lossless,algorithm=ring"):
        with pytest.raises(taut.Error, match="policy"):
            lmcache.Serializer(bound)
    values = cache((3000,), torch.bfloat16)
    with pytest.raises(taut.Error):
        lmcache.Serializer().serialize(Memory(values), Memory(torch.empty(100, dtype=torch.uint8)))
    with pytest.raises(taut.Error, match="shorter"):
        lmcache.Serializer().serialize(Memory(values), Memory(torch.empty(10, dtype=torch.uint8)))
    with pytest.raises(taut.Error, match="without a tensor"):
        lmcache.Serializer().serialize(Memory(None), Memory(values))
    buffer, written = stored(lmcache.Serializer(), values)
    decode = lmcache.Deserializer().deserialize
    with pytest.raises(taut.Error):
        decode(buffer, Memory(torch.empty(2999, dtype=torch.bfloat16)))
    with pytest.raises(taut.Error):
        decode(buffer, Memory(torch.empty(3000, dtype=torch.float16)))
    with pytest.raises(taut.Error, match="number of values"):
        decode(buffer, Memory(torch.empty(0, dtype=torch.bfloat16)))
    with pytest.raises(taut.Error, match="damaged"):
        decode(Memory(buffer.tensor[: written - 1]), Memory(torch.empty_like(values)))
    with pytest.raises(taut.Error, match="damaged"):
        decode(Memory(torch.full((4000,), 255, dtype=torch.uint8)), Memory(torch.empty_like(values)))


def test_lmcache_finds_the_codec_by_its_name(monkeypatch):
    factories, commands = {}, []

    class Base(abc.ABC):  # noqa: B024
        pass

    class AsyncSerdeProcessor:
        def __init__(self, serializer, deserializer, max_workers):
            assert isinstance(serializer, base.Serializer) and isinstance(deserializer, base.Deserializer)
            self.serializer, self.workers = serializer, max_workers

    base = SimpleNamespace(Serializer=type("Serializer", (Base,), {}), Deserializer=type("Deserializer", (Base,), {}))
    contents = {
        "": {}, ".v1": {}, ".v1.distributed": {}, ".v1.distributed.serde": {}, ".v1.distributed.serde.base": vars(base),
        ".v1.distributed.serde.async_processor": {"AsyncSerdeProcessor": AsyncSerdeProcessor},
        ".v1.distributed.serde.factory": {"register_serde_factory": factories.__setitem__},
        ".cli": {}, ".cli.main": {"main": lambda: commands.append(set(factories))},
    }  # fmt: skip
    for name, content in contents.items():
        module = ModuleType(f"lmcache{name}")
        module.__path__ = []
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    lmcache.main()
    assert commands == [{"taut"}]
    processor = factories["taut"]({"type": "taut", "bound": "abs:1e-2", "max_workers": 3})
    assert processor.workers == 3
    _, written = stored(processor.serializer, cache((50_000,), torch.float32))
    assert written < 100_000
    factories["taut"]({})

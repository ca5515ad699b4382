"""Tests the storage of pages of KV caches against a stand-in of SGLang's storage in files (sglang.srt.mem_cache.hicache_storage)."""

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Optional

import pytest
import torch

import taut


@dataclass
class Config:
    model_name: Optional[str] = "org/model"
    extra_config: dict = field(default_factory=dict)


class HiCacheFile:
    """Pages in files, as SGLang's class has them: reading fails if a file has another size than the page."""

    file_path = ""  # set by the test

    def __init__(self, storage_config):
        self.config_suffix = f"_{storage_config.model_name.replace('/', '-')}_0_1"

    def _get_suffixed_key(self, key):
        return key + self.config_suffix

    def _file(self, key):
        return Path(self.file_path, f"{self._get_suffixed_key(key)}.bin")

    def exists(self, key):
        return self._file(key).exists()

    def set(self, key, value=None, target_location=None, target_sizes=None):
        if not self.exists(key):
            value.contiguous().view(torch.uint8).numpy().tofile(self._file(key))
        return True

    def get(self, key, target_location, target_sizes=None):
        if not self.exists(key):
            return None
        room = target_location.view(torch.uint8).numpy()
        with open(self._file(key), "rb", buffering=0) as file:
            if file.readinto(memoryview(room)) != room.nbytes:
                raise OSError("short read")
        return target_location

    def batch_set(self, keys, values):
        return all(self.set(key, value) for key, value in zip(keys, values))

    def batch_get(self, keys, target_locations):
        return [self.get(key, target) for key, target in zip(keys, target_locations)]


@pytest.fixture
def sglang(monkeypatch, tmp_path):
    monkeypatch.setattr(HiCacheFile, "file_path", str(tmp_path))
    for name in ("sglang", "sglang.srt", "sglang.srt.mem_cache", "sglang.srt.mem_cache.hicache_storage"):
        module = ModuleType(name)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["sglang.srt.mem_cache.hicache_storage"].HiCacheFile = HiCacheFile
    monkeypatch.delitem(sys.modules, "taut.torch.sglang", raising=False)
    yield importlib.import_module("taut.torch.sglang")
    sys.modules.pop("taut.torch.sglang", None)


def storage(sglang, **extra):
    return sglang.Storage(Config(extra_config={"module_path": "taut.torch.sglang", **extra}), {})


def page(dtype, count=4096, seed=0):
    values = torch.randn(count, generator=torch.Generator().manual_seed(seed))
    return values.to(dtype) if dtype.is_floating_point else (50 * values).to(dtype)


def same_bits(a, b):
    return torch.equal(a.view(torch.uint8), b.view(torch.uint8))


TYPES = [torch.bfloat16, torch.float16, torch.float32, torch.float8_e4m3fn, torch.uint8, torch.int8]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("count", [1, 7, 65536])
def test_pages_come_back_bit_for_bit(sglang, dtype, count):
    store, values = storage(sglang), page(dtype, count)
    assert not store.exists("key") and store.get("key", torch.empty_like(values)) is None
    assert store.set("key", values) and store.exists("key")
    assert store.set("key", page(dtype, count, seed=1))  # a page that is there stays, as in SGLang
    target = torch.empty_like(values)
    assert store.get("key", target) is target
    assert same_bits(target, values)


def test_all_16_bit_patterns_and_fewer_bytes(sglang, tmp_path):
    store, patterns = storage(sglang, bound="lossless,checksum=on"), torch.arange(65536, dtype=torch.int32).to(torch.int16)
    for dtype in (torch.bfloat16, torch.float16):
        values = patterns.view(dtype)
        assert store.set(str(dtype), values)
        assert same_bits(store.get(str(dtype), torch.empty_like(values)), values)
    assert store.set("normal", page(torch.bfloat16, 1 << 16))
    (file,) = tmp_path.glob("normal*")
    assert file.stat().st_size < 2 * 65536 / 1.35


def test_batches_and_pages_that_are_missing(sglang):
    store, pages = storage(sglang), [page(torch.bfloat16, seed=i) for i in range(3)]
    assert store.batch_set(["a", "b", "c"], pages)
    got = store.batch_get(["a", "x", "c"], [torch.empty_like(pages[0]) for _ in range(3)])
    assert got[1] is None and same_bits(got[0], pages[0]) and same_bits(got[2], pages[2])


def test_a_bound_has_files_of_its_own(sglang):
    exact, bounded, values = storage(sglang), storage(sglang, bound="abs:1e-2"), page(torch.float32)
    assert bounded.set("key", values) and not exact.exists("key")
    error = (bounded.get("key", torch.empty_like(values)) - values).abs().max()
    assert 0 < float(error) <= 1e-2
    integers = page(torch.int8)
    assert bounded.set("integers", integers)
    assert same_bits(bounded.get("integers", torch.empty_like(integers)), integers)


@pytest.mark.parametrize("kept", [0, 3, 1000, None])
def test_a_damaged_page_is_a_missing_one_that_can_be_stored_again(sglang, tmp_path, kept):
    store, values = storage(sglang), page(torch.bfloat16)
    assert store.set("key", values)
    (file,) = tmp_path.iterdir()
    file.write_bytes(bytes(1000) if kept is None else file.read_bytes()[:kept])
    assert store.get("key", torch.empty_like(values)) is None and not store.exists("key")
    assert store.set("key", values) and same_bits(store.get("key", torch.empty_like(values)), values)


def test_pages_of_another_layout_count_as_missing(sglang):
    store = storage(sglang)
    for other in (torch.empty(4095, dtype=torch.bfloat16), torch.empty(4096, dtype=torch.float16)):
        assert store.set("key", page(torch.bfloat16))
        assert store.get("key", other) is None and not store.exists("key")


def test_files_that_cannot_be_read(sglang, tmp_path):
    store, values = storage(sglang), page(torch.bfloat16)
    store._file("key").mkdir()
    assert store.get("key", torch.empty_like(values)) is None and store.exists("key")


def test_pages_that_cannot_be_encoded_are_not_stored(sglang, tmp_path, monkeypatch):
    def refuse(*_):
        raise taut.DTypeError("not coded")

    monkeypatch.setattr(sglang._frames, "encode", refuse)
    assert not storage(sglang).set("key", page(torch.bfloat16))
    assert not list(tmp_path.iterdir())


def test_a_wrong_bound_is_told(sglang):
    for bound in ("abs:nothing", "lossless,algorithm=ring", "lossless,codec=planes"):
        with pytest.raises(taut.Error, match="policy"):
            storage(sglang, bound=bound)
    assert sglang.Storage(Config(model_name=None, extra_config=None)).config_suffix == "_.taut-lossless_0_1"

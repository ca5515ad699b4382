"""Tests arrays in GPU memory: the results are those of the same values on the host."""

import subprocess
import sys
from pathlib import Path

import contract
import gpu
import ml_dtypes
import numpy as np
import pytest
import taut

if gpu.DRIVER is None:
    pytest.skip("needs a GPU or simulated GPUs", allow_module_level=True)
KINDS = [gpu.DLPackArray, gpu.InterfaceArray]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", ["abs:1e-3", "rel:1e-4", "snap:1e-2", "lossless", "psnr:60,codec=szx"])
def test_round_trip(kind, bound, wave):
    before = gpu.launches()
    packed = taut.compress(kind(wave), bound)
    if gpu.SIMULATED:
        assert gpu.launches() > before  # szx has no kernels: the range of psnr alone is found there
    contract.check(wave, taut.decompress(packed), bound.split(",")[0])
    room = kind(np.zeros_like(wave))
    assert taut.decompress(packed, out=room) is room
    assert contract.same(room.numpy(), taut.decompress(packed))


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128, np.int8, np.uint16, np.int64]
)
def test_types(dtype):
    values = (100 * np.sin(np.arange(5000))).astype(np.uint8).astype(dtype)
    packed = taut.compress(gpu.DLPackArray(values), "abs:1e-3")
    assert packed == taut.compress(values, "abs:1e-3")  # for one dimension the same bytes as from the host
    room = gpu.DLPackArray(np.empty_like(values))
    taut.decompress(packed, out=room)
    assert contract.same(room.numpy(), taut.decompress(packed))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((0, 3), np.float32),
        np.ones((), np.float32),
        np.arange(12.0).reshape(3, 1, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    ],
)
def test_shapes(kind, values):
    packed = taut.compress(kind(values), "lossless")
    assert packed == taut.compress(values, "lossless")
    assert contract.same(np.asarray(taut.decompress(packed, out=kind(np.zeros_like(values))).numpy()), values)


def test_more_than_one_frame():
    values = np.cumsum(np.random.default_rng(1).standard_normal(3 << 19, np.float32), dtype=np.float32)
    values = np.resize(values, (1 << 22) + 100)
    packed = taut.compress(gpu.DLPackArray(values), "rel:1e-3,codec=szx")
    assert taut.info(packed).frames == 2 and packed == taut.compress(values, "rel:1e-3,codec=szx")


def test_packed_bytes_may_lie_there(wave):
    packed = taut.compress(wave, "abs:1e-3")
    there = gpu.DLPackArray(np.array(list(packed), np.uint8))
    assert contract.same(taut.decompress(there), taut.decompress(packed))
    assert taut.info(there).shape == wave.shape


def test_the_producer_is_told_the_stream(wave):
    array = gpu.DLPackArray(wave)
    taut.decompress(taut.compress(array, "abs:1e-3"), out=array)
    assert array.streams == [1, 1]  # the legacy default stream, which the library uses
    array = gpu.InterfaceArray(wave)
    array.stream = 2
    taut.compress(array, "abs:1e-3")


def test_managed_memory(wave):
    class Managed(gpu.DLPackArray):
        kind = gpu.MANAGED

    assert taut.decompress(taut.compress(Managed(wave), "abs:1e-3")).shape == wave.shape


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: taut.compress(gpu.DLPackArray(x[:, ::2]), "abs:1"), taut.DTypeError, "contiguous"),
        (lambda x: taut.compress(gpu.InterfaceArray(x[::2]), "abs:1"), taut.DTypeError, "contiguous"),
        (lambda x: taut.compress(gpu.InterfaceArray(x.astype(">f4")), "abs:1"), taut.DTypeError, "byte order"),
        (lambda x: taut.compress(gpu.InterfaceArray(x > 0), "abs:1"), taut.DTypeError, "convert"),
        (lambda x: taut.compress(gpu.DLPackArray(x), "abs:1,codec=nothing"), taut.PolicyError, "use auto"),
    ],
)
def test_errors_name_the_remedy(call, error, text, wave):
    with pytest.raises(error, match=text):
        call(wave)


@pytest.mark.parametrize(
    "room, error, text",
    [
        (lambda x: gpu.DLPackArray(x[:-1].copy()), taut.ArgumentError, "of shape"),
        (lambda x: gpu.DLPackArray(x.astype(np.float64)), taut.ArgumentError, "type float32"),
        (lambda x: gpu.InterfaceArray(np.asfortranarray(x)), taut.ArgumentError, "C order"),
        (lambda x: gpu.InterfaceArray(x, writeable=False), taut.ArgumentError, "read-only"),
        (lambda x: np.asfortranarray(x), taut.ArgumentError, "C order"),
        (lambda x: np.zeros((300, 600), np.float32)[:, ::2], taut.ArgumentError, "contiguous"),
        (lambda x: np.frombuffer(bytes(x), np.float32).reshape(x.shape), taut.ArgumentError, "read-only"),
    ],
)
def test_what_values_go_into(room, error, text, wave):
    packed = taut.compress(wave, "abs:1e-3")
    with pytest.raises(error, match=text):
        taut.decompress(packed, out=room(wave))


def test_out_on_the_host(wave):
    packed = taut.compress(wave.T, "abs:1e-3")
    room = np.empty_like(wave).T
    assert taut.decompress(packed, out=room) is room and contract.same(room, taut.decompress(packed))


@pytest.mark.skipif(not gpu.SIMULATED, reason="libtaut_cuda may lie beside the package")
def test_without_the_library(wave, monkeypatch):
    monkeypatch.delenv("LD_LIBRARY_PATH")
    code = (
        "import gpu, numpy, taut\n"
        "try: taut.compress(gpu.DLPackArray(numpy.ones(5000)), 'abs:1')\n"
        "except taut.ArgumentError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    assert "values is memory of a GPU" in run.stdout and "TAUT_CUDA=ON" in run.stdout

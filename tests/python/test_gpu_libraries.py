"""Tests arrays of CuPy, PyTorch and JAX on a GPU: frames and values are those of the same values on the host."""

import contract
import libraries
import ml_dtypes
import numpy as np
import pytest
import taut

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@pytest.mark.parametrize("bound", ["abs:1e-3", "rel:1e-4", "snap:1e-2", "pwrel:1e-3", "lossless", "psnr:60", "abs:1e-3,codec=szx"])
@pytest.mark.parametrize("shape", [(90_000,), (300, 300), (45, 40, 50)])
def test_values_keep_the_bound(library, bound, shape):
    x = np.linspace(0, 20, 300, dtype=np.float32)
    values = (np.sin(x)[:, None] * np.cos(x)[None, :]).reshape(shape)
    packed = taut.compress(libraries.array(library, values), bound)
    restored = taut.decompress(packed)
    contract.check(values, restored, bound.split(",")[0])
    if len(shape) == 1:
        assert packed == taut.compress(values, bound)
    if library != "jax":
        room = libraries.array(library, np.zeros_like(values))
        assert taut.decompress(packed, out=room) is room
        assert contract.same(libraries.contents(room), restored)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=lambda dtype: np.dtype(dtype).name)
def test_types(library, dtype):
    values = (100 * np.sin(np.arange(5000) / 50)).astype(np.int8).astype(dtype)
    if not libraries.has(library, dtype):
        pytest.skip(f"{library} has no {np.dtype(dtype).name}")
    there = libraries.array(library, values)
    for bound in ("abs:1e-3", "lossless"):
        packed = taut.compress(there, bound)
        assert packed == taut.compress(values, bound)
        if library != "jax":
            room = libraries.array(library, np.zeros_like(values))
            taut.decompress(packed, out=room)
            assert contract.same(libraries.contents(room), taut.decompress(packed))


def test_empty_and_single_values(library):
    for values in (np.zeros((0, 3), np.float32), np.ones((), np.float32), np.ones((1, 1), np.float64)):
        if libraries.has(library, values.dtype):
            packed = taut.compress(libraries.array(library, values), "lossless")
            assert packed == taut.compress(values, "lossless")


def test_several_frames(library):
    values = np.cumsum(np.random.default_rng(1).standard_normal(3 << 19, np.float32), dtype=np.float32)
    values = np.resize(values, (1 << 22) + 100)
    packed = taut.compress(libraries.array(library, values), "abs:1e-3")
    assert taut.info(packed).frames == 2 and packed == taut.compress(values, "abs:1e-3")


def test_packed_bytes_may_lie_there(library, wave):
    packed = taut.compress(wave, "abs:1e-3")
    there = libraries.array(library, np.frombuffer(packed, np.uint8))
    assert contract.same(taut.decompress(there), taut.decompress(packed))


def test_values_that_lie_apart_are_refused(library, wave):
    there = libraries.array(library, wave)
    if library == "jax":
        pytest.skip("JAX makes contiguous copies")
    with pytest.raises(taut.DTypeError, match="contiguous"):
        taut.compress(there[:, ::2], "abs:1e-3")
    with pytest.raises(taut.DTypeError, match="contiguous"):
        taut.decompress(taut.compress(wave[:, ::2].copy(), "abs:1e-3"), out=there[:, ::2])
    assert taut.compress(there[:100], "abs:1e-3") is not None  # part of an array, contiguous


def test_rooms_that_do_not_fit(library, wave):
    packed = taut.compress(wave, "abs:1e-3")
    with pytest.raises(taut.ArgumentError, match="read-only" if library == "jax" else "of shape"):
        taut.decompress(packed, out=libraries.array(library, np.zeros((3, 3), np.float32)))


@pytest.mark.parametrize("made_by", ["cupy", "torch"])
def test_pending_work_of_a_stream_comes_first(made_by):
    reason = libraries.reason_against(made_by)
    if reason:
        pytest.skip(reason)
    for turn in range(5):
        values, expected = late(made_by, turn)
        packed = taut.compress(values, "lossless")
        assert packed == taut.compress(expected, "lossless")


def late(made_by, turn):
    """Returns an array that a busy stream fills late, and its values."""
    count, expected = 1 << 20, np.full(1 << 20, 3.0 + turn, np.float32)
    if made_by == "cupy":
        import cupy

        stream = cupy.cuda.Stream(non_blocking=True)
        values = cupy.zeros(count, cupy.float32)
        cupy.cuda.Device().synchronize()
        stream.use()
        for _ in range(200):
            values[:] = -1
        values[:] = 3 + turn
        return values, expected
    import torch

    stream = torch.cuda.Stream()
    values = torch.zeros(count, device="cuda")
    torch.cuda.synchronize()
    torch.cuda.set_stream(stream)
    for _ in range(200):
        values.fill_(-1)
    values.fill_(3 + turn)
    return values, expected

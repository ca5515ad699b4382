"""Tests arrays of CuPy, PyTorch and JAX on a GPU in the calls of Comm: results have the bits of those on the host."""

import libraries
import numpy as np
import pytest
import taut
from conftest import wave
from mpi4py import MPI
from test_device_arrays import NEW
from test_collectives import MOVES, REDUCTIONS, arguments, run

N = 3000


def moved(library, message, result):
    """Returns a message with its arrays on the GPU, and the one that takes the place of `result`, if it is there."""
    if isinstance(message, np.ndarray):
        there = libraries.array(library, message)
        return there, there if message is result else None
    if isinstance(message, list) and isinstance(message[0], np.ndarray):
        there, received = moved(library, message[0], result)
        return [there, *message[1:]], received
    return message, None


@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("name", [name for name in REDUCTIONS + MOVES if name != "Alltoallw"])
def test_every_collective(on_gpu, library, name, how):
    if library == "jax":
        pytest.skip("arrays of JAX receive nothing")
    messages, expected = arguments(name, on_gpu, np.float32)
    run(on_gpu, name, how, messages)
    messages, result = arguments(name, on_gpu, np.float32)
    pairs = [moved(library, message, result) for message in messages]
    received = next((array for _, array in pairs if array is not None), None)
    before = on_gpu.stats()["compressed_calls"]
    run(on_gpu, name, how, [message for message, _ in pairs])
    assert (result if received is None else libraries.contents(received)).tobytes() == expected.tobytes()
    assert on_gpu.stats()["compressed_calls"] == before + 1


@pytest.mark.parametrize("name", NEW)
def test_new_arrays(on_gpu, library, name):
    mine = wave(1000 * on_gpu.size, on_gpu.rank).reshape(-1, 500)
    expected = np.zeros(NEW[name](on_gpu.size), np.float32)
    getattr(on_gpu, name)(mine, expected)
    array = libraries.array(library, mine)
    result = getattr(on_gpu, name)(array)
    assert type(result) is type(array) and libraries.contents(result).tobytes() == expected.tobytes()


def test_messages(on_gpu, library):
    right, left = (on_gpu.rank + 1) % on_gpu.size, (on_gpu.rank - 1) % on_gpu.size
    mine, expected = wave(N, on_gpu.rank), np.zeros(N, np.float32)
    on_gpu.Sendrecv(mine, right, 5, expected, left, 5)
    there, room = libraries.array(library, mine), np.zeros(N, np.float32)
    if library != "jax":
        room = libraries.array(library, room)
    on_gpu.Sendrecv(there, right, 5, room, left, 5)
    assert libraries.contents(room).tobytes() == expected.tobytes()
    taut.Request.Waitall([on_gpu.Irecv(room, left, 6), on_gpu.Isend(there, right, 6)])
    assert libraries.contents(room).tobytes() == expected.tobytes()


def test_work_of_the_stream_of_the_communicator_comes_first(on_gpu):
    if libraries.reason_against("torch"):
        pytest.skip("needs PyTorch on a GPU")
    import torch

    stream = torch.cuda.Stream()
    on_gpu.Set_stream(stream)
    with torch.cuda.stream(stream):
        for turn in range(5):
            mine = torch.zeros(1 << 20, device="cuda")
            for _ in range(100):
                mine.add_(1)
            total = on_gpu.Allreduce(mine)
            assert float((total - 100 * on_gpu.size).abs().max()) <= 1e-3
    on_gpu.Set_stream(None)


def test_large_sums(on_gpu, library):
    mine = np.random.default_rng(MPI.COMM_WORLD.rank).standard_normal(3_000_000).astype(np.float32)
    expected = np.zeros_like(mine)
    on_gpu.Allreduce(mine, expected)
    result = on_gpu.Allreduce(libraries.array(library, mine))
    assert libraries.contents(result).tobytes() == expected.tobytes()

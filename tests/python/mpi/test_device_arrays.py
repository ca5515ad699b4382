"""Tests arrays in memory of simulated GPUs in the calls of Comm: results have the bits of those on the host.
Plain MPI would end the test, as it cannot read that memory."""

import gpu
import ml_dtypes
import numpy as np
import pytest
import taut
import test_collectives
import test_neighbours
from conftest import wave
from mpi4py import MPI
from taut import _half

if gpu.DRIVER is None:
    pytest.skip("needs a GPU or simulated GPUs", allow_module_level=True)

N = 3000
KINDS = [gpu.DLPackArray, gpu.InterfaceArray, gpu.CupyArray]
LIBRARIES = [gpu.CupyArray, gpu.TorchTensor, gpu.JaxArray]
REDUCTIONS, MOVES = test_collectives.REDUCTIONS, test_collectives.MOVES


def moved(kind, message, result):
    """Returns a message with its arrays in memory of the GPU, and the array that takes the place of `result`, if it is there."""
    if isinstance(message, np.ndarray):
        there = kind(message.reshape(message.shape))
        return there, there if message is result else None
    if isinstance(message, list) and isinstance(message[0], np.ndarray):
        there, received = moved(kind, message[0], result)
        return [there, *message[1:]], received
    return message, None


def arguments(name, comm):
    if name == "Alltoallw":  # in place; values of types with gaps would be packed on the host
        sent, received = wave(N * comm.size, comm.rank), np.zeros(N * comm.size, np.float32)
        numbers = ([N] * comm.size, [4 * N * rank for rank in range(comm.size)])
        types = [MPI.FLOAT] * comm.size
        return [[sent, numbers, types], [received, numbers, types]], received
    if name.startswith("Neighbor"):
        return test_neighbours.arguments(name, comm.wrapped)
    return test_collectives.arguments(name, comm, np.float32)


def same_as_on_the_host(comm, name, how, kind, there=True):
    messages, expected = arguments(name, comm)
    test_collectives.run(comm, name, how, messages)
    messages, result = arguments(name, comm)
    pairs = [moved(kind, message, result) for message in messages] if there else [(m, None) for m in messages]
    received = next((array for _, array in pairs if array is not None), None)
    before, launches = comm.stats()["compressed_calls"], gpu.launches()
    test_collectives.run(comm, name, how, [message for message, _ in pairs])
    result = result if received is None else received.numpy()
    assert result.tobytes() == expected.tobytes()
    assert comm.stats()["compressed_calls"] == before + 1
    assert not gpu.SIMULATED or gpu.launches() > launches or not there or result.size == 0


@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("name", REDUCTIONS + MOVES)
def test_every_collective(on_gpu, name, how):
    same_as_on_the_host(on_gpu, name, how, gpu.CupyArray)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["Allreduce", "Alltoallv"])
def test_every_protocol(on_gpu, name, kind):
    same_as_on_the_host(on_gpu, name, "blocking", kind)


@pytest.mark.parametrize("name", ["Allreduce", "Bcast", "Gatherv", "Alltoall"])
def test_some_ranks_have_their_values_on_the_host(on_gpu, name):
    same_as_on_the_host(on_gpu, name, "blocking", gpu.DLPackArray, there=on_gpu.rank % 2 == 0)


@pytest.mark.parametrize("name", ["Neighbor_allgather", "Neighbor_alltoallv"])
def test_calls_of_neighbours(name):
    ring = test_neighbours.topology("graph")
    comm = taut.Comm(ring, "abs:1e-3", codec="planes", min_bytes=1, when="always")
    same_as_on_the_host(comm, name, "blocking", gpu.CupyArray)
    ring.Free()


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.complex64])
def test_types(on_gpu, dtype):
    mine, expected = wave(N, on_gpu.rank, np.float64).astype(dtype), np.zeros(N, dtype)
    on_gpu.Allreduce(mine, expected)
    result = gpu.DLPackArray(np.zeros(N, dtype))
    if np.dtype(dtype).name in _half._missing():
        with pytest.raises(taut.DTypeError, match="convert an array on a GPU to float32"):
            on_gpu.Allreduce(gpu.DLPackArray(mine), result)
        return
    on_gpu.Allreduce(gpu.DLPackArray(mine), result)
    assert result.numpy().tobytes() == expected.tobytes()


def test_one_side_on_the_host(on_gpu):
    mine, expected = wave(N, on_gpu.rank), np.zeros(N, np.float32)
    on_gpu.Allreduce(mine, expected)
    here, there = np.zeros(N, np.float32), gpu.DLPackArray(np.zeros(N, np.float32))
    on_gpu.Allreduce(gpu.DLPackArray(mine), here)
    on_gpu.Allreduce(mine, there)
    assert here.tobytes() == there.numpy().tobytes() == expected.tobytes()


def test_in_place(on_gpu):
    mine, expected = wave(N, on_gpu.rank), np.zeros(N, np.float32)
    on_gpu.Allreduce(mine, expected)
    both = gpu.CupyArray(mine)
    on_gpu.Allreduce(MPI.IN_PLACE, both)
    assert both.numpy().tobytes() == expected.tobytes()


# ---- Results in new arrays


NEW = {  # the shape of the new array, from the number of ranks and the shape (2 ranks, 500)
    "Allreduce": lambda ranks: (2 * ranks, 500),
    "Scan": lambda ranks: (2 * ranks, 500),
    "Reduce_scatter_block": lambda ranks: (2, 500),
    "Allgather": lambda ranks: (ranks, 2 * ranks, 500),
    "Alltoall": lambda ranks: (2 * ranks, 500),
}


@pytest.mark.parametrize("kind", [np.asarray, gpu.HostTensor, *LIBRARIES])
@pytest.mark.parametrize("name", NEW)
def test_a_call_without_recvbuf_returns_an_array_of_the_same_kind(on_gpu, name, kind):
    mine = wave(1000 * on_gpu.size, on_gpu.rank).reshape(-1, 500)
    expected = np.zeros(NEW[name](on_gpu.size), np.float32)
    assert getattr(on_gpu, name)(mine, expected) is None
    array = kind(mine)
    result = getattr(on_gpu, name)(array)
    assert type(result) is type(array) and result.shape == expected.shape and result.dtype == np.float32
    assert values_of(result).tobytes() == expected.tobytes()


def values_of(array):
    if isinstance(array, gpu.HostTensor):
        return array.values
    return array if isinstance(array, np.ndarray) else array.numpy()


def test_new_arrays_at_the_root_alone(on_gpu):
    mine = gpu.JaxArray(wave(N, on_gpu.rank))
    for name in ("Reduce", "Gather"):
        result = getattr(on_gpu, name)(mine, root=on_gpu.size - 1)
        assert isinstance(result, gpu.JaxArray) == (on_gpu.rank == on_gpu.size - 1)
    assert (on_gpu.Exscan(mine) is None) == (on_gpu.rank == 0)


@pytest.mark.parametrize("how", ["nonblocking", "persistent"])
def test_the_request_has_the_new_array(on_gpu, how):
    mine = gpu.CupyArray(wave(N, on_gpu.rank))
    expected = on_gpu.Allreduce(mine).numpy()
    request = on_gpu.Iallreduce(mine) if how == "nonblocking" else on_gpu.Allreduce_init(mine)
    if how == "persistent":
        request.Start()
    request.Wait()
    assert request.result.numpy().tobytes() == expected.tobytes()
    assert on_gpu.Iallreduce(mine, gpu.CupyArray(wave(N, 0))).result is None
    taut.Request.Waitall(list(taut._request._under_way))


# ---- Messages


@pytest.mark.parametrize("kind", [*KINDS, gpu.JaxArray])
def test_messages(on_gpu, kind):
    right, left = (on_gpu.rank + 1) % on_gpu.size, (on_gpu.rank - 1) % on_gpu.size
    mine, expected = wave(N, on_gpu.rank), np.zeros(N, np.float32)
    on_gpu.Sendrecv(mine, right, 5, expected, left, 5)
    room = [gpu.CupyArray(np.zeros(N, np.float32)) for _ in range(3)]
    on_gpu.Sendrecv(kind(mine), right, 5, room[0], left, 5)
    taut.Request.Waitall([on_gpu.Irecv(room[1], left, 6), on_gpu.Isend(kind(mine), right, 6)])
    there = kind(mine) if on_gpu.rank % 2 else mine  # some ranks send from the host
    request = on_gpu.Isend(there, right, 7)
    on_gpu.Recv(room[2], left, 7)
    request.Wait()
    assert all(array.numpy().tobytes() == expected.tobytes() for array in room)

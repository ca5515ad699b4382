"""Tests what Comm asks of the libraries that own arrays on a GPU: the order of their streams; and errors, which name the
remedy."""

import gpu
import ml_dtypes
import numpy as np
import pytest
import taut
from conftest import wave
from mpi4py import MPI

if gpu.DRIVER is None:
    pytest.skip("needs a GPU or simulated GPUs", allow_module_level=True)

N = 3000


# ---- Streams


class Late(gpu.DLPackArray):
    """An array whose values are there only once a consumer has named the stream that will see them.

    The same values are written once: a copy on the legacy default stream would wait for ever for a stream that waits for a call.
    """

    def __init__(self, values):
        super().__init__(np.zeros_like(values))
        self.values, self.written = values, None

    def __dlpack__(self, stream=None, **options):
        if self.written is not self.values:
            gpu._copy(self.address, self.values.ctypes.data, self.values.nbytes)
            self.written = self.values
        return super().__dlpack__(stream, **options)


class Stream:
    """A stream of CuPy (ptr), PyTorch (cuda_stream) or NVIDIA's protocol."""

    def __init__(self, spelling, number):
        if spelling == "__cuda_stream__":
            self.__cuda_stream__ = lambda: (0, number)
        else:
            setattr(self, spelling, number)


def test_the_producer_makes_the_stream_of_the_communicator_wait(on_gpu):
    mine, result = Late(wave(N, on_gpu.rank)), gpu.DLPackArray(np.zeros(N, np.float32))
    expected = on_gpu.Allreduce(wave(N, on_gpu.rank))
    on_gpu.Allreduce(mine, result)
    assert mine.streams == [1] and result.numpy().tobytes() == expected.tobytes()  # 1: the legacy default stream
    on_gpu.Set_stream(2)  # of this thread
    on_gpu.Dup().Allreduce(mine, result)
    assert mine.streams == [1, 2] and result.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("spelling", ["ptr", "cuda_stream", "__cuda_stream__"])
def test_streams_of_other_libraries(on_gpu, spelling):
    mine = gpu.TorchTensor(wave(N, on_gpu.rank))
    on_gpu.Set_stream(Stream(spelling, 2))
    on_gpu.Allreduce(mine)
    on_gpu.Set_stream(Stream(spelling, 0))
    on_gpu.Allreduce(mine)
    assert mine.streams == [2, 1]
    with pytest.raises(taut.ArgumentError, match="cudaStream_t as an int"):
        on_gpu.Set_stream("default")


@pytest.mark.skipif(not gpu.SIMULATED, reason="a wrong stream ends the program")
def test_the_library_works_on_that_stream(on_gpu):
    mine = gpu.DLPackArray(wave(N, on_gpu.rank))
    result = gpu.DLPackArray(wave(N, on_gpu.rank))
    on_gpu.Set_stream(0xDEAD0)  # no stream: CUDA says so
    with pytest.raises(taut.Error):
        on_gpu.Allreduce(mine, result)
    on_gpu.Set_stream(None)
    on_gpu.Allreduce(mine, result)


def test_a_persistent_call_asks_the_producer_at_each_start(on_gpu):
    mine, result = Late(wave(N, on_gpu.rank)), gpu.DLPackArray(np.zeros(N, np.float32))
    request = on_gpu.Allreduce_init(mine, result)
    for turn in range(2):
        mine.values = wave(N, on_gpu.rank + turn)
        request.Start()
        request.Wait()
        assert np.abs(result.numpy() - sum(wave(N, r + turn) for r in range(on_gpu.size))).max() <= 1.1e-3
    mine.address, mine.values = mine.address + 16, mine.values[4:]
    with pytest.raises(taut.ArgumentError, match="make a new request"):
        request.Start()
    request.Free()


def test_calls_in_the_order_of_a_stream(on_gpu):
    mine, result = Late(wave(N, on_gpu.rank)), gpu.DLPackArray(np.zeros(N, np.float32))
    expected = on_gpu.Allreduce(wave(N, on_gpu.rank))
    request = on_gpu.Allreduce_init(mine, result)
    request.Start_enqueue()
    request.Wait()
    assert result.numpy().tobytes() == expected.tobytes()
    for _ in range(3):
        request.Start_enqueue(2)
        request.Wait_enqueue(2)
    request.Wait()
    assert mine.streams == [1, 1, 2, 2, 2] and result.numpy().tobytes() == expected.tobytes()
    request.Free()
    with pytest.raises(taut.ArgumentError):
        on_gpu.Iallreduce(mine, result).Start_enqueue()
    taut.Request.Waitall(list(taut._request._under_way))


# ---- Errors: each is raised on every rank before anything is sent


def freed(kind):
    array = kind(np.zeros(8, np.float32))
    array.address = 0
    return array


def of_rocm():
    array = gpu.DLPackArray(np.zeros(8, np.float32))
    array.kind = 10
    return array


def deleted():
    class Deleted(gpu.JaxArray):
        def __dlpack__(self, **options):
            raise RuntimeError("Array has been deleted.")

    return Deleted(np.zeros(8, np.float32))


def eight(kind, dtype=np.float32, **options):
    return kind(np.zeros(8, dtype), **options)


@pytest.mark.parametrize(
    "send, recv, error, text",
    [
        (lambda: eight(gpu.DLPackArray), lambda: eight(gpu.DLPackArray, np.float64), taut.ArgumentError, "8 elements of MPI_FLOAT to send, 8 elements of MPI_DOUBLE"),
        (lambda: eight(gpu.InterfaceArray, bool), lambda: eight(gpu.DLPackArray), taut.DTypeError, "convert"),
        (lambda: gpu.DLPackArray(np.zeros(16)[::2]), lambda: eight(gpu.DLPackArray), taut.DTypeError, "contiguous"),
        (lambda: eight(gpu.DLPackArray), lambda: gpu.CupyArray(np.zeros(16)[::2]), taut.DTypeError, "contiguous"),
        (lambda: eight(gpu.DLPackArray), lambda: eight(gpu.DLPackArray, number=1), taut.ArgumentError, "several GPUs"),
        (of_rocm, lambda: eight(gpu.DLPackArray), taut.DTypeError, "copy it to the host"),
        (lambda: freed(gpu.DLPackArray), lambda: eight(gpu.DLPackArray), taut.ArgumentError, "freed"),
        (lambda: freed(gpu.InterfaceArray), lambda: eight(gpu.DLPackArray), taut.ArgumentError, "freed"),
        (deleted, lambda: eight(gpu.DLPackArray), taut.DTypeError, "has been deleted"),
        (lambda: eight(gpu.DLPackArray), lambda: eight(gpu.InterfaceArray, writeable=False), taut.ArgumentError, "read-only"),
        (lambda: eight(gpu.DLPackArray), lambda: eight(gpu.JaxArray), taut.ArgumentError, "returns without recvbuf"),
        (lambda: eight(gpu.InterfaceArray), lambda: None, taut.ArgumentError, "no way to make it on the GPU: pass recvbuf"),
        (lambda: [eight(gpu.CupyArray), 8, MPI.FLOAT], lambda: None, taut.ArgumentError, "only if sendbuf is an array"),
        (lambda: gpu.CupyArray(np.zeros((4, 2), order="F")), lambda: None, taut.ArgumentError, "C order"),
        (lambda: [eight(gpu.DLPackArray), 9], lambda: eight(gpu.DLPackArray), taut.ArgumentError, "8 elements"),
    ],
)
def test_errors_name_the_remedy(on_gpu, send, recv, error, text):
    with pytest.raises(error, match=text):
        on_gpu.Allreduce(send(), recv())


def test_calls_that_need_recvbuf_say_so(on_gpu):
    mine = gpu.CupyArray(wave(N * on_gpu.size, 0))
    for name in ("Allgatherv", "Alltoallv", "Reduce_scatter"):
        with pytest.raises(taut.ArgumentError, match="recvbuf is missing"):
            getattr(on_gpu, name)(mine)
    with pytest.raises(taut.ArgumentError, match="read-only"):
        on_gpu.Allreduce(mine, gpu.JaxArray(wave(N * on_gpu.size, 0)))


def test_types_that_the_mpi_lacks(on_gpu, monkeypatch):
    monkeypatch.setattr(taut._half, "_missing", lambda: ["bfloat16"])
    mine = gpu.DLPackArray(np.zeros(8, ml_dtypes.bfloat16))
    with pytest.raises(taut.DTypeError, match="convert an array on a GPU to float32"):
        on_gpu.Allreduce(mine, mine)

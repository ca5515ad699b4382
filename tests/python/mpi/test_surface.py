"""Tests arguments in the forms of mpi4py, requests, messages between two ranks, errors, and calls that are
passed on to mpi4py."""

import array
import doctest
import gc
import os

import numpy as np
import pytest
import taut
from conftest import WORLD, wave
from mpi4py import MPI
from taut._layer import flavour

N = 3000


class OnlyDLPack:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **arguments):
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_the_layer_is_that_of_mpi4pys_abi():
    assert flavour() == os.environ.get("TESTED_FLAVOUR", flavour())
    assert (flavour() == "mpiabi") == (MPI._sizeof(MPI.Comm) == 8 and MPI._handleof(MPI.COMM_WORLD) == 0x101)


def spellings(values):
    return [
        values,
        [values, values.size],
        [values, MPI.FLOAT],
        [values, "f"],
        [values, values.size, MPI.FLOAT],
        [values, (values.size, 0), MPI.FLOAT],
        [values, values.size, 0, "f"],
        memoryview(values),
        OnlyDLPack(values),
        [values.reshape(-1, 2), MPI.FLOAT],
        np.asfortranarray(values.reshape(-1, 2)),
    ]


@pytest.mark.parametrize("spelling", range(11))
def test_messages_as_mpi4py_takes_them(comm, spelling):
    mine, total = wave(N, comm.rank), np.zeros(N, np.float32)
    comm.Allreduce(spellings(mine)[spelling], spellings(total)[spelling])
    exact = sum(wave(N, rank).astype(np.float64) for rank in range(comm.size))
    if spelling == 10:  # a copy in another order: the test checks only that the call is made
        return
    assert np.abs(total - exact).max() <= 1e-3 + 1e-6


class OnlyArrayInterface:
    def __init__(self, values):
        self.values, self.__array_interface__ = values, values.__array_interface__


class Tensor(OnlyDLPack):
    """A tensor of PyTorch on the host: DLPack below 1.0, which NumPy takes for read-only."""

    def __dlpack__(self):
        return self.values.__dlpack__()


@pytest.mark.parametrize("kind", [OnlyDLPack, OnlyArrayInterface, Tensor])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.complex128])
def test_arrays_of_other_libraries_receive(comm, kind, dtype):
    mine, expected, total = wave(N, comm.rank, dtype), np.zeros(N, dtype), np.zeros(N, dtype)
    comm.Allreduce(mine, expected)
    comm.Allreduce(kind(mine), kind(total))
    assert total.tobytes() == expected.tobytes()


def test_booleans_of_other_libraries(comm):
    values = np.arange(8) % 2 == comm.rank % 2
    result = np.zeros((comm.size, 8), bool)
    comm.Allgather(Tensor(values), Tensor(result))
    assert (result[comm.rank] == values).all()


def test_arrays_that_never_change(comm):
    class Immutable(OnlyDLPack):
        __module__ = "jaxlib._jax"

    with pytest.raises(taut.ArgumentError, match="returns without recvbuf"):
        comm.Allreduce(np.zeros(8), Immutable(np.zeros(8)))


@pytest.mark.parametrize("name, shape", [("Allreduce", (6, 4)), ("Reduce_scatter_block", None), ("Allgather", (None, 6, 4))])
def test_calls_without_recvbuf_return_the_array(comm, name, shape):
    if comm.size == 1 or 6 % comm.size:
        pytest.skip("blocks of rows")
    mine = wave(24, comm.rank, np.float64).reshape(6, 4)
    shape = (6 // comm.size, 4) if shape is None else tuple(n or comm.size for n in shape)
    result, expected = getattr(comm, name)(mine), np.zeros(shape)
    getattr(comm.wrapped, name)(mine, expected)
    assert result.shape == shape and np.abs(result - expected).max() <= 1e-3


def test_other_buffers_and_parts_of_them(comm):
    mine = array.array("d", wave(N, comm.rank, np.float64))
    total = np.zeros(N + 1)
    comm.Allreduce([mine, (N - 1, 1), MPI.DOUBLE], [total, (N - 1, 2), MPI.DOUBLE])
    exact = sum(wave(N, rank, np.float64) for rank in range(comm.size))
    assert np.abs(total[2:] - exact[1:]).max() <= 1e-3 and not total[:2].any()


@pytest.mark.parametrize(
    "send, recv, text",
    [
        (np.zeros(10)[::2], np.zeros(5), "ascontiguousarray"),
        (np.zeros(5), np.broadcast_to(np.zeros(5), 5), "read-only"),
        (np.zeros(5), np.zeros(6), "differ"),
        (np.zeros(5), np.zeros(5, np.float32), "5 elements of MPI_DOUBLE to send, 5 elements of MPI_FLOAT"),
        ([np.zeros(5), 6], np.zeros(6), "5 elements"),
        (np.zeros(5, ">f4"), np.zeros(5, np.float32), "byte order"),
        (5.0, np.zeros(1), "numpy.asarray"),
        ([1.0] * 5, np.zeros(5), "not 5 things"),
    ],
)
def test_messages_that_cannot_be(comm, send, recv, text):
    with pytest.raises(taut.Error, match=text):
        comm.Allreduce(send, recv)


def test_requests_in_any_order_and_mixed(comm):
    totals = [np.zeros(N, np.float32) for _ in range(4)]
    requests = [comm.Iallreduce(wave(N, comm.rank + 10 * i), total) for i, total in enumerate(totals)]
    requests.insert(2, comm.Ibarrier())  # mpi4py's own
    assert taut.Request.Waitall(requests)
    assert all(not isinstance(request, taut.Request) or not request for request in requests)
    for i, total in enumerate(totals):
        exact = sum(wave(N, rank + 10 * i).astype(np.float64) for rank in range(comm.size))
        assert np.abs(total - exact).max() <= 1e-3 + 1e-5
    requests = [comm.Ibcast(total) for total in totals]
    done = {taut.Request.Waitany(requests) for _ in totals}
    assert done == set(range(4)) and taut.Request.Waitany(requests) == MPI.UNDEFINED
    request = comm.Ibcast(totals[0])
    while not request.Test():
        pass
    assert request.Test() and request.Wait() and taut.Request.Testall([request])


def test_a_dropped_request_keeps_its_memory(comm):
    comm.Iallreduce(wave(N, comm.rank), np.zeros(N, np.float32))
    gc.collect()
    last = np.zeros(N, np.float32)
    comm.Iallreduce(wave(N, comm.rank), last).Wait()
    assert np.abs(last - sum(wave(N, rank).astype(np.float64) for rank in range(comm.size))).max() <= 1e-3 + 1e-5


def test_persistent_calls_read_their_buffers_anew(comm):
    mine, total = np.zeros(N, np.float32), np.zeros(N, np.float32)
    request = comm.Allreduce_init(mine, total)
    for turn in range(3):
        mine[:] = wave(N, comm.rank + turn)
        taut.Request.Startall([request])
        request.Wait()
        exact = sum(wave(N, rank + turn).astype(np.float64) for rank in range(comm.size))
        assert np.abs(total - exact).max() <= 1e-3 + 1e-5
    request.Free()
    assert not request


def test_messages_between_two_ranks(comm):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine, ghost, status = wave(N, comm.rank), np.zeros(N, np.float32), MPI.Status()
    comm.Sendrecv(mine, right, 5, ghost, left, 5, status)
    assert np.abs(ghost - wave(N, left)).max() <= 1e-3
    assert (status.source, status.tag, status.Get_count(MPI.FLOAT)) == (left, 5, N)
    ghost[:] = 0
    requests = [comm.Irecv(ghost, left, 6), comm.Isend(mine, right, 6)]
    statuses = []
    taut.Request.Waitall(requests, statuses)
    assert np.abs(ghost - wave(N, left)).max() <= 1e-3 and statuses[0].source == left
    if comm.size > 1:
        if comm.rank == 0:
            comm.Send([mine, N // 2, MPI.FLOAT], 1, 7)
        elif comm.rank == 1:
            assert comm.Probe(0, 7, status) and status.Get_count(MPI.FLOAT) == N // 2
            part = np.zeros(status.Get_count(MPI.FLOAT), np.float32)
            comm.Recv(part, 0, 7)
            assert np.abs(part - wave(N, 0)[: N // 2]).max() <= 1e-3
    assert not comm.Iprobe(MPI.ANY_SOURCE, 99)
    comm.Send(None, MPI.PROC_NULL)
    comm.Recv(None, MPI.PROC_NULL)


def test_errors_are_mpi4pys_as_well(comm):
    with pytest.raises(taut.PolicyError, match="column") as raised:
        comm.Set_policy("abs:nothing")
    assert isinstance(raised.value, MPI.Exception) and raised.value.status == 4
    assert str(comm.Get_policy()).startswith("abs:1e-3")  # the old one stays
    if comm.size > 1:
        with pytest.raises(taut.RankMismatchError):
            comm.Set_policy("abs:nothing" if comm.rank == 0 else "abs:1")  # no rank waits for the others
        with pytest.raises(taut.RankMismatchError):
            with taut.policy("abs:1", comm, on="nothing" if comm.rank == 0 else "input"):
                pass
        with pytest.raises(taut.RankMismatchError):
            comm.Set_policy("abs:1" if comm.rank == 0 else "abs:2")
        with pytest.raises(taut.Error):
            comm.Allreduce(np.zeros(N + comm.rank), np.zeros(N + comm.rank))
    comm.Allreduce(MPI.IN_PLACE, np.zeros(N))


def test_what_is_not_compressed_is_the_communicators(comm):
    assert (comm.rank, comm.size) == (WORLD.rank, WORLD.size)
    assert comm.bcast({"a": 1}) == {"a": 1} and comm.allreduce(1) == comm.size
    comm.Barrier()
    assert comm.scan(1) == comm.rank + 1
    assert comm == comm.wrapped and comm and "abs:1e-3" in repr(comm)
    with pytest.raises(AttributeError):
        comm.no_such_thing
    with pytest.raises(taut.DTypeError, match="MPI.COMM_WORLD"):
        taut.Comm("COMM_WORLD")
    with pytest.raises(taut.ArgumentError, match="intracommunicators"):
        taut.Comm(MPI.COMM_NULL)


def test_policies(comm):
    twin = comm.Dup()
    assert twin.Get_policy() == comm.Get_policy() and isinstance(twin, taut.Comm)
    total = np.zeros(N)
    twin.Allreduce(wave(N, 0, np.float64), total)
    assert twin.stats()["compressed_calls"] == (1 if comm.size > 1 else 0)
    with taut.policy("off", comm, twin) as policy:
        assert comm.Get_policy() == twin.Get_policy() == policy
        comm.Allreduce(wave(N, 0, np.float64), total)
        assert comm.stats()["plain_off"] == 1
    assert str(comm.Get_policy()).startswith("abs:1e-3")
    twin.Free()


def test_a_policy_is_not_replaced_by_wrapping(comm):
    held, bare = comm.Get_policy(), comm.wrapped
    for wrap in (lambda: taut.Comm(bare, "abs:1e-1"), lambda: taut.Comm(comm, "off")):
        with pytest.raises(taut.ArgumentError, match=r"comm\.Dup\(\).*Set_policy"):
            wrap()
    with taut.policy("lossless"), pytest.raises(taut.ArgumentError, match="'lossless'"):
        taut.Comm(bare)
    mine = taut.Comm(bare.Dup())  # as the error advises
    mine.Set_policy("abs:1e-1")
    assert str(mine.Get_policy()) == "abs:1e-1"
    mine.Free()
    assert taut.Comm(bare).Get_policy() == taut.Comm(bare, str(held)).Get_policy() == comm.Get_policy() == held
    other = taut.Comm(bare)
    other.Set_policy("abs:1e-2,when=pays")
    assert str(comm.Get_policy()) == "abs:1e-2,when=profitable" and "abs:1e-2" in repr(comm)
    assert taut.Comm(bare, "abs:1e-2", when="pays") == comm  # an old spelling of the same policy
    comm.Set_policy(None)
    assert other.Get_policy() is None and "no policy" in repr(other)
    with taut.policy("lossless"):
        assert str(taut.Comm(bare).Get_policy()) == "lossless"


def test_statistics_outlive_a_policy(comm):
    values = wave(N, comm.rank, np.float64)
    comm.Allreduce(MPI.IN_PLACE, values)
    with taut.policy("lossless", comm):
        comm.Bcast(values)
        assert comm.stats()["calls"] == 2
    comm.Allreduce(MPI.IN_PLACE, values)
    assert comm.stats()["calls"] == 3
    text = comm.explain()
    assert text.startswith("policy abs:1e-3") and ": 2 calls" in text and "\npolicy lossless on" in text


def test_communicators_made_of_others_have_their_policy(comm):
    ring = [(comm.rank - 1) % comm.size], [(comm.rank + 1) % comm.size]
    group, ends = comm.Get_group(), list(range(1, comm.size + 1))
    later, request = comm.Idup()
    request.Wait()
    children = [
        later,
        comm.Clone(),
        comm.Dup_with_info(MPI.INFO_NULL),
        comm.Split(0, -comm.rank),
        comm.Split_type(MPI.COMM_TYPE_SHARED),
        comm.Create(group),
        comm.Create_group(group),
        comm.Create_cart([comm.size], periods=[True]),
        comm.Create_graph(ends, [(rank + 1) % comm.size for rank in range(comm.size)]),
        comm.Create_dist_graph_adjacent(*ring),
        comm.Create_dist_graph([comm.rank], [1], ring[1]),
    ]
    children += [children[7].Sub([True]), children[7].Dup()]
    for child in children:
        assert isinstance(child, taut.Comm) and child.Get_policy() == comm.Get_policy()
        total = np.zeros(N)
        child.Allreduce(wave(N, child.rank, np.float64), total)
        assert child.stats()["compressed_calls"] == (1 if child.size > 1 else 0)
    for child in children:
        child.Free()
    assert comm.Split(MPI.UNDEFINED) == MPI.COMM_NULL
    bare = taut.Comm(WORLD.Dup())
    part = bare.Split(0)
    assert part.Get_policy() is None and isinstance(part, taut.Comm)
    part.Free()
    bare.Free()


def test_names_are_listed(comm):
    assert {"rank", "size", "Barrier", "Split", "bcast", "Allreduce", "explain"} <= set(dir(comm))


def test_one_array_for_both_buffers_is_in_place(comm):
    ranks, rank = comm.size, comm.rank
    mine, every = wave(N * ranks, rank, np.float64), [wave(N * ranks, one, np.float64) for one in range(ranks)]

    def check(call, expected):
        values = mine.copy()
        call(values)
        assert np.abs(values[: len(expected)] - expected).max() <= 1e-3

    check(lambda x: comm.Allreduce(x, x), sum(every))
    check(lambda x: comm.Reduce([x, MPI.DOUBLE], [x, MPI.DOUBLE], root=ranks - 1), sum(every) if rank == ranks - 1 else mine)
    check(lambda x: comm.Scan(x, x), sum(every[: rank + 1]))
    check(lambda x: comm.Iallreduce(x, x).Wait(), sum(every))
    block = slice(rank * N, (rank + 1) * N)
    check(lambda x: comm.Reduce_scatter_block(x, x[:N]), sum(every)[block])
    check(lambda x: comm.Reduce_scatter(x, x), sum(every)[block])
    for call in (comm.Allgather, comm.Alltoall, comm.Ialltoall):
        with pytest.raises(taut.ArgumentError, match="same memory.*IN_PLACE"):
            call(mine, mine)


def test_old_spelling_of_a_policy_is_shown_in_todays():
    duplicate = MPI.COMM_WORLD.Dup()
    text = taut.Comm(duplicate, "abs:1e-3", when="pays").explain()
    assert "when=profitable" in text
    assert "pays" not in text
    duplicate.Free()


def test_what_was_done_is_told(comm):
    comm.Allreduce(MPI.IN_PLACE, wave(N, comm.rank, np.float64))
    stats, text = comm.stats(), comm.explain()
    assert stats["calls"] == 1 and stats["message_bytes"] == 8 * N
    assert "policy abs:1e-3" in text and "allreduce f64 sum" in text and "test_surface.py:" in text and "_core" not in text


def test_docstring():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(taut.Comm, "Comm", module=False, globs={}):
        runner.run(test)
    assert runner.summarize().failed == 0 and runner.tries > 5
    taut.Comm(WORLD).Set_policy(None)

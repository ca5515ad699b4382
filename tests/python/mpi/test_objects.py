"""Tests lower-case calls: objects arrive as by mpi4py, their arrays within the bound and in few bytes."""

import pickle

import ml_dtypes
import numpy as np
import pytest
import taut
from conftest import wave
from mpi4py import MPI

N = 3000
BOUND = 1e-3


def read_only(array):
    array.flags.writeable = False
    return array


ARRAYS = {
    **{np.dtype(kind).name: wave(N, 0, kind) for kind in ("f2", "f4", "f8", "c8", "c16", "f4,i8", ">f8", "g", ml_dtypes.bfloat16)},
    **{np.dtype(kind).name: np.arange(N).astype(kind) for kind in ("i1", "u2", "i4", "u8", "?", "M8[s]", "U5")},
    "objects": np.array([{"a": 1}, None, "text"], dtype=object),
    "read_only": read_only(wave(N, 1, np.float64)),
    "gaps": wave(N, 2)[::3],
    "backwards": wave(N, 2)[::-1],
    "scalar": np.array(1.25),
    "empty": np.zeros((0, 3), np.float32),
    "fortran": np.asfortranarray(wave(N, 3).reshape(30, 100)),
    "permuted": wave(N, 3).reshape(10, 3, 100).transpose(1, 0, 2),
    "masked": np.ma.masked_less(wave(N, 4, np.float64), 4),
    "infinite": np.array([np.inf, -np.inf, np.nan, -0.0, 1.0]),
}


def check(got, sent):
    """Checks that an array has arrived as one by mpi4py, with floats within the bound."""
    plain = pickle.loads(pickle.dumps(sent, 5))
    assert type(got) is type(plain) and got.shape == plain.shape and got.dtype == plain.dtype
    assert (got.flags.writeable, got.flags.f_contiguous) == (plain.flags.writeable, plain.flags.f_contiguous)
    if got.dtype in (np.float16, np.float32, np.float64, np.complex64, np.complex128):
        got, plain = np.asarray(got), np.asarray(plain)
        near = np.isfinite(plain)
        assert np.abs(got[near] - plain[near]).max(initial=0) <= BOUND
        assert np.array_equal(got[~near], plain[~near], equal_nan=True)
    else:
        assert got.tolist() == plain.tolist()


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_arrive_as_they_were(comm, name):
    sent = ARRAYS[name]
    check(comm.bcast(sent), sent)
    check(comm.sendrecv(sent, comm.rank, 3, source=comm.rank), sent)


def test_containers_and_what_they_share(comm):
    x = wave(N, comm.rank)
    got = comm.allgather({"one": [x, (x, {"deep": x[:10]})], "text": "t", 3: None})
    for rank, one in enumerate(got):
        assert one["text"] == "t" and one[3] is None and one["one"][0] is one["one"][1][0]
        check(one["one"][0], wave(N, rank))
        check(one["one"][1][1]["deep"], wave(N, rank)[:10])


def test_every_call_that_sends(comm):
    rank, ranks, last = comm.rank, comm.size, comm.size - 1
    x, to_each = wave(N, rank), [wave(N, 10 * rank + peer) for peer in range(ranks)]
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    check(comm.bcast(x if rank == last else None, last), wave(N, last))
    check(comm.scatter(to_each if rank == last else None, last), wave(N, 10 * last + rank))
    gathered = comm.gather(x, last)
    assert (gathered is None) == (rank != last)
    for one, got in enumerate(gathered or []):
        check(got, wave(N, one))
    for one, got in enumerate(comm.alltoall(to_each)):
        check(got, wave(N, 10 * one + rank))
    cart = comm.Create_cart([ranks], periods=[True])
    assert [len(got) for got in cart.neighbor_alltoall([x, x])] == [N, N] and len(cart.neighbor_allgather(x)) == 2
    cart.Free()
    MPI.Attach_buffer(bytearray(1 << 20))
    for send in (comm.isend, comm.issend, comm.ibsend):
        request = send(x, right, 7)
        check(comm.recv(source=left, tag=7), wave(N, left))
        request.wait()
    for send in (comm.send, comm.ssend, comm.bsend):
        if ranks > 1 and rank < 2:
            send(x, 1) if rank == 0 else check(comm.recv(source=0), wave(N, 0))
    MPI.Detach_buffer()


def test_receivers_need_no_policy(comm):
    """The receiver is a communicator of mpi4py, a request, or a message that was probed."""
    bare, x = comm.wrapped, wave(N, comm.rank)
    request = comm.irecv(source=comm.rank, tag=1)
    comm.isend(x, comm.rank, 1)
    check(request.wait(), x)
    for receive in (lambda: bare.recv(source=comm.rank), lambda: comm.mprobe(comm.rank).recv()):
        sending = comm.isend([x], comm.rank)
        check(receive()[0], x)
        sending.wait()
    sending = bare.isend(x, comm.rank)
    assert np.array_equal(comm.recv(source=comm.rank), x)
    sending.wait()
    check(comm.bcast(x) if comm.rank == 0 else bare.bcast(None), wave(N, 0))


def test_few_bytes_travel_and_it_is_told(comm):
    big = np.sin(np.linspace(0, 9, 200_000))
    sending, status = comm.isend({"big": big}, comm.rank), MPI.Status()
    assert comm.wrapped.probe(comm.rank, status=status) and status.Get_count(MPI.BYTE) < big.nbytes / 4
    check(comm.recv(source=comm.rank)["big"], big)
    sending.wait()
    assert "objects: 1 arrays, 1600000 bytes became " in comm.explain()


def test_what_does_not_pay_stays_plain(comm):
    noise, smooth = np.random.default_rng(0).normal(size=50_000), np.sin(np.linspace(0, 9, 50_000))
    mine = comm.Dup()
    mine.Set_policy("lossless")
    assert np.array_equal(mine.bcast(noise), noise) and mine._objects[0] == 0
    mine.Set_policy("abs:1e-3")  # calls below 64 KiB are plain
    assert np.array_equal(mine.bcast(smooth[:8000]), smooth[:8000]) and mine._objects[0] == 0
    check(mine.bcast(smooth), smooth)
    assert mine._objects[0] == (1 if mine.rank == 0 else 0)
    for policy in ("off", None):
        mine.Set_policy(policy)
        assert np.array_equal(mine.bcast(smooth), smooth)
    mine.Free()


def test_objects_without_arrays_are_mpi4pys(comm):
    for obj in (3, 2.5, "text", None, {"a": 1}, [1, 2], (1, "b")):
        assert comm._packed(obj) is obj
    assert comm.bcast(list(range(1000))) == list(range(1000)) and comm.bcast({"s": {1, 2}}) == {"s": {1, 2}}
    for one in (comm.wrapped, comm):
        with pytest.raises((AttributeError, pickle.PicklingError)):
            one.isend(lambda: 0, comm.rank)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_sums_of_arrays(comm, dtype):
    for shape in (lambda x: x, lambda x: x.reshape(30, 100).T, lambda x: x[::2]):
        sent = shape(wave(N, comm.rank, dtype))
        got, plain = comm.allreduce(sent), comm.wrapped.allreduce(sent)
        assert type(got) is np.ndarray and (got.shape, got.dtype, got.flags.writeable) == (plain.shape, plain.dtype, True)
        assert np.abs(got - plain).max() <= BOUND + 1e-6
    assert comm.stats()["compressed_calls"] == (3 if comm.size > 1 else 0)


def test_other_sums_are_mpi4pys(comm):
    one, rank, ranks = np.ones(N), comm.rank, comm.size
    for sent in (2, 2.5, "a", [1], np.arange(N), np.array(2.0), one > 0):
        assert np.array_equal(comm.allreduce(sent), comm.wrapped.allreduce(sent))
    assert comm.allreduce(rank, MPI.MAX) == ranks - 1 and comm.allreduce(rank, lambda a, b: max(a, b)) == ranks - 1
    total = comm.allreduce(one if rank == 0 else 1.0)  # arrays and numbers
    assert np.array_equal(total, one * ranks)
    total = comm.allreduce(one.reshape(30, 100) if rank == 0 else one[:100])  # of several shapes
    assert total.shape == (30, 100) and (total == ranks).all()
    assert comm.stats()["compressed_calls"] == 0


def test_a_comm_is_a_communicator_of_mpi4py(comm):
    assert isinstance(comm, MPI.Intracomm) and isinstance(comm, MPI.Comm) and comm == comm.wrapped and comm.wrapped == comm
    window = MPI.Win.Create(bytearray(8), comm=comm)  # a call that takes MPI.Comm alone
    window.Free()
    cart = comm.Create_cart([comm.size])
    assert isinstance(cart, MPI.Cartcomm) and isinstance(cart, taut.Comm) and cart.dims == [comm.size]
    row = cart.Sub([True])
    assert row.Get_policy() == comm.Get_policy() and isinstance(row, MPI.Cartcomm)
    for made in (row, cart):
        wrapped = made.wrapped
        made.Free()
        assert not made and wrapped == MPI.COMM_NULL and MPI._handleof(made) == MPI._handleof(MPI.COMM_NULL)

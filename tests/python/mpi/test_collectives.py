"""Tests every collective, blocking, nonblocking and persistent: the calls are counted, and results are within
the bound of those of MPI."""

import ml_dtypes
import numpy as np
import pytest
import taut
from conftest import WORLD, wave
from mpi4py import MPI

N = 3000
BOUND = 1e-3
REDUCTIONS = ["Allreduce", "Reduce", "Reduce_scatter_block", "Reduce_scatter", "Scan", "Exscan"]
MOVES = ["Bcast", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Gather", "Gatherv", "Scatter", "Scatterv"]


def counts(comm):
    """Returns blocks of different sizes, one of them empty with three ranks."""
    return [N * (rank % 3) // 2 + (1 if rank % 3 else 0) for rank in range(comm.Get_size())]


def spread(sizes):
    """Returns displacements that leave a gap of one before each block, and the size of the whole."""
    starts = np.cumsum([0, *sizes]) + np.arange(len(sizes) + 1) + 1
    return list(starts[:-1]), int(starts[-1])


def arguments(name, comm, dtype):
    """Returns (messages and other arguments, the array that receives) of a call."""
    rank, ranks, sizes = comm.Get_rank(), comm.Get_size(), counts(comm)
    starts, whole = spread(sizes)
    mine, one = wave(N, rank, dtype), np.zeros(N, dtype)
    all_in, all_out = wave(N * ranks, rank, dtype), np.zeros(N * ranks, dtype)
    parts_out = np.zeros(whole, dtype)
    part, gaps = wave(sizes[rank], rank, dtype), [parts_out, (sizes, starts)]
    if name == "Bcast":
        both = mine if rank == 0 else one
        return [both], both
    if name in ("Allreduce", "Reduce", "Scan", "Exscan"):
        return [mine, one], one
    if name == "Reduce_scatter_block":
        return [all_in, one], one
    if name == "Reduce_scatter":
        target = np.zeros(sizes[rank], dtype)
        return [wave(sum(sizes), rank, dtype), target, sizes], target
    if name in ("Allgather", "Gather"):
        return [mine, all_out], all_out
    if name in ("Allgatherv", "Gatherv"):
        return [part, gaps], parts_out
    if name == "Alltoall":
        return [all_in, all_out], all_out
    if name == "Scatter":
        return [all_in, one], one
    if name == "Scatterv":
        target = np.zeros(sizes[rank], dtype)
        return [[wave(whole, 0, dtype), (sizes, starts)], target], target
    if name == "Alltoallw":
        return turned(comm, dtype)
    assert name == "Alltoallv"
    out_starts, out_whole = spread([sizes[rank]] * ranks)
    target = np.zeros(out_whole, dtype)
    return [[wave(whole, rank, dtype), (sizes, starts)], [target, ([sizes[rank]] * ranks, out_starts)]], target


def turned(comm, dtype):
    """Returns the arguments of a transposition as mpi4py-fft makes it: from rows of a matrix to columns, by subarrays."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    kind, shape = MPI._typedict[np.dtype(dtype).char], (60, 60)
    cuts = [60 * r // ranks for r in range(ranks + 1)]
    parts = [(cuts[r], cuts[r + 1] - cuts[r]) for r in range(ranks)]
    rows, columns = (parts[rank][1], shape[1]), (shape[0], parts[rank][1])
    of_rows = [kind.Create_subarray(rows, (rows[0], n), (0, first)).Commit() for first, n in parts]
    of_columns = [kind.Create_subarray(columns, (n, columns[1]), (first, 0)).Commit() for first, n in parts]
    sent, received = wave(rows[0] * rows[1], rank, dtype), np.zeros(columns, dtype)
    numbers = ([1] * ranks, [0] * ranks)
    return [[sent, numbers, of_rows], [received, numbers, of_columns]], received


def run(comm, name, how, messages, **more):
    if how == "blocking":
        getattr(comm, name)(*messages, **more)
    elif how == "nonblocking":
        getattr(comm, "I" + name.lower())(*messages, **more).Wait()
    else:
        request = getattr(comm, name + "_init")(*messages, **more)
        request.Start()
        request.Wait()
        request.Free()


@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("name", REDUCTIONS + MOVES)
def test_within_the_bound_of_what_mpi_makes(comm, name, how):
    messages, result = arguments(name, comm, np.float64)
    before = comm.stats()["calls"]
    run(comm, name, how, messages)
    assert comm.stats()["calls"] == before + 1
    expected_messages, expected = arguments(name, comm, np.float64)
    getattr(comm.wrapped, name)(*expected_messages)
    assert np.abs(result - expected).max(initial=0) <= BOUND
    if comm.size > 1:
        assert comm.stats()["compressed_calls"] == 1


@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
def test_the_root_of_a_broadcast_may_be_read_only(comm, how, tmp_path):
    values = wave(N, 0, np.float64)
    np.save(tmp_path / "table.npy", values)
    both = np.load(tmp_path / "table.npy", mmap_mode="r") if comm.rank == 0 else np.zeros(N)
    run(comm, "Bcast", how, [both])
    assert np.abs(both - values).max() <= BOUND
    assert comm.rank > 0 or (both == values).all()


def test_same_bits_replaces_the_roots_values(comm):
    comm.Set_policy("abs:1e-3,min_bytes=0,when=always,same_bits=on")
    both = wave(N, 0, np.float64) if comm.rank == 0 else np.zeros(N)
    comm.Bcast(both)
    assert len(set(comm.wrapped.allgather(both.tobytes()))) == 1
    both.flags.writeable = False
    if comm.rank == 0:
        with pytest.raises(taut.ArgumentError, match="read-only"):
            comm.Bcast(both)


@pytest.mark.parametrize("where", ["TAUT_RULES", "TAUT_CONFIG"])
@pytest.mark.parametrize("call", ["Bcast", "Allreduce"])
def test_rules_may_replace_the_roots_values_too(monkeypatch, tmp_path, where, call):
    (tmp_path / "rules.toml").write_text(f'[[rule]]\ncall = ["{call}"]\nbound = "lossless"\nsame_bits = "on"\n')
    line = f"{call} : lossless same_bits=on"
    monkeypatch.setenv(where, line if where == "TAUT_RULES" else str(tmp_path / "rules.toml"))
    plain = taut.Comm(WORLD)
    values = wave(N, 0)
    values.flags.writeable = plain.rank != 0
    if call == "Allreduce":  # its rule is none of broadcasts
        plain.Bcast(values)
    elif plain.rank == 0:
        with pytest.raises(taut.ArgumentError, match="read-only"):
            plain.Bcast(values)


@pytest.mark.parametrize("name", MOVES)
def test_lossless_is_bit_identical(lossless, name):
    messages, result = arguments(name, lossless, np.float32)
    run(lossless, name, "blocking", messages)
    expected_messages, expected = arguments(name, lossless, np.float32)
    getattr(lossless.wrapped, name)(*expected_messages)
    assert result.tobytes() == expected.tobytes()


def has_codec(name):
    try:
        taut.Policy("abs:1", codec=name)
    except taut.PolicyError:
        return False
    return True


@pytest.mark.skipif(not has_codec("zfp"), reason="the codec zfp is left out")
@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_at_a_rate_need_the_codec(comm, name, how):
    for policy, compressed in ("rate:24,codec=zfp", 1), ("rate:24", 0):
        comm.Set_policy(policy + ",min_bytes=0")
        before = comm.stats()["compressed_calls"]
        messages, result = arguments(name, comm, np.float64)
        run(comm, name, how, messages)
        expected_messages, expected = arguments(name, comm, np.float64)
        getattr(comm.wrapped, name)(*expected_messages)
        assert np.abs(result - expected).max(initial=0) <= BOUND
        if name == "Allreduce":
            assert len(set(comm.allgather(result.tobytes()))) == 1
        if comm.size > 1:
            assert comm.stats()["compressed_calls"] == before + compressed


@pytest.mark.parametrize("name", REDUCTIONS + MOVES)
def test_off_is_mpi(comm, name):
    comm.Set_policy("off")
    messages, result = arguments(name, comm, np.float32)
    run(comm, name, "blocking", messages)
    expected_messages, expected = arguments(name, comm, np.float32)
    getattr(comm.wrapped, name)(*expected_messages)
    assert result.tobytes() == expected.tobytes()
    assert comm.stats()["compressed_calls"] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("op", ["sum", "min", "max", "mean"])
@pytest.mark.parametrize("how", ["blocking", "nonblocking", "persistent"])
def test_types_and_operators(comm, dtype, op, how):
    dtype = np.dtype(dtype)
    if dtype.kind == "c" and op in ("min", "max"):
        pytest.skip("not defined")
    all_values = np.array([wave(N, rank, dtype) for rank in range(comm.size)]).astype(
        np.complex128 if dtype.kind == "c" else np.float64)  # fmt: skip
    exact = getattr(np, op)(all_values, axis=0)
    op = {"sum": MPI.SUM, "min": MPI.MIN, "max": MPI.MAX, "mean": taut.AVG}[op]
    mine, result = wave(N, comm.rank, dtype), np.empty(N, dtype)
    run(comm, "Allreduce", how, [mine, result], op=op)
    ulp = {2: 2.0**-8 if dtype.name == "bfloat16" else 2.0**-11}.get(dtype.itemsize, 0) * np.abs(exact).max()
    assert np.abs(result.astype(exact.dtype) - exact).max() <= np.hypot(BOUND, BOUND) + ulp + 1e-6 * comm.size
    assert len(set(comm.allgather(result.tobytes()))) == 1  # the same bits on every rank
    in_place = mine.copy()
    run(comm, "Allreduce", how, [MPI.IN_PLACE, in_place], op=op)
    assert in_place.tobytes() == result.tobytes()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_in_other_calls(comm, dtype):
    mine = wave(N, comm.rank, dtype)
    everyone = np.empty(N * comm.size, dtype)
    comm.Allgather(mine, everyone)
    exact = np.concatenate([wave(N, rank, dtype) for rank in range(comm.size)]).astype(np.float32)
    assert np.abs(everyone.astype(np.float32) - exact).max() <= BOUND + 2.0**-8 * comm.size
    total = np.empty(N, dtype)
    comm.Reduce(mine, total if comm.rank == 0 else None)
    if comm.rank == 0:
        exact = sum(wave(N, rank, dtype).astype(np.float32) for rank in range(comm.size))
        assert np.abs(total.astype(np.float32) - exact).max() <= BOUND + 2.0**-8 * np.abs(exact).max()
    ranks = comm.size
    block = np.empty(N, dtype)
    comm.Reduce_scatter_block(np.tile(mine, ranks), block)
    exact = sum(wave(N, rank, dtype).astype(np.float32) for rank in range(ranks))
    assert np.abs(block.astype(np.float32) - exact).max() <= BOUND + 2.0**-8 * np.abs(exact).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_rank_0_receives_nothing_from_an_exclusive_scan(comm, dtype):
    mine, prefix = wave(N, comm.rank, dtype), np.full(N, -7, dtype)
    comm.Exscan(mine, prefix)
    if comm.rank == 0:
        assert (prefix == np.full(N, -7, dtype)).all()
        return
    exact = sum(wave(N, rank, dtype).astype(np.float32) for rank in range(comm.rank))
    assert np.abs(prefix.astype(np.float32) - exact).max() <= BOUND + 2.0**-8 * np.abs(exact).max()


def test_integers_sum_exactly(comm):
    total = np.empty(N, np.int64)
    comm.Allreduce(np.arange(N, dtype=np.int64), total)
    assert np.array_equal(total, np.arange(N) * comm.size)


def test_in_place(comm):
    ranks, rank = comm.size, comm.rank
    everyone = np.zeros(N * ranks, np.float32)
    everyone[N * rank : N * (rank + 1)] = wave(N, rank)
    comm.Allgather(MPI.IN_PLACE, everyone)
    exact = np.concatenate([wave(N, r) for r in range(ranks)])
    assert np.abs(everyone - exact).max() <= BOUND
    total = wave(N, rank)
    comm.Reduce(MPI.IN_PLACE if rank == 0 else total, total if rank == 0 else None)
    if rank == 0:
        assert np.abs(total - sum(wave(N, r).astype(float) for r in range(ranks))).max() <= BOUND + 1e-6
    swapped = np.concatenate([wave(N, rank + 10 * r) for r in range(ranks)])
    comm.Alltoall(MPI.IN_PLACE, swapped)
    assert np.abs(swapped - np.concatenate([wave(N, r + 10 * rank) for r in range(ranks)])).max() <= BOUND

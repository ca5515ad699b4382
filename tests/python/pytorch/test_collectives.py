"""Tests collectives on tensors over a gloo group."""

import math
import time
from datetime import timedelta

import pytest
import taut
import torch
import torch.distributed as dist
from agreement import exact_sum, noise, same_bits_everywhere

import taut.torch
from taut.torch._exchange import HOST, exchange_of

COUNT = 40_003  # the blocks of the ranks have different sizes
HALF_ULP = {torch.float32: 2**-24, torch.float64: 2**-53, torch.float16: 2**-11, torch.bfloat16: 2**-8}


def error_of(result, exact):
    return float((result.double() - exact).abs().max())


@pytest.mark.parametrize("policy", ["abs:1e-2", "snap:1e-2", "abs:1e-2,codec=szx", "abs:1e-2,on=likely", "rel:1e-3"])
@pytest.mark.parametrize("dtype", HALF_ULP, ids=str)
def test_a_sum_is_within_the_bound(rank, ranks, policy, dtype):
    tensor, exact = noise(COUNT, rank, dtype), exact_sum(COUNT, ranks, dtype)
    taut.torch.all_reduce(tensor, policy)
    bound = 1e-2 * math.sqrt(ranks) if "likely" in policy or "rel" in policy else 1e-2  # noise has a range below 10
    assert error_of(tensor, exact) <= bound + float(exact.abs().max()) * HALF_ULP[dtype] * ranks
    assert same_bits_everywhere(tensor)
    assert not torch.equal(tensor.double(), exact)  # it was coded


def results_under(policy, values, ranks):
    """Returns the results of all calls that may have slots."""
    total, block, rooms, swapped = values.clone(), torch.empty(COUNT), torch.empty(ranks * COUNT), torch.empty(ranks * COUNT)
    taut.torch.all_reduce(total, policy)
    taut.torch.reduce_scatter(block, values, policy)
    taut.torch.all_gather(rooms, values[:COUNT].contiguous(), policy)
    taut.torch.all_to_all(swapped, values, policy)
    return torch.cat([total, block, rooms, swapped])


@pytest.mark.parametrize("ratio", [1, 3, 1000])
@pytest.mark.parametrize("noisy", ["all", "one"])
def test_slots_change_no_value(rank, ranks, monkeypatch, ratio, noisy):
    values = noise(ranks * COUNT, rank) if noisy == "all" or rank == ranks - 1 else torch.zeros(ranks * COUNT)
    exchange, messages = exchange_of(None, HOST), []
    send = exchange.all_to_all
    monkeypatch.setattr(exchange, "all_to_all", lambda *given: (messages.append(given[1].numel()), send(*given)))
    exact = results_under("abs:1e-3,codec=planes", values, ranks)
    without, _ = len(messages), messages.clear()
    assert torch.equal(results_under(f"abs:1e-3,codec=planes,slots={ratio}", values, ranks), exact)
    if ratio == 1:  # all frames fit: no sizes travel before them
        assert len(messages) == without // 2
    elif ratio == 1000:
        assert len(messages) == without


@pytest.mark.parametrize("bits, share", [(8, 127), (4, 7)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_block_scaled_frames(rank, ranks, bits, share, dtype):
    tensor, exact = noise(COUNT, rank, dtype), exact_sum(COUNT, ranks, dtype)
    taut.torch.all_reduce(tensor, f"block:{bits}")
    half_a_scale = 6 * ranks / share / 2  # noise and its sums are below 6 for each rank
    assert error_of(tensor, exact) <= 2 * half_a_scale + float(exact.abs().max()) * HALF_ULP[dtype] * ranks
    assert same_bits_everywhere(tensor) and not torch.equal(tensor.double(), exact)
    gathered, mine = torch.empty(ranks * COUNT, dtype=dtype), noise(COUNT, rank, dtype)
    taut.torch.all_gather(gathered, mine, f"block:{bits}")
    for one in range(ranks):
        assert error_of(gathered[one * COUNT : (one + 1) * COUNT], noise(COUNT, one, dtype).double()) <= half_a_scale


def test_a_mean_is_within_the_bound(rank, ranks):
    tensor, exact = noise(COUNT, rank), exact_sum(COUNT, ranks) / ranks
    taut.torch.all_reduce(tensor, "abs:1e-2", op=dist.ReduceOp.AVG)
    assert error_of(tensor, exact) <= 1e-2 + 1e-6 and same_bits_everywhere(tensor)


@pytest.mark.parametrize("policy", ["off", "lossless", "abs:1e-2,min_bytes=1MiB", "pwrel:1e-3"])
def test_what_is_not_compressed_is_a_plain_sum(rank, ranks, policy):
    tensor, plain = noise(COUNT, rank), noise(COUNT, rank)
    taut.torch.all_reduce(tensor, policy)
    dist.all_reduce(plain)
    assert torch.equal(tensor, plain)


def test_a_named_codec_adds_without_loss(rank, ranks):
    tensor = noise(COUNT, rank, torch.float64)
    taut.torch.all_reduce(tensor, "lossless,codec=mpc")
    assert error_of(tensor, exact_sum(COUNT, ranks, torch.float64)) < 1e-14 and same_bits_everywhere(tensor)


@pytest.mark.parametrize("codec", ["exponents", "mpc"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("op", [dist.ReduceOp.SUM, dist.ReduceOp.AVG], ids=str)
def test_sums_of_16_bits_are_rounded_once(rank, ranks, codec, dtype, op):
    exact = torch.zeros(COUNT)
    for one in range(ranks):
        exact += noise(COUNT, one, dtype).float()
    exact = (exact / ranks if op == dist.ReduceOp.AVG else exact).to(dtype)
    tensor = noise(COUNT, rank, dtype)
    taut.torch.all_reduce(tensor, f"lossless,codec={codec}", op=op)
    assert torch.equal(tensor, exact)
    block, part = torch.empty(COUNT, dtype=dtype), noise(COUNT, rank, dtype).repeat(ranks)
    taut.torch.reduce_scatter(block, part, f"lossless,codec={codec}", op=op)
    assert torch.equal(block, exact)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("op", [dist.ReduceOp.SUM, dist.ReduceOp.AVG], ids=str)
def test_wide_sums_are_those_in_the_order_of_the_ranks(rank, ranks, dtype, op):
    wide = {torch.float32: torch.float64, torch.float64: torch.float64}.get(dtype, torch.float32)
    total = noise(COUNT, 0, dtype).to(wide)
    for one in range(1, ranks):
        total += noise(COUNT, one, dtype)
    expected = (total / ranks if op == dist.ReduceOp.AVG else total).to(dtype)
    tensor = noise(COUNT, rank, dtype)
    taut.torch.all_reduce(tensor, "lossless,sum=wide", op=op)
    assert torch.equal(tensor, expected)
    block, part = torch.empty(COUNT, dtype=dtype), noise(COUNT, rank, dtype).repeat(ranks)
    taut.torch.reduce_scatter(block, part, "lossless,sum=wide", op=op)
    assert torch.equal(block, expected)


def test_integers_and_nothing(rank, ranks):
    whole = torch.arange(COUNT) * (rank + 1)
    taut.torch.all_reduce(whole, "abs:1e-2")
    assert torch.equal(whole, torch.arange(COUNT) * (ranks * (ranks + 1) // 2))
    taut.torch.all_reduce(torch.empty(0), "abs:1e-2")


def test_not_a_number_stays_in_its_place(rank, ranks):
    tensor = noise(COUNT, rank)
    if rank == ranks - 1:
        tensor[7], tensor[COUNT - 1] = float("nan"), float("inf")
    taut.torch.all_reduce(tensor, "abs:1e-2")
    assert tensor[7].isnan() and tensor[COUNT - 1] == float("inf")
    assert tensor.isfinite().sum() == COUNT - 2 and same_bits_everywhere(tensor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("policy", ["abs:1e-2", "off", "abs:1e-2,codec=szx"])
def test_each_rank_gets_its_block_of_a_sum(rank, ranks, dtype, policy):
    count = 30_000
    block = torch.empty(count, dtype=dtype)
    taut.torch.reduce_scatter(block, noise(count * ranks, rank, dtype), policy)
    exact = exact_sum(count * ranks, ranks, dtype).view(ranks, count)[rank]
    assert error_of(block, exact) <= 1e-2 + float(exact.abs().max()) * HALF_ULP[dtype] * ranks


@pytest.mark.parametrize("policy, bound", [("abs:1e-2", 1e-2), ("lossless", 0), ("off", 0), ("rel:1e-3", 1e-2)])
def test_every_rank_gathers_the_same_bits(rank, ranks, policy, bound):
    every = torch.empty(ranks, 100, 300)
    taut.torch.all_gather(every, noise(30_000, rank).view(100, 300), policy)
    exact = torch.stack([noise(30_000, one).view(100, 300) for one in range(ranks)])
    assert error_of(every, exact.double()) <= bound and same_bits_everywhere(every)


def test_parts_of_different_sizes_are_exchanged(rank, ranks):
    rows = [[17_000 * (sender + 1) + receiver for receiver in range(ranks)] for sender in range(ranks)]
    parts = torch.cat([noise(2 * n, rank * ranks + to).view(n, 2) for to, n in enumerate(rows[rank])])
    theirs = [rows[sender][rank] for sender in range(ranks)]
    room = torch.empty(sum(theirs), 2)
    taut.torch.all_to_all(room, parts, "abs:1e-2", theirs, rows[rank])
    exact = torch.cat([noise(2 * n, sender * ranks + rank).view(n, 2) for sender, n in enumerate(theirs)])
    assert 0 < error_of(room, exact.double()) <= 1e-2


def test_calls_overlap(rank, ranks):
    tensors = [noise(COUNT, rank + ranks * call) for call in range(5)]
    works = [taut.torch.all_reduce(tensor, "abs:1e-2", async_op=True) for tensor in tensors]
    assert works[0].get_future().wait() is tensors[0]
    for work in reversed(works):
        assert work.wait() and work.is_completed() and work.is_success()
    for call, tensor in enumerate(tensors):
        exact = sum(noise(COUNT, one + ranks * call).double() for one in range(ranks))
        assert error_of(tensor, exact) <= 1e-2 + 1e-5


def test_waiting_ends_in_time(rank, ranks):
    tensor = noise(COUNT, rank)
    taut.torch.all_reduce(torch.ones(1))  # the first call on a group waits for all ranks
    if rank == 0:
        time.sleep(0.5)
    work = taut.torch.all_reduce(tensor, "abs:1e-2", async_op=True)
    if rank > 0:
        with pytest.raises(taut.torch.Timeout, match="after 0.05 s"):
            work.wait(timedelta(milliseconds=50))
        assert not work.is_completed()
    assert work.wait(timedelta(seconds=30)) and work.wait(timedelta(0)) and work.wait()
    assert error_of(tensor, exact_sum(COUNT, ranks)) <= 1e-2 + 1e-5


OTHER_TYPES = [torch.bool, torch.uint16, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("policy", ["lossless", "abs:1e-2", "rel:1e-3", "off"])
@pytest.mark.parametrize("dtype", OTHER_TYPES, ids=str)
def test_other_types_move_as_bytes(rank, ranks, policy, dtype):
    parts = [torch.arange(3000 * ranks, device="cpu").add(sender).remainder(2).to(dtype) for sender in range(ranks)]
    mine, every = parts[rank][:3000].to(torch.get_default_device()), torch.empty(3000 * ranks, dtype=dtype)
    taut.torch.all_gather(every, mine, policy)
    assert torch.equal(every.cpu().view(torch.uint8), torch.cat([part[:3000] for part in parts]).view(torch.uint8))
    taut.torch.all_to_all(every, parts[rank].to(torch.get_default_device()), policy)
    blocks = [part[3000 * rank : 3000 * (rank + 1)] for part in parts]
    assert torch.equal(every.cpu().view(torch.uint8), torch.cat(blocks).view(torch.uint8))


def test_groups_of_some_ranks(rank, ranks):
    group = dist.new_group(list(range(ranks - 1)))
    if rank < ranks - 1:
        tensor = noise(COUNT, rank)
        taut.torch.all_reduce(tensor, "abs:1e-2", group=group)
        assert error_of(tensor, exact_sum(COUNT, ranks - 1)) <= 1e-2 + 1e-5
    dist.barrier()


def test_ranks_with_different_numbers_of_groups(rank, ranks):
    dist.new_group([0])  # the other ranks have one group less
    group = dist.new_group(list(range(ranks)))
    tensor = noise(COUNT, rank)
    taut.torch.all_reduce(tensor, "abs:1e-2", group=group)
    assert error_of(tensor, exact_sum(COUNT, ranks)) <= 1e-2 + 1e-5


def test_the_surrounding_policy_applies(rank, ranks):
    tensor, plain = noise(COUNT, rank), noise(COUNT, rank)
    dist.all_reduce(plain)
    with taut.policy("abs:1e-2"):
        taut.torch.all_reduce(tensor)
    assert not torch.equal(tensor, plain)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: taut.torch.all_reduce(torch.zeros(4), "abs:0"), taut.PolicyError, "abs:1e-4"),
        (lambda: taut.torch.all_reduce([1.0], "abs:1"), taut.DTypeError, "no tensor"),
        (lambda: taut.torch.all_reduce(torch.zeros(4, 4).t()[1:], "abs:1"), taut.ArgumentError, r"contiguous\(\)"),
        (lambda: taut.torch.all_reduce(torch.zeros(4, device="meta"), "abs:1"), taut.ArgumentError, r"pass tensor.cpu\(\)"),
        (lambda: taut.torch.all_reduce(torch.zeros(4), "abs:1", op=dist.ReduceOp.PRODUCT), taut.ArgumentError, "torch.distributed"),
        (lambda: taut.torch.all_gather(torch.zeros(5), torch.zeros(3)), taut.ArgumentError, "output has 5 values"),
        (lambda: taut.torch.all_gather(torch.zeros(9), torch.zeros(3).int()), taut.ArgumentError, "same type"),
        (lambda: taut.torch.all_to_all(torch.zeros(12), torch.zeros(12), "off", [1, 2]), taut.ArgumentError, "output_split_sizes"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(call, error, text):
    with pytest.raises(error, match=text):
        call()

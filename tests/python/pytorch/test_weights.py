"""Tests sync_weights and all_gather_updates: bits, memory that changed, and errors that no other rank waits for."""

import mmap
import os
import random
import subprocess
import sys
from datetime import timedelta

import pytest
import taut
import torch
import torch.distributed as dist
from agreement import noise, same_bits_everywhere

import taut.torch
from taut.torch._exchange import exchange_of

SYNC = taut.torch.sync_weights
DEVICE = torch.get_default_device()


class Network(torch.nn.Module):
    """Weights of several types and sizes: large, small, tied, apart in memory, empty, and a buffer of integers."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = torch.nn.Embedding(3000, 250, dtype=torch.bfloat16)
        self.head = torch.nn.Linear(250, 3000, bias=False, dtype=torch.bfloat16)
        self.head.weight = self.embedding.weight
        self.layers = torch.nn.ModuleList(torch.nn.Linear(30, 40, dtype=torch.float16) for _ in range(20))
        self.norm = torch.nn.LayerNorm(500)
        self.turned = torch.nn.Parameter(torch.randn(300, 400).t())
        self.nothing = torch.nn.Parameter(torch.empty(0, 7))
        self.register_buffer("steps", torch.tensor(seed))

    def step(self, seed):
        """Changes few of the 16-bit weights, and all others, as an optimiser does."""
        with torch.no_grad():
            for tensor in self.parameters():
                tensor += torch.randn(tensor.shape, generator=torch.Generator(DEVICE).manual_seed(seed)).to(tensor.dtype) * 1e-5
            self.steps += 1


def bits(tensor):
    return tensor.detach().contiguous().view(-1).view(torch.uint8)


def assert_equal(tensors, others):
    for one, other in zip(tensors, others, strict=True):
        assert torch.equal(bits(one), bits(other))


def test_all_ranks_get_the_weights_of_one(rank, ranks):
    network, source = Network(rank), ranks - 1
    for step in range(4):
        if rank == source:
            network.step(step)
        report = SYNC(network, src=source)
        assert all(same_bits_everywhere(tensor) for tensor in network.state_dict().values())
        assert report.resent_bytes == 0 and report.tensor_bytes < sum(t.nbytes for t in network.state_dict().values())
    assert 4 < report.ratio and report.seconds > 0
    assert network.steps == source + 4 and network.turned.shape == (400, 300) and not network.turned.is_contiguous()


def test_fifty_steps_of_an_optimiser(rank):
    torch.manual_seed(rank)
    weights = torch.randn(70_000) * 0.02
    worker = weights.bfloat16()
    master = torch.nn.Parameter(weights)
    optimiser = torch.optim.Adam([master], lr=1e-6)
    ratios = []
    for step in range(50):
        if rank == 0:
            master.grad = noise(master.numel(), step)
            optimiser.step()
            worker.copy_(master)
        ratios.append(SYNC([worker]).ratio)
        assert same_bits_everywhere(worker)
    assert ratios[0] < 2 and min(ratios[1:]) > 25


def test_a_worker_with_other_values_gets_them_whole(rank, ranks):
    tensors = [noise(1_000_000, 1).bfloat16(), noise(3_000_000, 2).bfloat16(), noise(100, 3)]
    SYNC(tensors)
    exact = [tensor.clone() for tensor in tensors]
    for tensor in exact if rank else [*exact, *tensors]:
        tensor.view(torch.int16)[::100] += 1
    if rank == ranks - 1:
        tensors[0].view(torch.int16)[-1] ^= 1  # one bit
    report = SYNC(tensors)
    assert_equal(tensors, exact)
    assert report.resent_bytes == tensors[0].nbytes
    if rank == ranks - 1:
        tensors = [torch.zeros_like(tensor) for tensor in tensors]  # a new worker
    report = SYNC(tensors)
    assert_equal(tensors, exact)
    assert report.resent_bytes == report.tensor_bytes
    assert SYNC(tensors).resent_bytes == 0


def test_the_sender_may_keep_the_previous_values(rank):
    weights, old = noise(500_000, 7).bfloat16(), None
    for step in range(3):
        if rank == 0:
            old = weights.clone()
            weights.view(torch.int16)[step::200] += 1
        report = SYNC({"w": weights}, previous={"w": old} if rank == 0 else None)
        assert same_bits_everywhere(weights) and report.resent_bytes == 0 and report.ratio > 20
    wrong = weights.clone()
    wrong.view(torch.int16)[-1] ^= 1
    report = SYNC({"w": weights}, previous={"w": wrong} if rank == 0 else None)
    assert same_bits_everywhere(weights) and report.resent_bytes == weights.nbytes


def test_every_bit_arrives(rank):
    words = torch.arange(-(2**15), 2**15, device="cpu").short().to(DEVICE)
    for dtype in (torch.bfloat16, torch.float16):  # all NaN, infinities and both zeros
        room = words.clone().view(dtype) if rank == 0 else torch.ones(2**16, dtype=dtype)
        SYNC([room])
        assert torch.equal(room.view(torch.int16), words)
        if rank == 0:
            room.view(torch.int16)[5:] = words[:-5]
        SYNC([room])
        assert torch.equal(room.view(torch.int16), torch.cat([words[:5], words[:-5]]))


OTHER_TYPES = [torch.float64, torch.complex64, torch.bool, torch.uint8, torch.int64, torch.uint16, torch.float8_e4m3fn]


@pytest.mark.parametrize("dtype", OTHER_TYPES, ids=str)
def test_other_types(rank, dtype):
    exact = torch.arange(200_000, device="cpu").remainder(97).to(dtype).to(DEVICE)
    tensors = [exact.clone() if rank == 0 else torch.zeros_like(exact)]
    SYNC(tensors)
    assert SYNC(tensors).ratio > 100
    assert_equal(tensors, [exact])


def test_memory_that_is_apart_or_of_inference(rank):
    wide = torch.zeros(500, 600) if rank else noise(300_000, 5).view(500, 600)
    with torch.inference_mode():
        tensors = [wide[:, ::2], wide[:, 1::2].t(), torch.full((3, 3), float(rank))]
    for _ in range(2):
        report = SYNC(tensors)
        assert torch.equal(wide, noise(300_000, 5).view(500, 600)) and not tensors[2].any()
    assert report.resent_bytes == 0


def test_autograd_notices_the_change(rank):
    weight = torch.ones(4, requires_grad=True)
    loss = (weight * weight).sum()
    SYNC([weight])
    if rank == 0:  # whose weights are as they were
        return loss.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
def test_the_sender_is_not_written_to(rank, tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(noise(300_000, 3).cpu().numpy().tobytes())
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        weights = torch.frombuffer(memory, dtype=torch.float32).view(500, 600) if rank == 0 else torch.zeros(500, 600)
        exact = noise(300_000, 3).view(500, 600)
        SYNC([weights])
        assert torch.equal(weights, exact)
        SYNC([weights[:, ::2].t()])  # which is copied
        assert torch.equal(weights, exact)
        del weights


@pytest.mark.parametrize("seed", range(2))
def test_no_history_gives_a_wrong_value(rank, ranks, seed):
    """Senders that change, steps that change few or all words, buffers that are damaged or new, copies that are stale."""
    choices = random.Random(seed)  # the same on all ranks
    dtypes = choices.choices([torch.bfloat16, torch.float16, torch.float32, torch.float64], k=9)
    tensors = [noise(choices.choice([0, 1, 100, 9000, 150_000]), i).to(dtype) for i, dtype in enumerate(dtypes)]
    stale = [tensor.clone() for tensor in tensors]
    for step in range(25):
        source, victim, kind = choices.randrange(ranks), choices.randrange(ranks), choices.choice(["none", "damaged", "new", "stale"])
        every = choices.choice([1, 97, 2000])
        if rank == source:
            for tensor in tensors:
                bits(tensor)[:: every * tensor.element_size()] += 1
        elif rank == victim and kind == "damaged":
            bits(tensors[-1])[-1:] += 1
        elif rank == victim and kind == "new":
            tensors = [torch.ones_like(tensor) for tensor in tensors]
        exact = [tensor.clone() for tensor in tensors]
        for tensor in exact:
            dist.broadcast(tensor, source)
        previous = stale if rank == source and kind == "stale" else None
        SYNC(tensors, src=source, previous=previous, threads=choices.choice([1, 3]))
        assert_equal(tensors, exact)
        if step % 4 == 0:
            stale = exact


def test_each_rank_owns_tensors(rank, ranks):
    tensors = [noise(1000 + i, 10 * rank + i).bfloat16() for i in range(2 * ranks)]
    owners = [i % ranks for i in range(2 * ranks)]
    for _ in range(2):
        report = SYNC(tensors, src=owners)
        assert_equal(tensors, [noise(1000 + i, 10 * owners[i] + i).bfloat16() for i in range(2 * ranks)])
    assert report.resent_bytes == 0


@pytest.mark.parametrize("in_place", [True, False])
def test_shards_are_gathered(rank, ranks, in_place):
    count = 200_000
    output = torch.zeros(ranks, count, dtype=torch.bfloat16)
    for step in range(3):
        shards = [noise(count, one).bfloat16() for one in range(ranks)]
        for shard in shards:
            shard.view(torch.int16)[step::100] += step
        if in_place:
            output[rank] = shards[rank]
        report = taut.torch.all_gather_updates(output, output[rank] if in_place else shards[rank])
        assert_equal([output], [torch.stack(shards)])
    assert report.resent_bytes == 0 and report.ratio > 10


def test_calls_in_the_background_and_in_groups(rank, ranks):
    group = dist.new_group(list(range(1, ranks)))
    if rank > 0:
        weights = noise(1000, rank)
        work = SYNC([weights], src=1, group=group, async_op=True)
        assert work.wait() and isinstance(work.result()[0], taut.torch.SyncReport)
        assert torch.equal(weights, noise(1000, 1))
    dist.barrier()


@pytest.mark.parametrize(
    "wrong, error, text",
    [
        (lambda: ([torch.zeros(3, 3).to_sparse()], {}), taut.DTypeError, r"tensors\[0\] is of type torch.float32 with layout"),
        (lambda: ([torch.zeros(3, device="meta")], {}), taut.ArgumentError, r"pass tensors\[0\].cpu\(\)"),
        (lambda: ([3.0], {}), taut.DTypeError, r"tensors\[0\] is no tensor: float"),
        (lambda: ([torch.zeros(3)], {"src": 99}), taut.ArgumentError, "src= names rank 99"),
        (lambda: ([torch.zeros(3)], {"src": [0, 0]}), taut.ArgumentError, "src= has 2 ranks"),
    ],
)
def test_no_rank_waits_for_one_with_wrong_arguments(rank, ranks, wrong, error, text):
    tensors, options = wrong() if rank == ranks - 1 else ([torch.zeros(3)], {})
    with pytest.raises(error if rank == ranks - 1 else taut.PeerError, match=text if rank == ranks - 1 else "cannot take part"):
        SYNC(tensors, **options)


def test_ranks_with_other_tensors_are_told(rank):
    weight = torch.zeros(9)
    for tensors in ([torch.zeros(9 + rank)], {f"w{rank}": torch.zeros(9)}, [weight, weight if rank else weight.clone()]):
        with pytest.raises(taut.RankMismatchError, match="differ in names, shapes, types or ties"):
            SYNC(tensors)


def test_previous_values_of_another_size_are_refused(rank):
    wrong = [torch.zeros(4)] if rank == 0 else None
    with pytest.raises(taut.ArgumentError if rank == 0 else taut.PeerError):
        SYNC([torch.zeros(3)], previous=wrong)


@pytest.mark.parametrize("call", ["encode", "decode"])
def test_no_rank_waits_for_one_that_fails(rank, ranks, monkeypatch, call):
    weights, sender = noise(1_200_000, rank), call == "encode"
    failing = rank == (0 if sender else ranks - 1)

    def fail(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        if failing:
            patch.setattr(taut._core, call, fail)
        with pytest.raises(MemoryError if failing else taut.PeerError, match="no room" if failing else "its own error says why"):
            SYNC([weights])
    SYNC([weights])
    assert torch.equal(weights, noise(1_200_000, 0))


KILLED = """
import os, sys, time, torch, taut.torch, torch.distributed as dist
from datetime import timedelta
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=3, timeout=timedelta(seconds=4))
weights = [torch.zeros(1000)]
taut.torch.sync_weights(weights)
if rank == 2:
    os.kill(os.getpid(), 9)
began = time.monotonic()
try:
    while True:
        taut.torch.sync_weights(weights)
except RuntimeError:
    print("ended", flush=True)
os._exit(0 if time.monotonic() - began < 12 else 3)
"""


def test_frames_have_the_timeout_of_the_group():
    SYNC([torch.zeros(1)])
    used = exchange_of(None, torch.device("cpu"))._group._get_backend(torch.device("cpu"))
    assert used.options._timeout == timedelta(seconds=60)  # of conftest.py


def test_a_killed_rank_ends_calls_in_the_time_of_the_group(rank, ranks, tmp_path):
    if rank == 0 and ranks == 3:  # once
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCHELASTIC")}
        ranks = [
            subprocess.Popen([sys.executable, "-c", KILLED, str(i), str(tmp_path / "store")], env=environment) for i in range(3)
        ]
        try:
            assert [one.wait(timeout=40) for one in ranks] == [0, 0, -9]
        finally:
            for one in ranks:
                one.kill()
    dist.barrier()

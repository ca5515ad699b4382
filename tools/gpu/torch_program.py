#!/usr/bin/env python3
"""A program of PyTorch and NCCL without a call of Taut: collectives, calls in flight, and training with DDP. Each rank prints
what it got.

  torchrun --nproc-per-node 2 torch_program.py [BOUND [PARTS]]

PARTS: names of parts, separated by commas: waiting (each call is waited for), flying (several calls in flight), stream (a call on
a stream of its own), training; default all, in this order.

Fails if a result differs from the exact one by more than BOUND (default 0, and rounding), or if ranks that should have the same
bits have different ones. Ranks that share a GPU claim hosts of their own, because NCCL refuses two ranks on a GPU of one host.
NONBLOCKING=1 gives init_process_group the device: its communicators are then nonblocking. BACKEND=gloo: on CPUs, to try it.
Prints where all threads are if it has not ended 15 s after its imports.
"""

import faulthandler
import hashlib
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

BOUND = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
COUNT = 1 << 18
START = time.monotonic()
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BACKEND = os.environ.get("BACKEND", "nccl")
faults = []


def noise(rank, count=COUNT, dtype=torch.float32):
    values = torch.randn(count, generator=torch.Generator().manual_seed(rank), device="cpu")
    return values.to(dtype).to(DEVICE)


def say(text):
    os.write(1, f"rank {RANK} {text}\n".encode())  # as one piece


def begin(what):
    say(f"begins {what}, {time.monotonic() - START:.1f} s")


def tell(what, result, exact, same=True):
    """Prints the error and a hash of a result. `same`: all ranks should have the same bits."""
    error = float((result.double() - exact.double()).abs().max())
    rounding = RANKS * float(exact.double().abs().max()) * torch.finfo(result.dtype).eps
    digest = hashlib.sha1(result.contiguous().view(torch.uint8).cpu().numpy().tobytes()).hexdigest()[:12]
    digests = [None] * RANKS
    dist.all_gather_object(digests, digest)
    if error > BOUND + rounding or (same and len(set(digests)) > 1):
        faults.append(f"{what}: error {error:.3g}, digests {digests}")
    say(f"{what}: error {error:.3g} bits {digest}")


def waiting():
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        name = str(dtype).removeprefix("torch.")
        begin(name)
        every = torch.stack([noise(rank, COUNT, dtype) for rank in range(RANKS)])
        total = noise(RANK, COUNT, dtype)
        dist.all_reduce(total)
        tell(f"all_reduce {name}", total, every.double().sum(0))
        part = torch.empty(COUNT // RANKS, dtype=dtype, device=DEVICE)
        dist.reduce_scatter_tensor(part, noise(RANK, COUNT, dtype))
        tell(f"reduce_scatter {name}", part, every.double().sum(0).view(RANKS, -1)[RANK], same=False)
        gathered = torch.empty(RANKS * COUNT, dtype=dtype, device=DEVICE)
        dist.all_gather_into_tensor(gathered, noise(RANK, COUNT, dtype))
        tell(f"all_gather {name}", gathered, every.view(-1))
        one = noise(RANK, COUNT, dtype)
        dist.broadcast(one, 0)
        tell(f"broadcast {name}", one, every[0])
        turned = torch.empty(COUNT, dtype=dtype, device=DEVICE)
        dist.all_to_all_single(turned, noise(RANK, COUNT, dtype))
        tell(f"all_to_all {name}", turned, every.view(RANKS, RANKS, -1)[:, RANK].reshape(-1), same=False)
    whole = torch.full((1000,), RANK + 1, dtype=torch.int64, device=DEVICE)
    dist.all_reduce(whole)
    if int(whole[0]) != RANKS * (RANKS + 1) // 2:
        faults.append("integers")


def flying():
    tensors = [noise(RANK + 10 * i) for i in range(8)]
    works = []
    for i, tensor in enumerate(tensors):
        begin(f"async {i}")
        works.append(dist.all_reduce(tensor, async_op=True))
    for i, (work, tensor) in enumerate(zip(works, tensors)):
        work.wait()
        begin(f"comparison of async {i}")
        tell(f"async {i}", tensor, sum(noise(rank + 10 * i).double() for rank in range(RANKS)))


def stream():
    if DEVICE.type != "cuda":
        return
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        late = torch.zeros(COUNT, device=DEVICE)
        for _ in range(300):
            late.add_(0.5)
        dist.all_reduce(late)
    torch.cuda.current_stream().wait_stream(side)
    tell("side stream", late, torch.full((COUNT,), 150.0 * RANKS, device=DEVICE))


def training():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))
    model = DistributedDataParallel(network.to(DEVICE))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(50):
        points = torch.randn(64, 64, generator=torch.Generator().manual_seed(100 * step + RANK)).to(DEVICE)
        loss = torch.nn.functional.cross_entropy(model(points), points[:, :8].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = torch.cat([parameter.detach().view(-1) for parameter in model.parameters()])
    tell(f"training, loss {loss.item():.4f}", weights, weights)


names = sys.argv[2].split(",") if len(sys.argv) > 2 else ["waiting", "flying", "stream", "training"]
PARTS = [{"waiting": waiting, "flying": flying, "stream": stream, "training": training}[name] for name in names]
if BACKEND == "nccl":
    if torch.cuda.device_count() < RANKS:
        os.environ.setdefault("NCCL_HOSTID", f"rank{RANK}")
    DEVICE = torch.device("cuda", RANK % torch.cuda.device_count())
    torch.cuda.set_device(DEVICE)
else:
    DEVICE = torch.device("cpu")
faulthandler.dump_traceback_later(15)
more = {"device_id": DEVICE} if os.environ.get("NONBLOCKING") == "1" else {}
dist.init_process_group(BACKEND, timeout=timedelta(seconds=60), **more)
for part in PARTS:
    begin(part.__name__)
    part()
dist.barrier()
dist.destroy_process_group()
for fault in faults:
    say(f"FAILED {fault}")
sys.exit(bool(faults))

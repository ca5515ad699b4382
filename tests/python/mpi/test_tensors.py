"""Tests tensors of PyTorch in calls of taut.Comm, and taut.torch over MPI; on a GPU with TESTED_DEVICE=cuda."""

import os

import numpy as np
import pytest
from mpi4py import MPI

pytest.importorskip("torch.distributed", reason="PyTorch is not installed: make torch-test installs it into .venv-torch")
import taut  # noqa: E402
import torch  # noqa: E402

WORLD = MPI.COMM_WORLD
torch.set_default_device(os.environ.get("TESTED_DEVICE", "cpu"))
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def noise(rank, dtype=torch.float32, count=50_000):
    values = torch.randn(count, generator=torch.Generator().manual_seed(rank), dtype=torch.float64, device="cpu").to(dtype)
    return values.to(torch.get_default_device())


def exact(dtype=torch.float32):
    return sum(noise(rank, dtype).double() for rank in range(WORLD.size))


def same_bits_everywhere(tensor):
    return len(set(WORLD.allgather(tensor.cpu().contiguous().view(torch.uint8).numpy().tobytes()))) == 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_send_and_receive(dtype):
    comm = taut.Comm(WORLD.Dup(), "abs:1e-2", codec="planes", when="always", min_bytes=1)
    tensor, total = noise(WORLD.rank, dtype), torch.zeros(50_000, dtype=dtype)
    comm.Allreduce(tensor, total)
    assert float((total.double() - exact(dtype)).abs().max()) <= 1e-2 + float(exact(dtype).abs().max()) * 2**-7
    assert same_bits_everywhere(total)
    new = comm.Allreduce(tensor)
    assert isinstance(new, torch.Tensor) and torch.equal(new, total)
    comm.Allreduce(MPI.IN_PLACE, tensor)
    assert torch.equal(tensor, total)


@pytest.mark.skipif(torch.get_default_device().type != "cpu", reason="NumPy has no arrays on a GPU")
def test_tensors_share_memory_with_numpy():
    comm = taut.Comm(WORLD.Dup(), "abs:1e-2", codec="planes", when="always", min_bytes=1)
    tensor = torch.zeros(50_000)
    if WORLD.rank == 0:
        tensor.copy_(noise(5))
    view = tensor.numpy()
    comm.Bcast(tensor)
    assert np.abs(view - noise(5).numpy()).max() <= 1e-2


@pytest.mark.parametrize("wrap", [lambda comm: comm, lambda comm: taut.Comm(comm, "abs:1e-2", codec="planes", when="always", min_bytes=1)], ids=["mpi4py", "taut.Comm"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_collectives_of_torch_over_mpi(wrap, dtype):
    import taut.torch

    group = wrap(WORLD.Dup())
    bound = "abs:1e-2" if isinstance(group, MPI.Comm) else None
    tensor = noise(WORLD.rank, dtype)
    work = taut.torch.all_reduce(tensor, bound, group=group, async_op=True)
    work.wait()
    assert float((tensor.double() - exact(dtype)).abs().max()) <= 1e-2 + float(exact(dtype).abs().max()) * 2**-7
    assert same_bits_everywhere(tensor)
    every = torch.empty(WORLD.size * 50_000, dtype=dtype)
    taut.torch.all_gather(every, noise(WORLD.rank, dtype), bound, group=group)
    assert same_bits_everywhere(every)
    whole = noise(WORLD.rank, dtype)
    taut.torch.all_reduce(whole, "off", group=group)
    assert torch.allclose(whole.double(), exact(dtype), rtol=2**-6, atol=0.05)


def test_weights_reach_all_ranks_of_a_communicator():
    import taut.torch

    weights = [noise(WORLD.rank, torch.bfloat16), noise(WORLD.rank)[:100]]
    for step in range(3):
        if WORLD.rank == 0:
            weights[0].view(torch.int16)[step::300] += 1
        report = taut.torch.sync_weights(weights, group=WORLD)
        assert all(same_bits_everywhere(tensor) for tensor in weights)
    assert report.ratio > 20 and report.resent_bytes == 0


class OneBucket:
    """Bucket of DDP with two parameters."""

    def __init__(self, gradients):
        self.gradients = gradients
        self.parts = list(gradients.split([40_000, 10_000]))

    def parameters(self):
        return self.parts

    def buffer(self):
        return self.gradients

    def is_last(self):
        return True


def test_gradients_over_mpi_have_bounds_by_parameter():
    import taut.torch

    bucket = OneBucket(torch.zeros(50_000))
    named = [("large", bucket.parts[0]), ("small", bucket.parts[1])]
    state = taut.torch.GradientState(named, 0.25, WORLD.Dup(), warm_up_steps=1, error_feedback=False)
    for step in range(4):
        bucket.gradients.copy_(noise(10 * step + WORLD.rank))
        bucket.parts[1].mul_(1e-5)
        mean = torch.from_numpy(WORLD.allreduce(bucket.gradients.double().cpu().numpy()) / WORLD.size)
        rms = [state.state_dict()["mean_squares"].get(name, 0.0) ** 0.5 for name, _ in named]
        taut.torch.gradient_hook(state, bucket).wait()
        assert same_bits_everywhere(bucket.gradients)
        errors = [float((a.double().cpu() - b).abs().max()) for a, b in zip(bucket.parts, mean.split([40_000, 10_000]))]
        assert step == 0 or all(0 < error <= 0.25 * size * 1.0001 for error, size in zip(errors, rms))
    assert state.state_dict()["place"] == [WORLD.rank, WORLD.size]

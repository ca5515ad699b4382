"""Tests what a step of the hook takes in memory beside gradients and residuals: at most as much as the gradients."""

import ctypes
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from agreement import noise, same_bits_everywhere

from taut.torch._ddp import GradientState, _Bucket

COUNT = 1 << 21
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt


def kilobytes(name):
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)).split()[1])


def bytes_of(action):
    """Returns how much memory an action takes at most beyond what is used before. Memory that is freed goes back at once."""
    libc = ctypes.CDLL(None)
    assert libc.mallopt(M_MMAP_THRESHOLD, 1 << 16)
    assert libc.mallopt(M_TRIM_THRESHOLD, 0)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = kilobytes("VmRSS")
    action()
    return 1024 * (kilobytes("VmHWM") - before)


@pytest.mark.parametrize("bound", [1.0, 0.02, 1e-3, 1e-5, 1e-7, 1e-12])
def test_a_step_takes_at_most_the_memory_of_the_gradients(rank, ranks, bound):
    state = GradientState([], bound, dist.new_group(), warm_up_steps=1)  # whose statistics are its own
    bucket = _Bucket(("one", "other"), [COUNT // 3, COUNT - COUNT // 3], torch.zeros(COUNT), [0.0, 0.0])
    for step in range(3):
        gradients = noise(COUNT, 10 * step + rank)
        exact = sum(noise(COUNT, 10 * step + other).double() for other in range(ranks)) / ranks if step == 1 else None
        exchange = state.exchange_for(gradients.device)
        average = lambda gradients=gradients, step=step: state.average(bucket, gradients, step)  # noqa: E731
        taken = bytes_of(lambda average=average, gradients=gradients: exchange.submit("Allreduce", average, [gradients]).wait())
        assert same_bits_everywhere(gradients)
        if step > 1:  # the first calls load code, and start threads
            assert taken < gradients.nbytes + (1 << 20), taken / gradients.nbytes
        if exact is not None:
            rms = float(exact.square().mean().sqrt())
            assert (gradients - exact).abs().max() < 1.1 * bound * rms + 1e-6 * rms

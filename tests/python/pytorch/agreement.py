"""Checks that compare tensors among ranks."""

import torch
import torch.distributed as dist


def noise(count, rank, dtype=torch.float32):
    """Returns normal numbers that depend on the rank."""
    values = torch.randn(count, generator=torch.Generator().manual_seed(rank), dtype=torch.float64, device="cpu").to(dtype)
    return values.to(torch.get_default_device())


def exact_sum(count, ranks, dtype=torch.float32):
    """Returns the sum of all ranks' noise in float64."""
    return sum(noise(count, rank, dtype).double() for rank in range(ranks))


def same_bits_everywhere(tensor):
    """Returns true if all ranks have the same bits."""
    mine = tensor.detach().contiguous().view(-1).view(torch.uint8)
    first = mine.clone()
    dist.broadcast(first, 0)
    return torch.equal(mine, first)

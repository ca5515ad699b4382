"""Tests the communication of FSDP2."""

import pytest
import taut
import torch
from agreement import same_bits_everywhere
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

import taut.torch

fully_shard = pytest.importorskip("torch.distributed.fsdp", reason="this PyTorch has no FSDP2").fully_shard


def trained(rank, ranks, compressed):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8))
    device = torch.get_default_device()
    mesh = init_device_mesh(device.type, (ranks,))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if compressed:
        taut.torch.compress_sharded_gradients(model, bound=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(30):
        points = torch.randn(32, 64, generator=torch.Generator().manual_seed(100 * step + rank), device="cpu").to(device)
        loss = nn.functional.cross_entropy(model(points), points[:, :8].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.cat([parameter.full_tensor().view(-1) for parameter in model.parameters()]).detach()


def test_sharded_gradients_are_compressed(rank, ranks):
    plain, coded = trained(rank, ranks, False), trained(rank, ranks, True)
    assert same_bits_everywhere(coded)
    assert not torch.equal(plain, coded)
    assert float((plain - coded).norm() / plain.norm()) < 0.02


def test_a_model_without_shards_is_an_error():
    with pytest.raises(taut.ArgumentError, match="fully_shard"):
        taut.torch.compress_sharded_gradients(nn.Linear(2, 2))

"""Tests the communication of FSDP2."""

import math

import pytest
import taut
import torch
import torch.distributed as dist
from agreement import noise, same_bits_everywhere
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

import taut.torch

fully_shard = pytest.importorskip("torch.distributed.fsdp", reason="this PyTorch has no FSDP2").fully_shard


def network(ranks, bound=None):
    """Returns a sharded network, whose communication is compressed if there is a bound."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8))
    mesh = init_device_mesh(torch.get_default_device().type, (ranks,))
    for layer in layers(model):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if bound is not None:
        taut.torch.compress_sharded_gradients(model, bound)
    return model


def layers(model):
    return [layer for layer in model if isinstance(layer, nn.Linear)]


def backward(model, rank, step):
    """Computes the gradients of a step."""
    points = torch.randn(32, 64, generator=torch.Generator().manual_seed(100 * step + rank), device="cpu")
    points = points.to(torch.get_default_device())
    model.zero_grad()
    nn.functional.cross_entropy(model(points), points[:, :8].argmax(1)).backward()


def whole(parameter, rank, ranks):
    """Returns all values of a sharded parameter. Its full_tensor() crashes over gloo with tensors on a GPU (PyTorch 2.11)."""
    values = torch.zeros(parameter.shape)
    blocks = values.chunk(ranks)
    if rank < len(blocks):
        blocks[rank].copy_(parameter.to_local().detach())
    dist.all_reduce(values)
    return values.view(-1)


def trained(rank, ranks, bound=None):
    """Returns the weights after 30 steps."""
    model = network(ranks, bound)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(30):
        backward(model, rank, step)
        optimizer.step()
    return torch.cat([whole(parameter, rank, ranks) for parameter in model.parameters()])


def test_sharded_gradients_are_compressed(rank, ranks):
    plain, coded = trained(rank, ranks), trained(rank, ranks, 0.1)
    assert same_bits_everywhere(coded)
    assert not torch.equal(plain, coded)
    assert float((plain - coded).norm() / plain.norm()) < 0.02


def gradients(layer):
    """Returns this rank's part of the gradients of a layer."""
    return torch.cat([parameter.grad.to_local().reshape(-1) for parameter in layer.parameters()]).double()


def root_mean_square(values):
    """Returns that of all ranks' values."""
    sums = torch.stack([values.square().sum(), torch.tensor(float(values.numel()), dtype=torch.float64)])
    dist.all_reduce(sums)
    return math.sqrt(sums[0] / sums[1])


@pytest.mark.parametrize("bound", [0.5, 0.02])
def test_reduced_gradients_are_within_the_bound(rank, ranks, bound):
    """The bound is relative to each parameter: biases have larger gradients than weights."""
    plain, coded = network(ranks), network(ranks, bound)
    optimizer = torch.optim.SGD(coded.parameters(), lr=0.05)
    before, largest = {}, 0.0  # root mean squares; errors in units of the bound
    for step in range(6):
        plain.load_state_dict(coded.state_dict())
        backward(plain, rank, step)
        backward(coded, rank, step)
        for (name, one), other in zip(coded.named_parameters(), plain.parameters()):
            got, exact = (parameter.grad.to_local().reshape(-1).double() for parameter in (one, other))
            if step > 0 and exact.numel() > 0:
                rounding = 1e-6 * float(exact.abs().max())
                largest = max(largest, (float((got - exact).abs().max()) - rounding) / (bound * before[name]))
            before[name] = root_mean_square(got)
        optimizer.step()
    assert 0.01 < largest <= 1 + 1e-5


def test_gradients_are_divided_by_the_given_factor(rank, ranks):
    """A factor of one's own, as expert parallelism needs, makes FSDP2 ask for NCCL's sum of scaled values otherwise."""
    plain, coded = network(ranks), network(ranks, 0.02)
    for layer in layers(coded):
        layer.set_gradient_divide_factor(8.0)
    for step in range(2):  # uncompressed, then compressed
        backward(plain, rank, step)
        backward(coded, rank, step)
        for pair in zip(layers(plain), layers(coded)):
            exact, got = (gradients(layer) for layer in pair)
            assert root_mean_square(got - exact * ranks / 8) < 0.05 * root_mean_square(exact * ranks / 8)


@pytest.mark.parametrize("op", [dist.ReduceOp.PREMUL_SUM, dist.ReduceOp.PRODUCT], ids=str)
def test_other_operators_are_refused(ranks, op):
    from taut.torch._fsdp import BoundedReduceScatter

    with pytest.raises(taut.ArgumentError, match="none of SUM, AVG"):
        BoundedReduceScatter(0.1)(torch.empty(100), torch.empty(100 * ranks), dist.group.WORLD, op)


def test_a_model_without_shards_is_an_error():
    with pytest.raises(taut.ArgumentError, match="fully_shard"):
        taut.torch.compress_sharded_gradients(nn.Linear(2, 2))


def test_small_gradients_are_not_lost_beside_large_ones(rank, ranks):
    """The gradients of the bias are 10^5 times those of the weights."""
    plain, coded = (fully_shard(nn.Linear(512, 512), mesh=init_device_mesh(torch.get_default_device().type, (ranks,))) for _ in "12")
    taut.torch.compress_sharded_gradients(coded, 0.25)
    for step in range(3):
        points, factors = (noise(512 * 32, 100 * step + 10 * rank + i).view(32, 512) for i in range(2))
        for model in (plain, coded):
            model.zero_grad()
            (model(1e-5 * points) * factors).sum().backward()
    for name in ("weight", "bias"):
        exact, got = (getattr(model, name).grad.to_local().double() for model in (plain, coded))
        assert 0 < root_mean_square(got - exact) < 0.25 * root_mean_square(exact)

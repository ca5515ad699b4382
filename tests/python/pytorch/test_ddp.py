"""Tests the communication hook of DistributedDataParallel."""

import copy
import math

import pytest
import taut
import torch
import torch.distributed as dist
from agreement import same_bits_everywhere
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_wrapper
from torch.nn.parallel import DistributedDataParallel

import taut.torch


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def batch(rank, step, size=32):
    """Returns random points and their classes under a fixed random network."""
    teacher = torch.randn(32, 10, generator=torch.Generator().manual_seed(1), device="cpu")
    points = torch.randn(size, 32, generator=torch.Generator().manual_seed(1000 * step + rank), device="cpu")
    device = torch.get_default_device()
    return points.to(device), (points @ teacher).argmax(1).to(device)


class Training:
    """A DDP model with its optimiser; buckets of 0.2 MB, so that there are several."""

    def __init__(self, **options):
        self.model = DistributedDataParallel(network(), bucket_cap_mb=0.2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9)
        self.state = taut.torch.compress_gradients(self.model, **options) if options else None

    def run(self, rank, first, last):
        losses = []
        for step in range(first, last):
            points, classes = batch(rank, step)
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(points), classes)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        mean = torch.tensor(losses[-20:]).mean()
        dist.all_reduce(mean)
        return mean.item() / dist.get_world_size()

    def weights(self):
        return torch.cat([parameter.detach().view(-1) for parameter in self.model.parameters()])


def test_replicas_are_equal_after_200_steps(rank):
    plain, coded = Training(), Training(bound=0.5, warm_up_steps=5)
    plain_loss, loss = plain.run(rank, 0, 200), coded.run(rank, 0, 200)
    assert same_bits_everywhere(coded.weights())
    assert not torch.equal(coded.weights(), plain.weights())
    assert loss <= 1.05 * plain_loss + 0.01
    row = taut.torch.statistics(coded.state)["gradients", "Allreduce"]
    assert 1 < row.ratio and "MB became" in repr(coded.state) and "200 steps" in repr(coded.state)
    assert coded.state.steps == 200


def sum_over_ranks(values):
    total = values.double()
    dist.all_reduce(total)
    return total


@pytest.mark.parametrize("relative_to", ["parameter", "bucket"])
@pytest.mark.parametrize("feedback", [True, False])
def test_averaged_gradients_are_within_the_bound(rank, ranks, feedback, relative_to):
    plain = Training()
    coded = Training(bound=0.5, warm_up_steps=2, error_feedback=feedback, relative_to=relative_to)
    passed = 0
    for step in range(6):
        plain.model.load_state_dict(coded.model.state_dict())
        carried, before = coded.state.state_dict()["residuals"], coded.state.state_dict()["mean_squares"]
        coded.run(rank, step, step + 1)
        plain.run(rank, step, step + 1)
        gradients = [dict(one.model.module.named_parameters()) for one in (coded, plain)]
        rms = {name: math.sqrt(before[name] if relative_to == "parameter" else max(before.values())) for name in before}
        for name in rms if step >= 2 else ():
            residual = sum_over_ranks(carried[name]) / ranks if feedback else 0
            exact = gradients[1][name].grad.double().view(-1) + residual
            error = (gradients[0][name].grad.double().view(-1) - exact).abs().max()
            assert error <= 0.5 * rms[name] * (1 + 1e-5) + 1e-7
            passed += error > 1e-3 * rms[name]  # it was coded
    assert passed > 0


def test_residuals_never_exceed_the_bound(rank):
    coded = Training(bound=0.5, warm_up_steps=2)
    coded.run(rank, 0, 20)
    before = coded.state.state_dict()["mean_squares"]
    coded.run(rank, 20, 21)
    residuals = coded.state.state_dict()["residuals"]
    assert residuals["2.weight"].any()
    for name, part in residuals.items():
        assert float(part.abs().max()) <= 0.5 * math.sqrt(before[name]) * (1 + 1e-6)


def test_a_checkpoint_continues(rank, tmp_path):
    whole = Training(bound=0.5, warm_up_steps=3)
    whole.run(rank, 0, 12)
    torch.save({"taut": whole.state.state_dict()}, tmp_path / "state.pt")
    again = Training(bound=0.5, warm_up_steps=3)
    again.model.load_state_dict(whole.model.state_dict())
    again.optimizer.load_state_dict(copy.deepcopy(whole.optimizer.state_dict()))
    again.state.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True)["taut"])
    assert again.state.steps == 12
    carried = again.state.state_dict()["residuals"]
    assert all(torch.equal(part, carried[name]) for name, part in whole.state.state_dict()["residuals"].items())
    again.run(rank, 12, 20)
    assert again.state.steps == 20 and same_bits_everywhere(again.weights())


def test_infinite_gradients_do_not_stay(rank, ranks):
    coded = Training(bound=0.5, warm_up_steps=2)
    coded.run(rank, 0, 5)
    points, classes = batch(rank, 5)
    (nn.functional.cross_entropy(coded.model(points), classes) * (float("inf") if rank == 0 else 1)).backward()
    coded.optimizer.zero_grad()
    coded.run(rank, 6, 8)
    assert coded.weights().isfinite().all()
    assert all(part.isfinite().all() for part in coded.state.state_dict()["residuals"].values())


def test_no_residual_outlives_a_step_with_infinities(rank):
    """GradScaler skips such a step, in all buckets, and changes the scale."""
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 256)), bucket_cap_mb=0.2)
    state = taut.torch.compress_gradients(model, bound=0.5, warm_up_steps=2)
    last = model.module[1].weight

    def backward(scale):
        model.zero_grad()
        (model(torch.full((4, 256), 1.0 + rank)).square().mean() * scale).backward()

    for _ in range(4):
        backward(1.0)
    residuals = state.state_dict()["residuals"]
    assert residuals["0.weight"].any()
    hook = last.register_hook(lambda gradient: gradient * float("inf"))
    backward(1.0)
    hook.remove()
    backward(0.0)
    assert not model.module[0].weight.grad.any() and not last.grad.any()


def test_a_model_that_is_not_ddp_is_an_error():
    with pytest.raises(taut.DTypeError, match="DistributedDataParallel"):
        taut.torch.compress_gradients(nn.Linear(2, 2))


def test_half_precision_gradients(rank):
    model = DistributedDataParallel(nn.Linear(300, 300).bfloat16())
    taut.torch.compress_gradients(model, 0.3, warm_up_steps=1)
    for step in range(3):
        model.zero_grad()
        model(torch.full((4, 300), 1.0 + rank + step, dtype=torch.bfloat16)).square().mean().backward()
    assert model.module.weight.grad.dtype == torch.bfloat16 and same_bits_everywhere(model.module.weight.grad.view(torch.int16))


def test_pytorchs_wrapper_for_bf16_goes_around_the_hook(rank):
    model = DistributedDataParallel(network())
    state = taut.torch.GradientState(model.module.named_parameters(), 0.3, warm_up_steps=1)
    model.register_comm_hook(state, bf16_compress_wrapper(taut.torch.gradient_hook))
    for step in range(4):
        model.zero_grad()
        points, classes = batch(rank, step)
        nn.functional.cross_entropy(model(points), classes).backward()
    for parameter in model.module.parameters():
        assert same_bits_everywhere(parameter.grad) and torch.equal(parameter.grad, parameter.grad.bfloat16().float())
    assert taut.torch.statistics(state)["gradients", "Allreduce"].ratio > 1


@pytest.mark.parametrize("options", [{"bound": 0}, {"bound": float("inf")}, {"warm_up_steps": 0}], ids=str)
def test_errors_name_the_argument(options):
    with pytest.raises(taut.ArgumentError, match=f"{next(iter(options))}=.*give"):
        taut.torch.GradientState((), **options)

"""Tests bounds relative to each parameter's gradients, on gradients that the tests choose."""

import copy
import math

import pytest
import taut
import torch
import torch.distributed as dist
from agreement import noise, same_bits_everywhere
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import taut.torch
from taut.torch._scales import scales_of

SIZES = {"large": 20011, "tiny": 30000, "bias": 7}
BOUND = 0.25


class Given(nn.Module):
    """A model whose parameters get the gradients that it is called with."""

    def __init__(self, sizes, dtype):
        super().__init__()
        for name, size in sizes.items():
            setattr(self, name, nn.Parameter(torch.zeros(size, dtype=dtype)))

    def forward(self, gradients):
        return sum((getattr(self, name) * gradient).sum() for name, gradient in gradients.items())


class Steps:
    """A DDP model in one bucket, and the RMS of the mean of the gradients of each step."""

    def __init__(self, sizes=SIZES, dtype=torch.float32, ddp=None, **options):
        self.model = DistributedDataParallel(Given(sizes, dtype), **(ddp or {}))
        self.state = taut.torch.compress_gradients(self.model, BOUND, **{"warm_up_steps": 2} | options)

    def step(self, gradients, loss_scale=1.0):
        """Returns the averaged gradients by name, and those that are exact but for residuals."""
        residuals = {name: part.clone() for name, part in self.state.state_dict()["residuals"].items()}
        self.model.zero_grad()
        (self.model(gradients) * loss_scale).backward()
        means, exact = {}, {}
        for name, gradient in gradients.items():
            means[name] = getattr(self.model.module, name).grad
            assert same_bits_everywhere(means[name])
            exact[name] = gradient.double() * loss_scale
            if name in residuals:
                exact[name] = exact[name] + residuals[name].double() * loss_scale
            dist.all_reduce(exact[name])
            exact[name] /= dist.get_world_size()
        return means, exact

    def check(self, gradients, rms, loss_scale=1.0):
        """Makes a step, whose errors are within the bound relative to given sizes; returns the greatest errors so measured."""
        means, exact = self.step(gradients, loss_scale)
        errors = {name: float((means[name].double() - exact[name]).abs().max()) / rms[name] / loss_scale for name in gradients}
        assert all(error <= BOUND * (1 + 1e-4) for error in errors.values()), errors
        return errors

    def rms(self):
        return {name: math.sqrt(square) for name, square in self.state.state_dict()["mean_squares"].items()}


def gradients(rank, step, scales=(1.0, 1e-6, 1e3), dtype=torch.float32):
    return {
        name: (noise(size, 100 * step + rank) * scale).to(dtype) for (name, size), scale in zip(SIZES.items(), scales)
    }


@pytest.mark.parametrize("feedback", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_each_parameter_has_its_own_bound(rank, dtype, feedback):
    steps = Steps(dtype=dtype, error_feedback=feedback)
    for step in range(2):
        steps.step(gradients(rank, step, dtype=dtype))
    for step in range(2, 6):
        errors = steps.check(gradients(rank, step, dtype=dtype), steps.rms())
        assert errors["large"] > BOUND / 8 and errors["tiny"] > BOUND / 8  # both are coded
    assert taut.torch.statistics(steps.state)["gradients", "Allreduce"].ratio > 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_buckets_of_16_bits(rank, dtype):
    steps = Steps(dtype=dtype, error_feedback=False)
    for step in range(5):
        before = steps.rms()
        means, exact = steps.step(gradients(rank, step, (1.0, 1e-2, 4.0), dtype))
    for name, mean in means.items():
        rounding = torch.finfo(dtype).eps * exact[name].abs() + torch.finfo(dtype).smallest_normal
        assert ((mean.double() - exact[name]).abs() <= BOUND * before[name] * 1.001 + rounding).all()


def test_bounds_follow_a_jump_one_step_late(rank):
    steps = Steps()
    for step in range(3):
        steps.step(gradients(rank, step))
    row = taut.torch.statistics(steps.state)["gradients", "Allreduce"]
    steps.check(gradients(rank, 3, (1000.0, 1e-6, 1e3)), steps.rms())  # still the bound of the smaller gradients
    before, sent = steps.rms(), row.frame_bytes
    assert before["large"] > 100
    assert steps.check(gradients(rank, 4, (1000.0, 1e-6, 1e3)), before)["large"] > BOUND / 8
    assert row.frame_bytes - sent < 0.3 * row.value_bytes / row.calls * 3
    steps.check(gradients(rank, 5), steps.rms())  # a fall by 1000: one step with the bound of the larger gradients
    steps.check(gradients(rank, 6), steps.rms())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_arrive_alone(rank, ranks, value):
    steps = Steps()
    for step in range(3):
        steps.step(gradients(rank, step))
    before, given = steps.rms(), gradients(rank, 3)
    if rank == ranks - 1:
        given["tiny"][12345] = value
    means, exact = steps.step(given)
    assert torch.equal(means["tiny"][12345].cpu(), torch.tensor(value)) or math.isnan(value) and means["tiny"][12345].isnan()
    means["tiny"][12345] = exact["tiny"][12345] = 0
    for name, mean in means.items():
        assert (mean - exact[name]).abs().max() <= BOUND * before[name] * 1.001
    assert not any(part.any() for part in steps.state.state_dict()["residuals"].values())
    assert steps.rms() == before
    steps.check(gradients(rank, 4), before)


def test_values_far_from_the_rms(rank):
    steps = Steps(error_feedback=False)
    for step in range(3):
        steps.step(gradients(rank, step))
    given = gradients(rank, 3)
    given["large"][:4] = torch.tensor([1e30, -0.0, 1e-42, 1e18])
    given["tiny"][:3] = torch.tensor([1e15, -1e-42, -0.0])
    before = steps.rms()
    means, exact = steps.step(given)
    for name, mean in means.items():
        allowed = BOUND * before[name] * 1.001 + 1e-6 * exact[name].abs()
        assert ((mean.double() - exact[name]).abs() <= allowed).all()


@pytest.mark.parametrize("size", [1e-30, 1e-42, 1e30])
def test_gradients_of_any_size(rank, size):
    steps = Steps()
    for step in range(2):
        steps.step(gradients(rank, step, (size, size, size)))
    for step in range(2, 5):
        steps.check(gradients(rank, step, (size, size, size)), {name: rms + 6e-45 for name, rms in steps.rms().items()})


def test_a_parameter_without_gradients_is_exact_at_first(rank):
    steps = Steps()
    for step in range(3):
        means, _ = steps.step(gradients(rank, step, (1.0, 0.0, 1.0)))
        assert not means["tiny"].any()
    means, exact = steps.step(gradients(rank, 3))
    assert torch.allclose(means["tiny"].double(), exact["tiny"], rtol=1e-6, atol=1e-16)
    steps.check(gradients(rank, 4), steps.rms())
    steps.check(gradients(rank, 5, (1.0, 0.0, 1e3)), steps.rms())  # the residual arrives, or stays a residual
    assert steps.rms()["tiny"] > 0
    steps.check(gradients(rank, 6), steps.rms())


def test_no_gradients_at_all(rank):
    steps = Steps()
    for step in range(4):
        means, _ = steps.step(gradients(rank, step, (0.0, 0.0, 0.0)))
        assert not any(mean.any() for mean in means.values())
    steps.step(gradients(rank, 4))
    steps.check(gradients(rank, 5), steps.rms())


def test_frozen_and_unused_parameters(rank):
    sizes = SIZES | {"frozen": 20000, "unused": 20000}
    model = Given(sizes, torch.float32)
    model.frozen.requires_grad_(False)
    model = DistributedDataParallel(model, find_unused_parameters=True)
    state = taut.torch.compress_gradients(model, BOUND, warm_up_steps=2)
    for step in range(5):
        model.zero_grad()
        model(gradients(rank, step)).backward()
        assert model.module.unused.grad is None and same_bits_everywhere(model.module.tiny.grad)
    known = state.state_dict()["mean_squares"]
    assert "frozen" not in known and known["unused"] == 0 and known["tiny"] > 0


def test_new_buckets_keep_what_is_known_of_parameters(rank):
    """Another DDP model takes the state: its buckets are others."""
    steps = Steps()
    for step in range(4):
        steps.step(gradients(rank, step))
    known, kept = steps.state.state_dict(), steps.state.state_dict()["residuals"]
    assert all(part.any() for part in kept.values())
    steps.model = DistributedDataParallel(steps.model.module, bucket_cap_mb=0.1)
    steps.model.register_comm_hook(steps.state, taut.torch.gradient_hook)
    for step in range(4, 8):  # the model arranges its buckets anew after its first step
        errors = steps.check(gradients(rank, step), steps.rms())
        assert errors["large"] > BOUND / 8  # no step is uncompressed
    assert known["mean_squares"].keys() == steps.rms().keys()


class Scaled:
    """Training with GradScaler."""

    def __init__(self, **options):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=4)
        self.steps = Steps(scaler=self.scaler, **options)
        self.optimizer = torch.optim.SGD(self.steps.model.parameters(), lr=1.0)

    def step(self, given, check=True):
        scale, rms = self.scaler.scale(torch.ones(())).item(), self.steps.rms()
        self.steps.check(given, rms, scale) if check else self.steps.step(given, scale)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return self.scaler.get_scale() / scale


def test_bounds_and_residuals_follow_the_scale_of_the_loss(rank):
    training, changes = Scaled(), []
    for step in range(10):
        given = gradients(rank, step)
        if step == 6:
            given["large"][3] = float("inf")
            weights = training.steps.model.module.tiny.detach().clone()
        changes.append(training.step(given, check=step >= 2 and step != 6))
        if step == 6:
            assert torch.equal(training.steps.model.module.tiny, weights)  # the scaler has skipped the step
    assert changes[:8] == [1, 1, 1, 2, 1, 1, 0.5, 1]
    assert 0.4 < training.steps.rms()["large"] < 1.1  # of the loss that is not scaled
    assert same_bits_everywhere(training.steps.model.module.tiny)


@pytest.mark.parametrize("last", [5, 7])  # 7: the last step before the checkpoint was skipped
def test_a_checkpoint_continues_with_the_same_bits(rank, tmp_path, last):
    whole = Scaled()
    for step in range(last):
        given = gradients(rank, step)
        if step == 6:
            given["large"][3] = float("nan")
        whole.step(given, check=False)
    torch.save({"taut": whole.steps.state.state_dict(), "scaler": whole.scaler.state_dict()}, tmp_path / "state.pt")
    saved, again = torch.load(tmp_path / "state.pt", weights_only=True), Scaled()
    again.scaler.load_state_dict(copy.deepcopy(saved["scaler"]))
    again.steps.state.load_state_dict(saved["taut"])
    for step in range(last, last + 4):
        means = []
        for training in (whole, again):
            training.step(gradients(rank, step))
            means.append([parameter.grad.clone() for parameter in training.steps.model.parameters()])
        assert all(torch.equal(*both) for both in zip(*means))
        again.scaler.update(2.0**5)  # the step is repeated with another scale
        again.steps.state.load_state_dict(again.steps.state.state_dict() | {"steps": step})
        again.step(gradients(rank, step))
        again.scaler.update(whole.scaler.get_scale())
        again.steps.state.load_state_dict(whole.steps.state.state_dict())


def test_a_group_of_another_size_keeps_bounds_and_drops_residuals(rank, ranks):
    steps = Steps()
    for step in range(4):
        steps.step(gradients(rank, step))
    state = steps.state.state_dict()
    assert state["place"] == [rank, ranks] and state["residuals"]["tiny"].any()
    resized = Steps()
    resized.state.load_state_dict(state | {"place": [rank, ranks + 1]})
    assert resized.rms() == steps.rms() and not resized.state.state_dict()["residuals"]
    resized.check(gradients(rank, 4), resized.rms())


def test_an_old_checkpoint_starts_anew(rank, ranks):
    """Its mean squares are by bucket: the first step learns those of the parameters."""
    steps = Steps()
    residuals = {name: torch.ones(size) for name, size in SIZES.items()}
    steps.state.load_state_dict({"steps": 7, "residuals": residuals, "mean_squares": {tuple(SIZES): 1.0}})
    means, exact = steps.step(gradients(rank, 0))
    assert torch.allclose(means["tiny"].double(), exact["tiny"], rtol=1e-5, atol=1e-12)
    steps.check(gradients(rank, 1), steps.rms())


@pytest.mark.parametrize("options", [{"relative_to": "layer"}, {"scaler": 1024.0}], ids=str)
def test_errors_name_the_argument(options):
    with pytest.raises(taut.ArgumentError, match=f"{next(iter(options))}=.*give"):
        taut.torch.GradientState((), **options)


def test_scales_are_powers_of_two_that_tighten_the_bound():
    scales = scales_of([3, 2, 1, 4], [4.0, 1.0, 0.0, 0.9], 0.5)
    assert scales.bound == 1.0 and scales.factors == [1.0, 2.0, 2.0**60, 4.0]
    values = torch.tensor([1.5] * 10)
    scales.apply(values)
    assert values.tolist() == [1.5] * 3 + [3.0] * 2 + [1.5 * 2.0**60] + [6.0] * 4
    scales.remove(values)
    assert values.tolist() == [1.5] * 10
    assert scales_of([1, 1], [0.0, 0.0], 0.5) is None and scales_of([], [], 0.5) is None

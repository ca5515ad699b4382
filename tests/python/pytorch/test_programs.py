"""Runs programs that know nothing of Taut over the backend `taut`; the rules of rules.toml code what they communicate.

TESTED_STEPS: steps of training (30).
"""

import copy
import os
import tempfile
from collections import Counter

import pytest
import torch
import torch.distributed as dist
from agreement import same_bits_everywhere
from test_ddp import batch, network
from torch import nn
from torch.distributed import _functional_collectives as functional
from torch.distributed import checkpoint
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

import taut.torch

STEPS = int(os.environ.get("TESTED_STEPS", "30"))
UNTESTED = "taut" not in dist.get_backend_config() or "TAUT_CONFIG" not in os.environ

pytestmark = pytest.mark.skipif(UNTESTED, reason="of groups of the backend taut (TESTED_BACKEND), with rules (TAUT_CONFIG)")


def calls(group=None):
    """Returns the number of coded calls by their names."""
    return Counter(call for (_, call), row in taut.torch.statistics(group).items() for _ in range(row.calls))


def train(model, rank, steps):
    """Trains and returns the last loss."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for step in range(steps):
        points, classes = batch(rank, step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), classes)
        loss.backward()
        optimizer.step()
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


@pytest.fixture(scope="module")
def exact_loss(rank):
    gradients = DistributedDataParallel(network(), process_group=dist.new_group(backend="gloo"))
    return train(gradients, rank, STEPS)


@pytest.fixture(scope="module")
def rank():
    return dist.get_rank()


def test_ddp_trains_with_equal_replicas(rank, exact_loss):
    before, model = calls(), DistributedDataParallel(network(), bucket_cap_mb=0.2)
    loss = train(model, rank, STEPS)
    assert all(same_bits_everywhere(parameter) for parameter in model.parameters())
    assert calls()["Allreduce"] >= before["Allreduce"] + STEPS
    assert abs(loss - exact_loss) <= 0.05 * exact_loss + 0.01


def test_fsdp2_trains_with_equal_weights(rank, ranks, exact_loss):
    before, model = calls(), network()
    for layer in (*model[::2], model):
        fully_shard(layer, mesh=init_device_mesh("cpu", (ranks,)))
    loss = train(model, rank, STEPS)
    assert all(same_bits_everywhere(parameter.full_tensor()) for parameter in model.parameters())
    assert all(calls()[call] >= before[call] + STEPS for call in ("Reduce_scatter", "Allgather"))
    assert abs(loss - exact_loss) <= 0.05 * exact_loss + 0.01


def test_tensor_parallel_layers_and_their_checkpoint(rank, ranks):
    mesh = init_device_mesh("cpu", (1, ranks), mesh_dim_names=("dp", "tp"))["tp"]
    torch.manual_seed(0)
    whole = nn.Sequential(nn.Linear(240, 480), nn.ReLU(), nn.Linear(480, 240))
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    model, points = parallelize_module(copy.deepcopy(whole), mesh, plan), torch.randn(64, 240)
    before, result, exact = calls(), model(points), whole(points)
    assert 0 < float((result - exact).abs().max()) <= 1e-4 + 1e-5 and calls() != before
    folder = [tempfile.mkdtemp()] if rank == 0 else [None]
    dist.broadcast_object_list(folder)
    checkpoint.save(model.state_dict(), checkpoint_id=folder[0])
    other = parallelize_module(nn.Sequential(nn.Linear(240, 480), nn.ReLU(), nn.Linear(480, 240)), mesh, plan)
    state = other.state_dict()
    checkpoint.load(state, checkpoint_id=folder[0])
    for name, value in whole.state_dict().items():
        read = state[name]
        assert torch.equal(read.full_tensor() if isinstance(read, DTensor) else read, value)


def test_distributed_tensors_are_redistributed(ranks):
    mesh = init_device_mesh("cpu", (ranks,))
    values = torch.randn(240, 240, generator=torch.Generator().manual_seed(3))
    rows = distribute_tensor(values, mesh, [Shard(0)])
    assert torch.equal(rows.redistribute(placements=[Shard(1)]).full_tensor(), values)


def test_groups_of_a_mesh_have_its_names(rank, ranks):
    if ranks != 4:
        pytest.skip("of 4 ranks: a group of all ranks is the default group")
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    for name in ("dp", "tp"):
        group = mesh.get_group(name)
        dist.all_reduce(torch.ones(1000), group=group)
        assert list(taut.torch.statistics(group)) == [(name, "Allreduce")]


def loss(result, target):
    return 1000 * nn.functional.mse_loss(result, target)  # gradients far above the bound


def test_a_pipeline_of_coded_messages(rank, ranks):
    torch.manual_seed(0)
    layers = [nn.Linear(120, 120) for _ in range(ranks)]
    points, whole = torch.randn(64, 120), nn.Sequential(*copy.deepcopy(layers))
    target, stage = torch.zeros(64, 120), PipelineStage(layers[rank], rank, ranks, torch.device("cpu"))
    schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=loss)
    before = calls()["Send"]
    if rank == 0:
        schedule.step(points)
    else:
        result = schedule.step(target=target) if rank == ranks - 1 else schedule.step()
    exact = whole(points)
    loss(exact, target).backward()
    if rank == ranks - 1:
        assert 0 < float((result - exact).abs().max()) < 1e-3
    assert calls()["Send"] > before
    gradient = whole[rank].weight.grad
    assert float((layers[rank].weight.grad - gradient).norm() / gradient.norm()) < 0.2


@pytest.mark.parametrize("compiler", ["aot_eager", "inductor"] if STEPS >= 200 else ["aot_eager"])  # inductor takes a minute
def test_compiled_graphs_communicate(rank, ranks, compiler):
    @torch.compile(fullgraph=True, backend=compiler)
    def step(values):
        total = functional.all_reduce(values * 2, "sum", dist.group.WORLD)
        return functional.all_gather_tensor(total + 1, 0, dist.group.WORLD)

    before, result = calls(), step(torch.full((1000,), float(rank)))
    expected = float(ranks * (ranks - 1) + 1)
    assert calls()["Allreduce"] > before["Allreduce"] and calls()["Allgather"] > before["Allgather"]
    assert result.shape == (1000 * ranks,) and float((result - expected).abs().max()) <= 1e-4 + 1e-5

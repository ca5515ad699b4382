"""Tests that all ranks make their calls in one order, also of those that Taut makes for a call."""

import time
from threading import Lock

import pytest
import torch
import torch.distributed as dist
from agreement import noise

import taut.torch
from taut.torch import _backend, _work
from taut.torch._exchange import _beside


class Recorder:
    """Launches of calls on all communicators of this process, in their order: (communicator, name of the call)."""

    NAMES = ("allreduce", "alltoall_base", "broadcast", "barrier")

    def __init__(self, monkeypatch):
        self.launches, self._lock, self._numbers = [], Lock(), {}
        for name in self.NAMES:
            monkeypatch.setattr(dist.ProcessGroup, name, self._recording(name, getattr(dist.ProcessGroup, name)))

    def _recording(self, name, call):
        def recorded(group, *arguments, **named):
            if type(group) is dist.ProcessGroup:  # a communicator, and no group of the backend around one
                with self._lock:
                    number = self._numbers.setdefault(group.group_name or id(group), len(self._numbers))
                    self.launches.append((number, name))
            return call(group, *arguments, **named)

        return recorded

    def same_on_all_ranks(self):
        everywhere, launches = [None] * dist.get_world_size(), list(self.launches)
        dist.all_gather_object(everywhere, launches)
        return all(one == launches for one in everywhere)


def coded_and_plain_calls(group, other, rank):
    """Calls that overlap, in the same order on all ranks; each rank does other work in between."""
    works = []
    for step in range(12):
        time.sleep(0.002 * ((step + rank) % 3))
        works.append(taut.torch.all_reduce(noise(40_000, rank), "abs:1e-2", group=group, async_op=True))
        works.append(dist.all_reduce(torch.ones(10), group=other, async_op=True))
    for work in works:
        work.wait()


def test_one_communicator_has_one_order(rank, ranks, monkeypatch):
    group = dist.new_group(backend="cpu:taut,cuda:taut")
    recorder = Recorder(monkeypatch)
    coded_and_plain_calls(group, group, rank)
    assert {number for number, _ in recorder.launches} == {0} and len(recorder.launches) > 24
    assert recorder.same_on_all_ranks()


def test_communicators_of_a_gpu_have_one_order(rank, ranks, monkeypatch):
    """NCCL wants the calls of all communicators of a GPU in one order. Here the lane of GPUs serves tensors on the host."""
    monkeypatch.setattr(_backend.TautGroup, "_lane_on", lambda self, device: _work.lane_of_gpu(torch.device("cpu")))
    group, other = (dist.new_group(backend="cpu:taut,cuda:taut") for _ in range(2))
    recorder = Recorder(monkeypatch)
    coded_and_plain_calls(group, other, rank)
    assert {number for number, _ in recorder.launches} == {0, 1}
    assert recorder.same_on_all_ranks()


def test_groups_over_nccl_are_refused(rank, ranks, monkeypatch):
    """A second communicator beside NCCL's own would be in an order of its own."""
    monkeypatch.setattr(dist, "get_backend_config", lambda group: "cpu:gloo,cuda:nccl")
    with pytest.raises(taut.ArgumentError, match="cpu:taut,cuda:taut"):
        _beside(dist.group.WORLD, torch.device("cuda", 0))

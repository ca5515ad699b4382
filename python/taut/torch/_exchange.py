"""Exchange: transport of frames among the ranks of a process group, or of a communicator of MPI.

Frames travel over NCCL in memory of the GPU, otherwise over gloo or MPI in memory of the host.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any, Optional
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist

from .._errors import ArgumentError
from . import _frames
from ._exit_report import include
from ._slots import Slots
from ._statistics import CallStatistics
from ._work import Lane, Work

HOST = torch.device("cpu")
OPERATORS = {"sum": dist.ReduceOp.SUM, "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX}


class Exchange(ABC):
    """Transport of bytes among ranks. Only the thread of its lane communicates over it."""

    rank: int
    ranks: int

    def __init__(self, device: torch.device, lane: Lane) -> None:
        self.device = device  # which has the bytes in its memory
        self.lane = lane
        self.statistics: dict[str, CallStatistics] = {}
        self._now = CallStatistics()  # of the call that is carried out

    def submit(self, call: str, action: Callable[[], Any], tensors: Sequence[torch.Tensor]) -> Work:
        """Carries out a call in the thread of the lane. `call`: its name in rules. `tensors`: those that it reads or writes."""

        def counted() -> Any:
            self._now = self.statistics.setdefault(call, CallStatistics())
            start = perf_counter()
            try:
                return action()
            finally:
                self._now.calls += 1
                self._now.seconds += perf_counter() - start

        return self.lane.submit(counted, tensors[0].device, tensors)

    def encode(self, values: torch.Tensor, coding: str, bound: float) -> torch.Tensor:
        """Returns the frame of values, in memory of the exchange's device. `bound`: of the result of the call."""
        frame = _frames.encode(values, coding, self.device)
        self._now.value_bytes += values.numel() * values.element_size()
        self._now.frame_bytes += frame.numel()
        self._now.greatest_bound = max(self._now.greatest_bound, bound)
        return frame

    def swap(self, parts: list[torch.Tensor], slots: Optional[Slots] = None) -> list[torch.Tensor]:
        """Sends part i to rank i; returns the parts for this rank, in the order of the senders. Empties the list, so that the
        memory of the parts is free while others arrive. `slots`: without these, the sizes travel first."""
        if slots is not None:
            return self._swap_in_slots(parts, slots)
        sends = [part.numel() for part in parts]
        sizes = torch.tensor(sends, device=self.device)
        theirs = torch.empty_like(sizes)
        self.all_to_all(theirs, sizes, [1] * self.ranks, [1] * self.ranks)
        receives = theirs.tolist()
        data = torch.cat(parts)
        parts.clear()
        room = torch.empty(sum(receives), dtype=torch.uint8, device=self.device)
        self.all_to_all(room, data, receives, sends)
        return list(room.split(receives))

    def _swap_in_slots(self, parts: list[torch.Tensor], slots: Slots) -> list[torch.Tensor]:
        data, rests = slots.filled(parts, self.device), slots.rests(parts)
        parts.clear()
        room = torch.empty(sum(slots.receives), dtype=torch.uint8, device=self.device)
        self.all_to_all(room, data, slots.receives, slots.sends)
        there, lacks, overflows = slots.opened(room)
        if not overflows:
            return there
        more = torch.empty(sum(lacks), dtype=torch.uint8, device=self.device)
        self.all_to_all(more, torch.cat(rests), lacks, [rest.numel() for rest in rests])
        return [torch.cat([part, rest]) for part, rest in zip(there, more.split(lacks))]

    def spread(self, part: torch.Tensor, slots: Optional[Slots] = None) -> list[torch.Tensor]:
        """Sends a part to all ranks; returns the parts of all ranks."""
        return self.swap([part] * self.ranks, slots)

    def spread_from(self, root: int, part: torch.Tensor) -> torch.Tensor:
        """Returns the root's part, on all ranks. Other ranks' parts are ignored."""
        size = torch.tensor([part.numel()], device=self.device)
        self.broadcast_there(size, root)
        room = part.to(self.device) if self.rank == root else torch.empty(int(size), dtype=torch.uint8, device=self.device)
        self.broadcast_there(room, root)
        return room

    def numbers(self, *mine: float) -> torch.Tensor:
        """Returns a row of numbers, as float64, from each rank."""
        row = torch.tensor([mine] * self.ranks, dtype=torch.float64, device=self.device)
        every = torch.empty_like(row)
        self.all_to_all(every.view(-1), row.view(-1), [len(mine)] * self.ranks, [len(mine)] * self.ranks)
        return every

    @abstractmethod
    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        """Sends the next sends[i] elements of `data` to rank i, and receives receives[i] elements from it."""

    def plain_reduction(self, values: torch.Tensor, op: str) -> None:
        """Replaces `values` by their reduction over the ranks, without compression. `op`: an operator, or "mean"."""
        there = values.to(self.device)
        self.reduce_there(there, "sum" if op == "mean" else op)
        if there is not values:
            values.copy_(there)
        if op == "mean":
            values /= self.ranks

    @abstractmethod
    def broadcast_there(self, data: torch.Tensor, root: int) -> None:
        """Replaces `data`, in memory of the exchange's device, by that of the root."""

    @abstractmethod
    def reduce_there(self, values: torch.Tensor, op: str) -> None:
        """Replaces `values`, in memory of the exchange's device, by their reduction over the ranks."""


class GroupExchange(Exchange):
    """Transport over a process group of PyTorch, on which all calls are made in the order of the lane."""

    def __init__(self, group: dist.ProcessGroup, device: torch.device, lane: Lane) -> None:
        super().__init__(device, lane)
        self.rank, self.ranks = group.rank(), group.size()
        self._group = group

    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        self._group.alltoall_base(room, data, receives, sends, dist.AllToAllOptions()).wait()

    def broadcast_there(self, data: torch.Tensor, root: int) -> None:
        options = dist.BroadcastOptions()
        options.rootRank = root
        self._group.broadcast([data], options).wait()

    def reduce_there(self, values: torch.Tensor, op: str) -> None:
        options = dist.AllreduceOptions()
        options.reduceOp = OPERATORS[op]
        self._group.allreduce([values], options).wait()


def _beside(group: dist.ProcessGroup, device: torch.device) -> GroupExchange:
    """Returns an exchange over a group of gloo with the ranks and the timeout of another group, in an order of its own.
    Collective over these ranks alone.

    PyTorch names such a group by its ranks and by the number of groups of the process, and its ranks never meet if their names
    differ. So every rank counts as many groups as the rank with the most.
    """
    backends = dict(pair.split(":", 1) for pair in dist.get_backend_config(group).split(","))
    if device.type == "cuda" and backends.get("cuda") == "nccl":
        raise ArgumentError(
            "group communicates over NCCL, whose calls Taut must order among its own: init_process_group('cpu:taut,cuda:taut')"
        )
    names = dist.distributed_c10d._world.pg_names
    most = torch.tensor([len(names)], device=HOST if "cpu" in backends else device)
    dist.all_reduce(most, dist.ReduceOp.MAX, group)
    missing: dict[Any, Any] = {f"taut {i}": f"taut {i}" for i in range(int(most) - len(names))}
    names.update(missing)
    timeout = getattr(group._get_backend(most.device).options, "_timeout", None)
    try:
        made = dist.new_group(
            dist.get_process_group_ranks(group), timeout=timeout, backend="gloo", use_local_synchronization=True
        )
    finally:
        for name in missing:
            del names[name]
    return GroupExchange(made, HOST, Lane())


class MpiExchange(Exchange):
    """Transport over a duplicate of an MPI communicator. Collective to create."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        from .._comm import Comm

        if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
            raise ArgumentError("a thread of taut.torch communicates: initialise MPI with MPI_THREAD_MULTIPLE")
        super().__init__(HOST, Lane())
        self._in_place, self._operators = MPI.IN_PLACE, {"sum": MPI.SUM, "min": MPI.MIN, "max": MPI.MAX}
        self._comm = Comm(getattr(comm, "wrapped", comm).Dup())
        self._comm.Set_policy("off")
        self.rank, self.ranks = comm.Get_rank(), comm.Get_size()

    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        self._comm.Alltoallv([data, sends], [room, receives])

    def broadcast_there(self, data: torch.Tensor, root: int) -> None:
        self._comm.Bcast(data, root)

    def reduce_there(self, values: torch.Tensor, op: str) -> None:
        self._comm.Allreduce(self._in_place, values, op=self._operators[op])


_of_groups: "WeakKeyDictionary[Any, Exchange]" = WeakKeyDictionary()


@lru_cache(maxsize=None)
def _keyval() -> int:
    """Returns the key of the attribute of an MPI communicator that holds its exchange."""
    from mpi4py import MPI

    return MPI.Comm.Create_keyval()


def is_mpi(group: Any) -> bool:
    """Returns true for a communicator of mpi4py, and for taut.Comm."""
    mpi, comm = sys.modules.get("mpi4py.MPI"), sys.modules.get("taut._comm")
    return (mpi is not None and isinstance(group, mpi.Comm)) or (comm is not None and isinstance(group, comm.Comm))


def _reported(exchange: Exchange, name: str) -> Exchange:
    include(name, exchange.statistics, exchange.rank, exchange.ranks)
    return exchange


def exchange_of(group: Any, device: torch.device) -> Exchange:
    """Returns the exchange of a group for values on a device. A group of the backend `taut` has its own. On other groups the
    first call makes it, and is collective over the group."""
    if group is None:
        group = dist.group.WORLD
    if group is None:
        raise ArgumentError("there is no process group: call torch.distributed.init_process_group, or pass group=")
    if is_mpi(group):
        comm = getattr(group, "wrapped", group)
        if comm.Get_attr(_keyval()) is None:
            comm.Set_attr(_keyval(), _reported(MpiExchange(comm), comm.Get_name()))
        return comm.Get_attr(_keyval())
    if hasattr(group, "exchange_on"):
        return group.exchange_on(device)
    if group not in _of_groups:
        _of_groups[group] = _reported(_beside(group, device), group.group_desc)
    return _of_groups[group]

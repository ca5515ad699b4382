"""Exchange: transport of frames among the ranks of a process group, or of a communicator of MPI.

Frames travel over NCCL in memory of the GPU, otherwise over gloo or MPI in memory of the host.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist

from .._errors import ArgumentError
from ._work import Worker


HOST = torch.device("cpu")


class Exchange(ABC):
    """Transport of bytes among ranks. Its worker is the only thread that communicates over it."""

    rank: int
    ranks: int

    def __init__(self, device: torch.device) -> None:
        self.device = device  # which has the bytes in its memory
        self.worker = Worker()

    def swap(self, parts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Sends part i to rank i; returns the parts for this rank, in the order of the senders."""
        sends = [part.numel() for part in parts]
        sizes = torch.tensor(sends, device=self.device)
        theirs = torch.empty_like(sizes)
        self.all_to_all(theirs, sizes, [1] * self.ranks, [1] * self.ranks)
        receives = theirs.tolist()
        room = torch.empty(sum(receives), dtype=torch.uint8, device=self.device)
        self.all_to_all(room, torch.cat(list(parts)), receives, sends)
        return list(room.split(receives))

    def spread(self, part: torch.Tensor) -> list[torch.Tensor]:
        """Sends a part to all ranks; returns the parts of all ranks."""
        return self.swap([part] * self.ranks)

    def numbers(self, number: float) -> torch.Tensor:
        """Returns the numbers of all ranks, as float64."""
        row = torch.full((self.ranks,), number, dtype=torch.float64, device=self.device)
        every = torch.empty_like(row)
        self.all_to_all(every, row, [1] * self.ranks, [1] * self.ranks)
        return every

    @abstractmethod
    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        """Sends the next sends[i] elements of `data` to rank i, and receives receives[i] elements from it."""

    def plain_sum(self, values: torch.Tensor) -> None:
        """Replaces `values` by the sum over the ranks, without compression."""
        there = values.to(self.device)
        self.sum_there(there)
        if there is not values:
            values.copy_(there)

    @abstractmethod
    def sum_there(self, values: torch.Tensor) -> None:
        """Replaces `values`, in memory of the exchange's device, by the sum over the ranks."""


class GroupExchange(Exchange):
    """Transport over a group of its own with the ranks of a process group: of NCCL for a GPU, else of gloo. Collective to
    create."""

    def __init__(self, group: dist.ProcessGroup, device: torch.device) -> None:
        super().__init__(device)
        members = dist.get_process_group_ranks(group)
        self.rank, self.ranks = dist.get_rank(group), len(members)
        backend = "gloo" if device == HOST else "nccl"
        self._group = _new_group(group, members, backend, device)

    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        dist.all_to_all_single(room, data, receives, sends, group=self._group)

    def sum_there(self, values: torch.Tensor) -> None:
        dist.all_reduce(values, group=self._group)


def _new_group(group: dist.ProcessGroup, members: list[int], backend: str, device: torch.device) -> dist.ProcessGroup:
    """Makes a group with the ranks of another one. Collective over these ranks alone.

    PyTorch names such a group by its ranks and by the number of groups of the process, and its ranks never meet if their names
    differ. So every rank counts as many groups as the rank with the most.
    """
    names = dist.distributed_c10d._world.pg_names
    there = device if device.type in _backends(group) else torch.device("cuda", torch.cuda.current_device())
    most = torch.tensor([len(names)], device=there)
    dist.all_reduce(most, dist.ReduceOp.MAX, group)
    missing: dict[Any, Any] = {f"taut {i}": f"taut {i}" for i in range(int(most) - len(names))}
    names.update(missing)
    try:
        return dist.new_group(members, backend=backend, use_local_synchronization=True)
    finally:
        for name in missing:
            del names[name]


class MpiExchange(Exchange):
    """Transport over a duplicate of an MPI communicator. Collective to create."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        from .._comm import Comm

        if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
            raise ArgumentError("a thread of taut.torch communicates: initialise MPI with MPI_THREAD_MULTIPLE")
        super().__init__(HOST)
        self._in_place = MPI.IN_PLACE
        self._comm = Comm(getattr(comm, "wrapped", comm).Dup())
        self._comm.Set_policy("off")
        self.rank, self.ranks = comm.Get_rank(), comm.Get_size()

    def all_to_all(self, room: torch.Tensor, data: torch.Tensor, receives: list[int], sends: list[int]) -> None:
        self._comm.Alltoallv([data, sends], [room, receives])

    def sum_there(self, values: torch.Tensor) -> None:
        self._comm.Allreduce(self._in_place, values)


_of_groups: "WeakKeyDictionary[Any, dict[torch.device, Exchange]]" = WeakKeyDictionary()


@lru_cache(maxsize=None)
def _keyval() -> int:
    """Returns the key of the attribute of an MPI communicator that holds its exchange."""
    from mpi4py import MPI

    return MPI.Comm.Create_keyval()


def is_mpi(group: Any) -> bool:
    """Returns true for a communicator of mpi4py, and for taut.Comm."""
    mpi, comm = sys.modules.get("mpi4py.MPI"), sys.modules.get("taut._comm")
    return (mpi is not None and isinstance(group, mpi.Comm)) or (comm is not None and isinstance(group, comm.Comm))


def _backends(group: dist.ProcessGroup) -> dict[str, str]:
    """Returns the backend of a group for each type of device."""
    return dict(pair.split(":", 1) for pair in dist.get_backend_config(group).split(","))


def _carrier(group: dist.ProcessGroup, device: torch.device) -> torch.device:
    """Returns the device in whose memory frames of values on `device` travel: a GPU if the group uses NCCL there."""
    return device if device.type == "cuda" and _backends(group).get("cuda") == "nccl" else HOST


def exchange_of(group: Any, device: torch.device) -> Exchange:
    """Returns the exchange of a group for values on a device. The first call makes it, and is collective over the group."""
    if group is None:
        group = dist.group.WORLD
    if group is None:
        raise ArgumentError("there is no process group: call torch.distributed.init_process_group, or pass group=")
    if is_mpi(group):
        comm = getattr(group, "wrapped", group)
        if comm.Get_attr(_keyval()) is None:
            comm.Set_attr(_keyval(), MpiExchange(comm))
        return comm.Get_attr(_keyval())
    exchanges, carrier = _of_groups.setdefault(group, {}), _carrier(group, device)
    if carrier not in exchanges:
        exchanges[carrier] = GroupExchange(group, carrier)
    return exchanges[carrier]

"""sync_weights and all_gather_updates: weights after a step, sent without loss as what has changed since the step before."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist

from .._errors import ArgumentError, PeerError, RankMismatchError
from ._collectives import _check_blocks, _rows
from ._exchange import HOST, Exchange, exchange_of, is_mpi
from ._frames import values_of
from ._pieces import Rows, Tensors, cut, fingerprint
from ._updates import GivenValues, KeptValues, ReceivedValues, Update
from ._work import Work

Old = Union[KeptValues, GivenValues, ReceivedValues]
NO_PART = -1.0  # in place of the fingerprint of a rank whose arguments are wrong

_kept: "WeakKeyDictionary[Exchange, dict[float, KeptValues]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class SyncReport:
    """Bytes and seconds of a call of `sync_weights` or `all_gather_updates`; the same on all ranks, but for the time.

    Attributes
    ----------
    tensor_bytes : int
        Size of the tensors; tied ones count once.
    frame_bytes : int
        Size of the frames that each receiver got.
    resent_bytes : int
        Size of the values that were sent twice, the second time whole, because a rank had others than the sender believed.
    seconds : float
        Time of the call on this rank.
    """

    tensor_bytes: int
    frame_bytes: int
    resent_bytes: int
    seconds: float

    @property
    def ratio(self) -> float:
        return self.tensor_bytes / max(self.frame_bytes, 1)


@dataclass
class _Call:
    """The checked arguments of a call."""

    room: Rows
    values: Rows
    owners: list[int]
    old: Callable[[float], Old]  # of a fingerprint

    @property
    def fingerprint(self) -> float:
        return float(fingerprint(f"{self.room.layout} {self.owners}"))


def sync_weights(
    tensors: Tensors,
    src: Union[int, Sequence[int]] = 0,
    group: Any = None,
    previous: Optional[Tensors] = None,
    threads: Optional[int] = None,
    async_op: bool = False,
) -> Union[SyncReport, Work]:
    """Gives all ranks of a group the tensors of one rank, bit for bit, and sends only what has changed since the last call.

    ::

        report = taut.torch.sync_weights(model)   # after each optimiser step, on the trainer (rank 0) and on the workers

    Parameters
    ----------
    tensors
        Module (its ``state_dict``), dictionary or list of tensors, or a tensor: the same names, shapes, types and ties on all
        ranks. Any dense tensors on CPUs or CUDA, of any type, contiguous or not. Receivers' tensors are overwritten. They should
        hold what the last call left in them: what does not is sent whole, after a further round.
    src
        The rank whose tensors are sent, as for ``torch.distributed.broadcast``; or a sequence with the rank of each tensor, for
        optimisers that share out the parameters.
    group
        Process group (default: all ranks), communicator of mpi4py, or `taut.Comm`. Frames travel in host memory, over gloo or MPI,
        also where the group is of NCCL. The first call on a group is collective.
    previous
        On the sender: tensors like ``tensors`` that hold what the last call sent. Default: Taut keeps a copy in memory of the
        sender's host, for each layout of tensors, as long as the group exists. Receivers need no memory.
    threads
        Threads that code on this rank; default: ``torch.get_num_threads()``, at most 8.
    async_op
        Return a `Work` at once, whose future has the report. The tensors must not be used before `Work.wait` returns.

    Returns
    -------
    SyncReport
        Bytes and seconds.

    Raises
    ------
    RankMismatchError
        If the ranks' tensors or ``src`` differ.
    PeerError
        If another rank's arguments were wrong, or it failed.
    ArgumentError, DTypeError
        If a tensor cannot be served.

    Notes
    -----
    Every result is checked against the sender's values by a number of 64 bits over the values that it refers to; a new worker, a
    restart or a changed buffer cost time, and never give wrong values. If a call raises, the receivers' tensors are not valid, and
    the next call that succeeds mends them.
    """

    def prepared(exchange: Exchange) -> _Call:
        room = Rows(tensors, "tensors")
        owners = _owners(src, group, exchange, room)
        mine = previous is not None and exchange.rank in owners
        given = Rows(previous, "previous") if mine else None
        if given is not None and [_fact(row) for row in given.rows] != [_fact(row) for row in room.rows]:
            raise ArgumentError("previous= has other tensors than tensors=: give as many, of the same sizes, types and ties")
        return _Call(room, room, owners, lambda mark: GivenValues(given.rows) if given else _kept_values(exchange, mark))

    return _started(group, prepared, threads, async_op)


def all_gather_updates(
    output: torch.Tensor, input: torch.Tensor, group: Any = None, threads: Optional[int] = None, async_op: bool = False
) -> Union[SyncReport, Work]:
    """Gathers the `input` of all ranks in `output`, bit for bit, as all_gather_into_tensor does, and sends only what has changed.

    It serves optimisers that share out the weights (ZeRO-1, ZeRO-2): `output` should hold the result of the last call. `input` may
    be this rank's block of `output`; Taut then keeps a copy of the block, otherwise it needs no memory. Other arguments, the
    result and exceptions are as for `sync_weights`.
    """

    def prepared(exchange: Exchange) -> _Call:
        values, block = values_of(output, "output"), values_of(input, "input")
        _check_blocks(block, values, exchange.ranks, "input", "output")
        blocks = list(_rows(values, exchange.ranks))
        room = Rows(blocks, "output")
        in_place = blocks[exchange.rank].data_ptr() == block.data_ptr()
        blocks[exchange.rank] = block
        own = Rows(blocks, "input")
        owners = list(range(exchange.ranks))
        return _Call(room, own, owners, lambda mark: _kept_values(exchange, mark) if in_place else ReceivedValues(room.rows))

    return _started(group, prepared, threads, async_op)


def _fact(row: torch.Tensor) -> tuple[int, torch.dtype]:
    return row.numel(), row.dtype


def _owners(src: Union[int, Sequence[int]], group: Any, exchange: Exchange, room: Rows) -> list[int]:
    """Returns the rank in the group that sends each row."""
    every = [src] * len(room.ties) if isinstance(src, int) else list(src)
    if len(every) != len(room.ties):
        raise ArgumentError(f"src= has {len(every)} ranks: give one, or one for each of the {len(room.ties)} tensors")
    owners: dict[int, int] = {}
    for number, rank in zip(room.ties, every):
        owners.setdefault(number, _rank_in(group, rank, exchange))
    return list(owners.values())


def _rank_in(group: Any, rank: int, exchange: Exchange) -> int:
    inside = rank
    if not is_mpi(group) and group is not None:
        members = dist.get_process_group_ranks(group)
        inside = members.index(rank) if rank in members else -1
    if not 0 <= inside < exchange.ranks:
        raise ArgumentError(f"src= names rank {rank}, which is not in the group: give one of its {exchange.ranks} ranks")
    return inside


def _kept_values(exchange: Exchange, mark: float) -> KeptValues:
    return _kept.setdefault(exchange, {}).setdefault(mark, KeptValues())


def _started(
    group: Any, prepared: Callable[[Exchange], _Call], threads: Optional[int], async_op: bool
) -> Union[SyncReport, Work]:
    """Starts a call. A rank whose arguments are wrong takes part in the agreement, so that no other rank waits for it."""
    began = time.perf_counter()
    exchange = exchange_of(group, HOST)
    call, problem = None, None
    try:
        call = prepared(exchange)
        _finish_streams(call.room.rows)
    except Exception as error:
        problem = error
    workers = threads or min(8, torch.get_num_threads())

    def action() -> SyncReport:
        _agree_on_layout(exchange, call, problem)
        pieces = cut(call.room.rows, call.owners)
        update = Update(exchange, pieces, call.values.rows, call.room.rows, call.old(call.fingerprint), workers)
        update.run()
        with torch.inference_mode():
            call.room.finish([owner != exchange.rank or call.values is not call.room for owner in call.owners])
        seconds = time.perf_counter() - began
        return SyncReport(call.room.nbytes, update.frame_bytes, update.resent_bytes, seconds)

    work = exchange.lane.submit(action, HOST)
    if async_op:
        return work
    work.wait()
    return work.result()[0]


def _finish_streams(rows: Sequence[torch.Tensor]) -> None:
    """Waits for the work of the caller's streams, because threads with other streams read the values."""
    for device in {row.device for row in rows if row.device.type == "cuda"}:
        torch.cuda.current_stream(device).synchronize()


def _agree_on_layout(exchange: Exchange, call: Optional[_Call], problem: Optional[Exception]) -> None:
    marks = exchange.numbers(NO_PART if call is None else call.fingerprint).view(-1).tolist()
    if problem is not None:
        raise problem
    if NO_PART in marks:
        raise PeerError(f"rank {marks.index(NO_PART)} of the group cannot take part; its own error says why")
    other = next((rank for rank, mark in enumerate(marks) if mark != marks[exchange.rank]), None)
    if other is not None:
        raise RankMismatchError(
            f"ranks {exchange.rank} and {other} of the group differ in names, shapes, types or ties of their tensors, or in src=: "
            "give the same ones in the same order; list(model.state_dict().values()) leaves the names out"
        )

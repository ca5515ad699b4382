"""The backend `taut` of torch.distributed: rules choose the calls that it codes; all others go to gloo or NCCL as they are."""

from collections.abc import Callable, Sequence
from typing import Any, Optional
from weakref import WeakSet

import torch
import torch.distributed as dist

from .. import _core
from .._errors import ArgumentError
from . import _frames
from ._collectives import NUMBERS_OF_OPERATORS, gather_all, is_coded, moved, operator_of, parts_of
from ._collectives import reduce_all, scatter_reduced, swap_parts
from ._ddp import GradientState
from ._exchange import HOST, GroupExchange
from ._exit_report import include
from ._statistics import Table, log, merged, write_scalars
from ._sums import wide_type
from ._work import Lane, Work, lane_of_gpu

CODED = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128)
_UNKNOWN = 1 << 40  # count of values of a message whose ranks do not know its size: it is large
_groups: "WeakSet[TautGroup]" = WeakSet()


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the values of a tensor as one row: its own if they are contiguous, else a copy."""
    return tensor.detach().contiguous().view(-1)


def _put_back(row: torch.Tensor, tensor: torch.Tensor) -> None:
    """Copies a row that `_flat` has made of a tensor back into the tensor, if it is a copy."""
    if row.data_ptr() != tensor.data_ptr():
        tensor.detach().copy_(row.view(tensor.shape))


class TautGroup(dist.ProcessGroup):
    """Process group whose calls go to a group of PyTorch's own, `inner`, in the order of the program.

    A call that a rule codes is carried out in a lane: it takes several calls of `inner`. A call that comes while the lane is busy
    follows in the lane; all others are made at once, by the caller. So `inner` sees one order of calls, the same on all ranks.
    Sends and receives have lanes of their own, one for each peer and tag.
    """

    def __init__(self, inner: dist.ProcessGroup, rules: str) -> None:
        super().__init__(inner.rank(), inner.size())
        self.inner = inner
        self._rules = rules
        self._lane = Lane()
        self._message_lanes: dict[tuple[str, int, int], Lane] = {}
        self._exchanges: dict[torch.device, GroupExchange] = {}
        self._collecting = False  # between _start_coalescing and _end_coalescing
        for device in inner._device_types:
            backend = inner._get_backend(device)
            self._register_backend(device, type_of(backend), backend)
        self._set_default_backend(type_of(inner._get_backend(inner._device_types[0])))
        _groups.add(self)

    def get_group_store(self) -> dist.Store:
        return self.inner.get_group_store()

    def split_group(self, new_ranks: list[int], **options: Any) -> Optional[dist.ProcessGroup]:
        part = self.inner.split_group(new_ranks, **options)
        if part is None:
            return None
        group = TautGroup(part, self._rules)
        group._set_group_name(part.group_name)
        group._set_group_desc(part.group_desc)
        return group

    def shutdown(self) -> None:
        log(self.statistics())
        self.inner.shutdown()

    # ---- What is coded, and where

    @property
    def described_as(self) -> str:
        """The name by which rules know the group: its description, as DeviceMesh and programs give it."""
        return self.group_desc.removeprefix("mesh_")

    def statistics(self) -> Table:
        """Returns what was coded in calls of the group, by the names of group and call."""
        rows = [row for exchange in self._exchanges.values() for row in exchange.statistics.items()]
        return merged({(self.described_as, call): row} for call, row in rows)

    def exchange_on(self, device: torch.device) -> GroupExchange:
        """Returns the transport of frames of values on a device."""
        if device not in self._exchanges:
            over_nccl = self.inner._get_backend(device).name() == "nccl"
            there = device if over_nccl else HOST
            self._exchanges[device] = exchange = GroupExchange(self.inner, there, self._lane_on(device))
            include(self.described_as, exchange.statistics, self.rank(), self.size(), self._rules)
        return self._exchanges[device]

    def _lane_on(self, device: torch.device) -> Lane:
        return lane_of_gpu(device) if device.type == "cuda" else self._lane

    def _policy(self, call: str, tensor: torch.Tensor, count: int, op: str = "sum") -> str:
        """Returns the policy of a call on values like those of a tensor; an empty text if it goes to `inner` as it is. `count`:
        values of the whole message, the same number on every rank."""
        served = tensor.layout == torch.strided and tensor.dtype in CODED and tensor.device.type in ("cpu", "cuda")
        if not self._rules or self._collecting or self.size() == 1 or not served:
            return ""
        ranks, world, bytes = self.size(), self.size() == dist.get_world_size(), count * tensor.element_size()
        number, wanted = _frames.number_of(tensor), NUMBERS_OF_OPERATORS[op] or NUMBERS_OF_OPERATORS["sum"]
        return _core.policy_by_rules(self._rules, self.described_as, ranks, world, call, wanted, number, bytes)

    def _reduction(self, call: str, op: Any, tensor: torch.Tensor, count: int) -> tuple[str, str]:
        """Returns operator and policy of a reduction; an empty policy if it goes to `inner` as it is."""
        try:
            operator = operator_of(op)
        except ArgumentError:
            return "", ""
        policy = self._policy(call, tensor, count, operator)
        wide = tensor.dtype if policy.startswith("lossless") else wide_type(tensor)
        coded = policy and is_coded(policy, count, wide, self.size(), operator)
        return operator, policy if coded else ""

    def _code(self, call: str, action: Callable[[GroupExchange], None], result: list, tensors: Sequence[torch.Tensor]) -> Work:
        """Carries out a call in the lane; returns its handle, whose result is `result`, as PyTorch's own."""
        exchange = self.exchange_on(tensors[0].device)

        def whole() -> list:
            action(exchange)
            return result

        return exchange.submit(call, whole, tensors)

    def _pass(self, name: str, tensors: Any, *arguments: Any, lane: Optional[Lane] = None, **named: Any) -> dist.Work:
        """Makes a call of `inner`, after the calls that the lane has."""
        first = _first(tensors)
        device = first.device if first is not None else HOST
        lane = lane or self._lane_on(device)
        call = getattr(self.inner, name)
        if lane.idle or self._collecting:
            return call(tensors, *arguments, **named)

        def in_turn() -> Any:
            call(tensors, *arguments, **named).wait()
            return tensors

        return lane.submit(in_turn, device)

    # ---- Calls that may be coded. `options` are PyTorch's; calls in other forms go to `inner` as they are.

    def allreduce(self, tensors: Any, options: Any = None, *more: Any, **named: Any) -> dist.Work:
        if not isinstance(options, dist.AllreduceOptions):
            return self._pass("allreduce", tensors, *_given(options), *more, **named)
        tensor = tensors[0]
        op, policy = self._reduction("Allreduce", options.reduceOp, tensor, tensor.numel())
        if not policy:
            return self._pass("allreduce", tensors, options)
        row = _flat(tensor)

        def action(exchange: GroupExchange) -> None:
            reduce_all(exchange, row, policy, op)
            _put_back(row, tensor)

        return self._code("Allreduce", action, [tensor], [row])

    def broadcast(self, tensors: Any, options: Any = None, *more: Any, **named: Any) -> dist.Work:
        coded = isinstance(options, dist.BroadcastOptions)
        policy = self._policy("Bcast", tensors[0], tensors[0].numel()) if coded else ""
        if not policy:
            return self._pass("broadcast", tensors, *_given(options), *more, **named)
        tensor, root, row = tensors[0], options.rootRank, _flat(tensors[0])

        def action(exchange: GroupExchange) -> None:
            nothing = torch.empty(0, dtype=torch.uint8, device=exchange.device)
            frame = moved(exchange, row, policy) if exchange.rank == root else nothing
            _frames.decode(exchange.spread_from(root, frame), row)  # on the root too: all ranks have the same bits
            _put_back(row, tensor)

        return self._code("Bcast", action, [tensor], [row])

    def _gather(self, outputs: Sequence[torch.Tensor], block: torch.Tensor, policy: str, result: list) -> Work:
        rooms, row = [_flat(room) for room in outputs], _flat(block)

        def action(exchange: GroupExchange) -> None:
            gather_all(exchange, rooms, row, policy)
            for room, output in zip(rooms, outputs):
                _put_back(room, output)

        return self._code("Allgather", action, result, [row, *rooms])

    def allgather(self, outputs: Any, inputs: Any, *more: Any, **named: Any) -> dist.Work:
        lists = isinstance(inputs, (list, tuple)) and len(inputs) == 1
        policy = self._policy("Allgather", inputs[0], sum(room.numel() for room in outputs[0])) if lists else ""
        if not policy:
            return self._pass("allgather", outputs, inputs, *more, **named)
        return self._gather(outputs[0], inputs[0], policy, outputs)

    def _allgather_base(self, output: torch.Tensor, input: torch.Tensor, *more: Any, **named: Any) -> dist.Work:
        policy = self._policy("Allgather", input, output.numel())
        if not policy:
            return self._pass("_allgather_base", output, input, *more, **named)
        return self._gather(_blocks(output, self.size()), input, policy, [output])

    def allgather_into_tensor_coalesced(self, outputs: Any, inputs: Any, *more: Any, **named: Any) -> dist.Work:
        if len(inputs) == 1:  # one call of functional collectives
            policy = self._policy("Allgather", inputs[0], outputs[0].numel())
            if policy:
                return self._gather(_blocks(outputs[0], self.size()), inputs[0], policy, outputs)
        return self._pass("allgather_into_tensor_coalesced", outputs, inputs, *more, **named)

    def _scatter_sum(self, block: torch.Tensor, parts: Sequence[torch.Tensor], op: Any, result: list) -> Optional[Work]:
        """Codes a reduce-scatter; returns nothing if no rule does."""
        operator, policy = self._reduction("Reduce_scatter", op, parts[0], sum(part.numel() for part in parts))
        if not policy:
            return None
        values = _flat(parts[0]) if len(parts) == 1 else torch.cat([_flat(part) for part in parts])
        sizes = [part.numel() for part in parts] if len(parts) > 1 else [block.numel()] * self.size()
        row = _flat(block)

        def action(exchange: GroupExchange) -> None:
            scatter_reduced(exchange, row, values, sizes, policy, operator)
            _put_back(row, block)

        return self._code("Reduce_scatter", action, result, [row, values])

    def reduce_scatter(self, outputs: Any, inputs: Any, options: Any = None, *more: Any, **named: Any) -> dist.Work:
        work = None
        if isinstance(options, dist.ReduceScatterOptions) and len(outputs) == 1:
            work = self._scatter_sum(outputs[0], inputs[0], options.reduceOp, outputs)
        return work or self._pass("reduce_scatter", outputs, inputs, *_given(options), *more, **named)

    def _reduce_scatter_base(self, output: torch.Tensor, input: torch.Tensor, options: Any = None) -> dist.Work:
        given = options if options is not None else dist.ReduceScatterOptions()
        work = self._scatter_sum(output, [input], given.reduceOp, [output])
        return work or self._pass("_reduce_scatter_base", output, input, given)

    def reduce_scatter_tensor_coalesced(self, outputs: Any, inputs: Any, options: Any = None) -> dist.Work:
        given, work = options if options is not None else dist.ReduceScatterOptions(), None
        if len(inputs) == 1:  # one call of functional collectives
            work = self._scatter_sum(outputs[0], [inputs[0]], given.reduceOp, outputs)
        return work or self._pass("reduce_scatter_tensor_coalesced", outputs, inputs, given)

    def _swap(self, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor], policy: str, result: list) -> Work:
        rooms, parts = [_flat(room) for room in outputs], [_flat(part) for part in inputs]

        def action(exchange: GroupExchange) -> None:
            swap_parts(exchange, rooms, parts, policy)
            for room, output in zip(rooms, outputs):
                _put_back(room, output)

        return self._code("Alltoall", action, result, [*parts, *rooms])

    def alltoall_base(
        self, output: Any, input: Any, output_sizes: list[int], input_sizes: list[int], *more: Any, **named: Any
    ) -> dist.Work:
        even = not output_sizes and not input_sizes
        policy = self._policy("Alltoall", input, input.numel() if even else _UNKNOWN)
        if not policy:
            return self._pass("alltoall_base", output, input, output_sizes, input_sizes, *more, **named)
        rooms = parts_of(output, output_sizes or None, self.size(), "output")
        parts = parts_of(input, input_sizes or None, self.size(), "input")
        return self._swap(rooms, parts, policy, [output])

    def alltoall(self, outputs: Any, inputs: Any, *more: Any, **named: Any) -> dist.Work:
        policy = self._policy("Alltoall", inputs[0], _UNKNOWN)
        if not policy:
            return self._pass("alltoall", outputs, inputs, *more, **named)
        return self._swap(outputs, inputs, policy, outputs)

    # ---- Messages. Those of tensors on a GPU go to `inner`: NCCL's receiver has to know their size.

    def _message_lane(self, way: str, peer: int, tag: int) -> Lane:
        return self._message_lanes.setdefault((way, peer, tag), Lane())

    def _message_policy(self, tensor: torch.Tensor) -> str:
        return self._policy("Send", tensor, tensor.numel()) if tensor.device.type == "cpu" else ""

    def send(self, tensors: list[torch.Tensor], peer: int, tag: int) -> dist.Work:
        policy, lane = self._message_policy(tensors[0]), self._message_lane("to", peer, tag)
        if not policy:
            return self._pass("send", tensors, peer, tag, lane=lane)
        exchange, row = GroupExchange(self.inner, HOST, lane), _flat(tensors[0])
        exchange.statistics = self.exchange_on(HOST).statistics

        def action() -> list[torch.Tensor]:
            frame = moved(exchange, row, policy)
            for part in (torch.tensor([frame.numel()]), frame):
                self.inner.send([part], peer, tag).wait()
            return tensors

        return exchange.submit("Send", action, [row])

    def recv(self, tensors: list[torch.Tensor], peer: int, tag: int) -> dist.Work:
        policy, lane = self._message_policy(tensors[0]), self._message_lane("from", peer, tag)
        if not policy:
            return self._pass("recv", tensors, peer, tag, lane=lane)
        row = _flat(tensors[0])

        def action() -> list[torch.Tensor]:
            size = torch.empty(1, dtype=torch.int64)
            self.inner.recv([size], peer, tag).wait()
            frame = torch.empty(int(size), dtype=torch.uint8)
            self.inner.recv([frame], peer, tag).wait()
            _frames.decode(frame, row)
            _put_back(row, tensors[0])
            return tensors

        return lane.submit(action, HOST)

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int) -> dist.Work:
        if self._message_policy(tensors[0]):
            raise ArgumentError("a rule codes Send, whose receiver has to name the sender: give src, or restrict the rule")
        return self.inner.recv_anysource(tensors, tag)

    # ---- Calls that are never coded, in their turn

    def allreduce_coalesced(self, tensors: Any, *more: Any, **named: Any) -> dist.Work:
        return self._pass("allreduce_coalesced", tensors, *more, **named)

    def allgather_coalesced(self, outputs: Any, *more: Any, **named: Any) -> dist.Work:
        return self._pass("allgather_coalesced", outputs, *more, **named)

    def reduce(self, tensors: Any, *more: Any, **named: Any) -> dist.Work:
        return self._pass("reduce", tensors, *more, **named)

    def gather(self, outputs: Any, inputs: Any, *more: Any, **named: Any) -> dist.Work:
        return self._pass("gather", outputs, inputs, *more, **named)

    def scatter(self, outputs: Any, *more: Any, **named: Any) -> dist.Work:
        return self._pass("scatter", outputs, *more, **named)

    def barrier(self, *options: Any, **named: Any) -> dist.Work:
        self._drain()
        return self.inner.barrier(*options, **named)

    def _start_coalescing(self, device: torch.device) -> None:
        self._drain()
        self._collecting = True
        self.inner._start_coalescing(device)

    def _end_coalescing(self, device: torch.device) -> dist.Work:
        self._collecting = False
        return self.inner._end_coalescing(device)

    def _drain(self) -> None:
        """Waits for the calls that are in a lane now."""
        for device in self._exchanges or [HOST]:
            lane = self._lane_on(device)
            if not lane.idle:
                lane.submit(lambda: None, device).wait()


def _given(options: Any) -> list[Any]:
    return [] if options is None else [options]


def _first(tensors: Any) -> Optional[torch.Tensor]:
    """Returns the first tensor in lists of tensors; nothing if there is none."""
    while isinstance(tensors, (list, tuple)):
        if not tensors:
            return None
        tensors = tensors[0]
    return tensors


def _blocks(tensor: torch.Tensor, ranks: int) -> list[torch.Tensor]:
    """Returns one block of a tensor, contiguous as PyTorch demands, for each rank."""
    return list(_frames.values_of(tensor, "output").view(ranks, -1).unbind())


def type_of(backend: Any) -> Any:
    kinds = dist.ProcessGroup.BackendType
    return {"gloo": kinds.GLOO, "nccl": kinds.NCCL}.get(backend.name(), kinds.CUSTOM)


def statistics(group: Any = None) -> Table:
    """Returns what this rank has coded, by the names of group and call: of one group, or of all groups of the backend. The state
    of a DDP hook stands for its gradients.

    Examples
    --------
    >>> for (group, call), row in taut.torch.statistics().items():         # doctest: +SKIP
    ...     print(group, call, row.calls, row.ratio, row.greatest_bound, row.seconds)
    """
    if group is not None and not isinstance(group, (TautGroup, GradientState)):
        raise ArgumentError("group is none of the backend taut: init_process_group('cpu:taut,cuda:taut')")
    return merged([one.statistics() for one in (_groups if group is None else [group])])


def report(writer: Any = None, step: Optional[int] = None, group: Any = None) -> None:
    """Logs `statistics`, a line for each kind of call, at level INFO of the logger ``taut.torch``.

    Parameters
    ----------
    writer
        ``SummaryWriter`` of TensorBoard, or another object with its ``add_scalar``, that gets them too.
    step
        Step of the scalars.
    group
        As for `statistics`.
    """
    table = statistics(group)
    log(table)
    if writer is not None:
        write_scalars(table, writer, step)

"""all_reduce, reduce_scatter, all_gather and all_to_all on tensors, under a policy."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Union

import torch
import torch.distributed as dist

from .. import _core
from .._errors import ArgumentError
from .._policy import Policy, current_policy
from . import _frames, _sums
from ._exchange import OPERATORS, Exchange, exchange_of
from ._slots import Slots, ratio_of
from ._statistics import coded_bound
from ._work import Work

Bound = Union[str, Policy, None]
NUMBERS_OF_OPERATORS = {"mean": 0, "sum": 1, "min": 2, "max": 3}  # as reduction_coding has them


def _policy_text(bound: Bound, group: Any) -> str:
    """Returns the text of a call's bound; raises if it is invalid."""
    of_group = group.Get_policy() if hasattr(group, "Get_policy") else None
    return _core.check_policy(str(bound if bound is not None else of_group or current_policy() or "lossless"))


def _run(
    exchange: Exchange, call: str, action: Callable[[], None], tensors: Sequence[torch.Tensor], async_op: bool
) -> Optional[Work]:
    """Carries out a call, whose result is the first tensor, in the lane of its exchange; returns its handle, or waits."""

    def whole() -> torch.Tensor:
        action()
        return tensors[0]

    work = exchange.submit(call, whole, tensors)
    if async_op:
        return work
    work.wait()
    return None


def _coding(exchange: Exchange, policy: str, values: torch.Tensor, op: str) -> Optional[_sums.Coding]:
    """Returns the coding of a reduction; None if it travels uncompressed. All ranks agree on the range that a bound refers to."""
    number = _frames.NUMBERS.get(values.dtype)
    if number is None:
        return None
    least, greatest = _core.range_for(policy, values.data_ptr(), values.numel(), number)
    if policy.startswith(("rel", "psnr")):
        least = float(exchange.numbers(least).min())
        greatest = float(exchange.numbers(greatest).max())
    wanted = NUMBERS_OF_OPERATORS[op]
    text, adds, bound = _core.reduction_coding(policy, number, values.numel(), exchange.ranks, wanted, least, greatest)
    return _sums.Coding(text, adds, op, bound, "sum=wide" in policy, ratio_of(policy)) if text else None


def is_coded(policy: str, count: int, dtype: torch.dtype, ranks: int, op: str) -> bool:
    """Returns true if a policy codes a reduction of values whose range is not 0: the same on every rank."""
    wanted = NUMBERS_OF_OPERATORS[op]
    return _core.reduction_coding(policy, _frames.NUMBERS[dtype], count, ranks, wanted, 0.0, 1.0)[0] != ""


def _operands(exchange: Exchange, policy: str, values: torch.Tensor, op: str) -> torch.Tensor:
    """Returns values in the type in which a reduction codes them: float32 for 16-bit floats, unless it codes without loss."""
    wide = _sums.wide_type(values)
    if wide == values.dtype or (policy.startswith("lossless") and _coding(exchange, policy, values, op)):
        return values
    return values.to(wide)


def operator_of(op: Any) -> str:
    """Returns the name of an operator; raises for those that Taut does not know, among them NCCL's sum of scaled values."""
    known = [(dist.ReduceOp.AVG, "mean"), *((known, name) for name, known in OPERATORS.items())]
    for one, name in known:
        if op == one:
            return name
    raise ArgumentError(
        "op is none of SUM, AVG, MIN, MAX: call torch.distributed for other operators, whose results are exact"
    )


def reduce_all(exchange: Exchange, values: torch.Tensor, policy: str, op: str) -> None:
    """Replaces values by their reduction over the ranks; runs in the lane."""
    operands = _operands(exchange, policy, values, op)
    coding = _coding(exchange, policy, operands, op)
    if coding is not None:
        frames = _sums.encode_parts(exchange, _sums.blocks_of(operands, exchange.ranks), coding)
        _sums.finish_sum(exchange, frames, operands, coding)
    else:
        exchange.plain_reduction(operands, op)
    if operands is not values:
        values.copy_(operands)


def all_reduce(
    tensor: torch.Tensor, bound: Bound = None, op: Any = dist.ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Optional[Work]:
    """Replaces a tensor by its reduction over the ranks of a group, within a bound on the result.

    Parameters
    ----------
    tensor
        Contiguous tensor on the host or on a GPU, of the same size and type on every rank, and on the same kind of device.
    bound
        Policy, the same on every rank: ``"abs:1e-4"``, ``"rel:1e-3"``, ... with options (docs/configuration.md). Default:
        the policy of a `taut.Comm`, else the surrounding `taut.policy`, else ``"lossless"``. Sums under ``"lossless"`` and
        small ones travel uncompressed.
    op
        ``ReduceOp.SUM``, ``AVG``, ``MIN`` or ``MAX``.
    group
        Process group (default: all ranks), communicator of mpi4py, or `taut.Comm`. The first call on a group is collective.
    async_op
        Return a `Work` at once. The tensor must not be used before `Work.wait` returns.

    Notes
    -----
    Every rank gets the same bits. 16-bit floats are added as float32 and rounded once.
    """
    policy, operator, values = _policy_text(bound, group), operator_of(op), _frames.values_of(tensor, "tensor")
    exchange = exchange_of(group, values.device)

    def action() -> None:
        reduce_all(exchange, values, policy, operator)

    return _run(exchange, "Allreduce", action, [tensor], async_op)


def scatter_reduced(
    exchange: Exchange, block: torch.Tensor, values: torch.Tensor, sizes: list[int], policy: str, op: str
) -> None:
    """Writes this rank's block of the reduction of all ranks' values; runs in the lane. `sizes`: of each rank's block."""
    operands = _operands(exchange, policy, values, op)
    coding = _coding(exchange, policy, operands, op)
    if coding is not None:
        frames = _sums.encode_parts(exchange, operands.split(sizes), coding)
        mine = torch.empty_like(block, dtype=operands.dtype)
        bytes_of_one = operands.element_size()
        slots = Slots.of(coding.slots, [bytes_of_one * size for size in sizes], [mine.nbytes] * exchange.ranks)
        _sums.combine(exchange, exchange.swap(frames, slots), mine, coding)
        block.copy_(mine)
        return
    total = operands.clone()
    exchange.plain_reduction(total, op)
    block.copy_(total.split(sizes)[exchange.rank])


def reduce_scatter(
    output: torch.Tensor, input: torch.Tensor, bound: Bound = None, op: Any = dist.ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Optional[Work]:
    """Writes this rank's block of the reduction of all ranks' `input` into `output`, as reduce_scatter_tensor does.

    The block has the size of `output`, and `input` one block for each rank. Other arguments are as for `all_reduce`.
    """
    policy, operator = _policy_text(bound, group), operator_of(op)
    block, values = _frames.values_of(output, "output"), _frames.values_of(input, "input")
    exchange = exchange_of(group, values.device)
    _check_blocks(block, values, exchange.ranks, "output", "input")

    def action() -> None:
        scatter_reduced(exchange, block, values, [block.numel()] * exchange.ranks, policy, operator)

    return _run(exchange, "Reduce_scatter", action, [output, input], async_op)


def _rows(values: torch.Tensor, ranks: int) -> tuple[torch.Tensor, ...]:
    """Returns one block for each rank, all of one size."""
    return values.view(ranks, values.numel() // ranks).unbind()


def _check_blocks(block: torch.Tensor, values: torch.Tensor, ranks: int, small: str, large: str) -> None:
    if block.device != values.device:
        raise ArgumentError(f"{small} is on device {block.device}, {large} on {values.device}: give both on the same device")
    if block.dtype != values.dtype:
        raise ArgumentError(f"{small} has values of type {block.dtype}, {large} of type {values.dtype}: give both the same type")
    if block.numel() * ranks != values.numel():
        raise ArgumentError(f"{large} has {values.numel()} values: give it {ranks} times the {block.numel()} of {small}")


def moved(exchange: Exchange, values: torch.Tensor, policy: str) -> torch.Tensor:
    """Returns the frame of values that a call moves. Values of a type that Taut does not know are moved as bytes, without loss."""
    data = _frames.movable(values)
    if data is not values and not policy.startswith("lossless"):
        return exchange.encode(data, _frames.STORED, 0.0)
    coding = _core.move_coding(policy, data.data_ptr(), data.numel(), _frames.number_of(data)) or _frames.STORED
    return exchange.encode(data, coding, coded_bound(coding))


def gather_all(exchange: Exchange, rooms: Sequence[torch.Tensor], block: torch.Tensor, policy: str) -> None:
    """Writes the block of each rank into its room; runs in the lane."""
    slots = Slots.of(ratio_of(policy), [block.nbytes] * exchange.ranks, [room.nbytes for room in rooms])
    _open_all(exchange.spread(moved(exchange, block, policy), slots), rooms)


def swap_parts(exchange: Exchange, rooms: Sequence[torch.Tensor], parts: Sequence[torch.Tensor], policy: str) -> None:
    """Sends part i to rank i, and writes what the ranks send into the rooms; runs in the lane."""
    slots = Slots.of(ratio_of(policy), [part.nbytes for part in parts], [room.nbytes for room in rooms])
    _open_all(exchange.swap([moved(exchange, part, policy) for part in parts], slots), rooms)


def _open_all(frames: Iterable[torch.Tensor], rooms: Iterable[torch.Tensor]) -> None:
    for frame, room in zip(frames, rooms):
        _frames.decode(frame, _frames.movable(room))


def all_gather(
    output: torch.Tensor, input: torch.Tensor, bound: Bound = None, group: Any = None, async_op: bool = False
) -> Optional[Work]:
    """Gathers the `input` of all ranks in `output`, as all_gather_into_tensor does; each value is within the bound.

    Every rank gets the same bits: its own `input` too comes back as coded. Other arguments are as for `all_reduce`.
    """
    policy = _policy_text(bound, group)
    values, block = _frames.values_of(output, "output"), _frames.values_of(input, "input")
    exchange = exchange_of(group, values.device)
    _check_blocks(block, values, exchange.ranks, "input", "output")

    def action() -> None:
        gather_all(exchange, _rows(values, exchange.ranks), block, policy)

    return _run(exchange, "Allgather", action, [output, input], async_op)


def all_to_all(
    output: torch.Tensor,
    input: torch.Tensor,
    bound: Bound = None,
    output_split_sizes: Optional[list[int]] = None,
    input_split_sizes: Optional[list[int]] = None,
    group: Any = None,
    async_op: bool = False,
) -> Optional[Work]:
    """Sends one part of `input` to each rank, as all_to_all_single does; each value is within the bound.

    Split sizes count rows: the first dimension. Other arguments are as for `all_reduce`.
    """
    policy = _policy_text(bound, group)
    exchange = exchange_of(group, _frames.values_of(input, "input").device)
    parts = parts_of(input, input_split_sizes, exchange.ranks, "input")
    rooms = parts_of(output, output_split_sizes, exchange.ranks, "output")

    def action() -> None:
        swap_parts(exchange, rooms, parts, policy)

    return _run(exchange, "Alltoall", action, [output, input], async_op)


def parts_of(tensor: torch.Tensor, sizes: Optional[list[int]], ranks: int, name: str) -> list[torch.Tensor]:
    """Returns the values of each rank's rows."""
    _frames.values_of(tensor, name)
    rows = tensor.shape[0] if tensor.dim() else 0
    if sizes is None:
        if rows % ranks:
            raise ArgumentError(f"{name} has {rows} rows, which {ranks} ranks cannot share evenly: give {name}_split_sizes")
        sizes = [rows // ranks] * ranks
    if len(sizes) != ranks or sum(sizes) != rows:
        raise ArgumentError(f"{name}_split_sizes: give {ranks} numbers whose sum is {rows}, the rows of {name}")
    return [_frames.values_of(part, name) for part in tensor.split(sizes)]

"""all_reduce, reduce_scatter, all_gather and all_to_all on tensors, under a policy."""

from collections.abc import Callable
from typing import Any, Optional, Union

import torch
import torch.distributed as dist

from .. import _core
from .._errors import ArgumentError
from .._policy import Policy, current_policy
from . import _frames, _sums
from ._exchange import Exchange, exchange_of
from ._work import Work

Bound = Union[str, Policy, None]
SUM, AVG = dist.ReduceOp.SUM, dist.ReduceOp.AVG


def _policy_text(bound: Bound, group: Any) -> str:
    """Returns the text of a call's bound; raises if it is invalid."""
    of_group = group.Get_policy() if hasattr(group, "Get_policy") else None
    text = str(bound if bound is not None else of_group or current_policy() or "lossless")
    _core.check_policy(text)
    return text


def _run(exchange: Exchange, action: Callable[[], None], result: torch.Tensor, async_op: bool) -> Optional[Work]:
    """Carries out a call in the thread of its exchange; returns its handle, or waits."""

    def whole() -> torch.Tensor:
        action()
        return result

    work = Work(exchange.worker.submit(whole, result.device))
    if async_op:
        return work
    work.wait()
    return None


def _sum_coding(exchange: Exchange, policy: str, values: torch.Tensor, mean: bool) -> Optional[_sums.Coding]:
    """Returns the coding of a sum; None if it travels uncompressed. All ranks agree on the range that a bound refers to."""
    number = _frames.NUMBERS.get(values.dtype)
    if number is None:
        return None
    least, greatest = _core.range_for(policy, values.data_ptr(), values.numel(), number)
    if policy.startswith(("rel", "psnr")):
        least = float(exchange.numbers(least).min())
        greatest = float(exchange.numbers(greatest).max())
    text, adds = _core.sum_coding(policy, number, values.numel(), exchange.ranks, mean, least, greatest)
    return _sums.Coding(text, adds, mean) if text else None


def _addends(exchange: Exchange, policy: str, values: torch.Tensor, mean: bool) -> torch.Tensor:
    """Returns values in the type in which a sum codes them: float32 for 16-bit floats, unless a lossless policy names a codec."""
    wide = _sums.wide_type(values)
    if wide == values.dtype or (policy.startswith("lossless") and _sum_coding(exchange, policy, values, mean)):
        return values
    return values.to(wide)


def is_mean(op: Any) -> bool:
    """Returns true for a mean, false for a sum; raises for all other operators, among them NCCL's sum of scaled values."""
    if op not in (SUM, AVG):
        raise ArgumentError("op is neither SUM nor AVG: call torch.distributed for other operators, whose results are exact")
    return op == AVG


def _add_up(exchange: Exchange, values: torch.Tensor, policy: str, mean: bool) -> None:
    """Replaces values, as `_addends` returns them, by their sum over the ranks, or their mean."""
    coding = _sum_coding(exchange, policy, values, mean)
    if coding is not None:
        frames = _sums.encode_blocks(exchange, values, coding)
        _sums.finish_sum(exchange, frames, values, coding)
        return
    exchange.plain_sum(values)
    if mean:
        values /= exchange.ranks


def all_reduce(
    tensor: torch.Tensor, bound: Bound = None, op: Any = SUM, group: Any = None, async_op: bool = False
) -> Optional[Work]:
    """Replaces a tensor by its sum, or mean, over the ranks of a group, within a bound on the result.

    Parameters
    ----------
    tensor
        Contiguous tensor on the host or on a GPU, of the same size and type on every rank, and on the same kind of device.
    bound
        Policy, the same on every rank: ``"abs:1e-4"``, ``"rel:1e-3"``, ... with options (docs/configuration.md). Default:
        the policy of a `taut.Comm`, else the surrounding `taut.policy`, else ``"lossless"``. Sums under ``"lossless"`` and
        small ones travel uncompressed.
    op
        ``ReduceOp.SUM`` or ``ReduceOp.AVG``.
    group
        Process group (default: all ranks), communicator of mpi4py, or `taut.Comm`. The first call on a group is collective.
    async_op
        Return a `Work` at once. The tensor must not be used before `Work.wait` returns.

    Notes
    -----
    Every rank gets the same bits. 16-bit floats are added as float32 and rounded once.
    """
    policy, mean, values = _policy_text(bound, group), is_mean(op), _frames.values_of(tensor, "tensor")
    exchange = exchange_of(group, values.device)

    def action() -> None:
        addends = _addends(exchange, policy, values, mean)
        _add_up(exchange, addends, policy, mean)
        if addends is not values:
            values.copy_(addends)

    return _run(exchange, action, tensor, async_op)


def scatter_sum(exchange: Exchange, block: torch.Tensor, values: torch.Tensor, policy: str, mean: bool) -> None:
    """Writes this rank's block of the sum, or mean, of all ranks' values; runs in the thread of the exchange."""
    addends = _addends(exchange, policy, values, mean)
    coding = _sum_coding(exchange, policy, addends, mean)
    if coding is not None:
        frames = [_frames.encode(part, coding.text, exchange.device) for part in _rows(addends, exchange.ranks)]
        mine = torch.empty_like(block, dtype=addends.dtype)
        _sums.combine(exchange.swap(frames), mine, coding)
        block.copy_(mine)
        return
    total = addends.clone()
    exchange.plain_sum(total)
    mine = _rows(total, exchange.ranks)[exchange.rank]
    block.copy_(mine / exchange.ranks if mean else mine)


def reduce_scatter(
    output: torch.Tensor, input: torch.Tensor, bound: Bound = None, op: Any = SUM, group: Any = None, async_op: bool = False
) -> Optional[Work]:
    """Writes this rank's block of the sum, or mean, of all ranks' `input` into `output`, as reduce_scatter_tensor does.

    The block has the size of `output`, and `input` one block for each rank. Other arguments are as for `all_reduce`.
    """
    policy, mean = _policy_text(bound, group), is_mean(op)
    block, values = _frames.values_of(output, "output"), _frames.values_of(input, "input")
    exchange = exchange_of(group, values.device)
    _check_blocks(block, values, exchange.ranks, "output", "input")

    def action() -> None:
        scatter_sum(exchange, block, values, policy, mean)

    return _run(exchange, action, output, async_op)


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


def _moved(exchange: Exchange, values: torch.Tensor, policy: str) -> torch.Tensor:
    """Returns the frame of values that a call moves. Values of a type that Taut does not know are moved as bytes, without loss."""
    data = _frames.movable(values)
    if data is not values and not policy.startswith("lossless"):
        return _frames.encode(data, _frames.STORED, exchange.device)
    coding = _core.move_coding(policy, data.data_ptr(), data.numel(), _frames.number_of(data))
    return _frames.encode(data, coding or _frames.STORED, exchange.device)


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
        frames = exchange.spread(_moved(exchange, block, policy))
        for frame, room in zip(frames, _rows(values, exchange.ranks)):
            _frames.decode(frame, _frames.movable(room))

    return _run(exchange, action, output, async_op)


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
    parts = _parts(input, input_split_sizes, exchange.ranks, "input")
    rooms = _parts(output, output_split_sizes, exchange.ranks, "output")

    def action() -> None:
        frames = exchange.swap([_moved(exchange, part, policy) for part in parts])
        for frame, room in zip(frames, rooms):
            _frames.decode(frame, _frames.movable(room))

    return _run(exchange, action, output, async_op)


def _parts(tensor: torch.Tensor, sizes: Optional[list[int]], ranks: int, name: str) -> list[torch.Tensor]:
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

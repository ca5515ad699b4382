"""Communication of FSDP2: reduce-scatter of gradients within a relative bound, all-gather of parameters under a policy."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional, Union

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter

from .._errors import ArgumentError
from .._policy import Policy
from . import _frames, _sums
from ._collectives import all_gather, operator_of, scatter_reduced
from ._exchange import Exchange, exchange_of
from ._scales import scales_of
from ._work import Work


class BoundedReduceScatter(ReduceScatter):
    """Reduce-scatter of one module's gradients, within `bound` times the RMS of the reduced gradients of the call before.

    `parameters` returns the sizes of the parameters' parts of a block. Each part has an RMS of its own, unless the block has other
    parts: parameters without gradients are not in it.
    """

    def __init__(self, bound: float, parameters: Callable[[], Sequence[int]] = tuple) -> None:
        self._bound = bound
        self._parameters = parameters
        self._mean_squares: dict[tuple[int, ...], list[float]] = {}  # by sizes of parts, the same numbers on every rank

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False
    ) -> Optional[Work]:
        block, values = _frames.values_of(output_tensor, "output_tensor"), _frames.values_of(input_tensor, "input_tensor")
        operator, exchange = operator_of(op), exchange_of(group, values.device)

        sizes = tuple(self._parameters())
        if sum(sizes) != block.numel():
            sizes = (block.numel(),)

        def action() -> torch.Tensor:
            self._reduce(exchange, block, values, sizes, operator)
            return output_tensor

        work = exchange.submit("Reduce_scatter", action, [block, values])
        if async_op:
            return work
        work.wait()
        return None

    def _reduce(
        self, exchange: Exchange, block: torch.Tensor, values: torch.Tensor, sizes: tuple[int, ...], operator: str
    ) -> None:
        known = self._mean_squares.setdefault(sizes, [0.0] * len(sizes))
        scales, blocks = scales_of(sizes, known, self._bound), [block.numel()] * exchange.ranks
        if scales is None:
            scatter_reduced(exchange, block, values, blocks, "off", operator)
        else:
            wide = values.to(_sums.wide_type(values))
            mine = torch.empty_like(block, dtype=wide.dtype)
            scales.apply(wide.view(exchange.ranks, -1))
            scatter_reduced(exchange, mine, wide, blocks, scales.coding, operator)
            scales.remove(mine)
            block.copy_(mine)
        squares = _sums.total_of(exchange.numbers(*_sums.sums_of_squares(block, sizes).tolist()))
        if all(map(math.isfinite, squares)):
            for i, (square, size) in enumerate(zip(squares, sizes)):
                known[i] = square / max(exchange.ranks * size, 1) or known[i]


def _parameters_of(module: FSDPModule) -> Sequence[int]:
    """Returns the sizes of the padded shards of a module's own parameters."""
    group = module._get_fsdp_state()._fsdp_param_group
    return [parameter._sharded_param_data.numel() for parameter in group.fsdp_params] if group is not None else []


class PolicyAllGather(AllGather):
    """All-gather of one module's parameters under a policy."""

    def __init__(self, policy: Union[str, Policy]) -> None:
        self._policy = policy

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, async_op: bool = False
    ) -> Optional[Work]:
        return all_gather(output_tensor, input_tensor, self._policy, group, async_op)


def compress_sharded_gradients(
    model: torch.nn.Module, bound: float = 0.05, parameters: Union[str, Policy] = "lossless"
) -> None:
    """Compresses the communication of a model to which FSDP2's ``fully_shard`` was applied. Collective.

    Parameters
    ----------
    model
        The model; all modules in it that are sharded are changed.
    bound
        Bound of each reduced gradient, in units of the RMS of the gradients of its parameter in the last backward pass in which
        these were not all zero. The first pass is uncompressed. There is no error feedback, which would need memory of the size of all gradients.
    parameters
        Policy of the all-gather of parameters. Every rank gets the same bits.

    Notes
    -----
    FSDP2 is told to add gradients by plain sums and to scale them itself (``set_force_sum_reduction_for_comms``), because
    Taut has no sum of scaled values, by which ``set_gradient_divide_factor`` works otherwise.
    """
    if not (isinstance(bound, (int, float)) and 0 < bound < math.inf):
        raise ArgumentError(f"bound={bound!r} is no positive number: give a part of the gradients' RMS, such as 0.05")
    sharded = [module for module in model.modules() if isinstance(module, FSDPModule)]
    if not sharded:
        raise ArgumentError("model has no sharded module: call torch.distributed.fsdp.fully_shard first")
    for module in sharded:
        module.set_force_sum_reduction_for_comms(True)
        module.set_custom_reduce_scatter(BoundedReduceScatter(float(bound), partial(_parameters_of, module)))
        module.set_custom_all_gather(PolicyAllGather(parameters))

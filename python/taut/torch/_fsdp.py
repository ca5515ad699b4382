"""Communication of FSDP2: reduce-scatter of gradients within a relative bound, all-gather of parameters under a policy."""

import math
from typing import Any, Optional, Union

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter

from .._errors import ArgumentError
from .._policy import Policy
from . import _frames, _sums
from ._collectives import all_gather, operator_of, scatter_reduced
from ._exchange import Exchange, exchange_of
from ._work import Work


class BoundedReduceScatter(ReduceScatter):
    """Reduce-scatter of one module's gradients, within `bound` times the RMS of the reduced gradients of the call before."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._mean_square = 0.0  # of the last reduced gradients, the same number on every rank

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False
    ) -> Optional[Work]:
        block, values = _frames.values_of(output_tensor, "output_tensor"), _frames.values_of(input_tensor, "input_tensor")
        operator, exchange = operator_of(op), exchange_of(group, values.device)

        def action() -> torch.Tensor:
            scatter_reduced(exchange, block, values, [block.numel()] * exchange.ranks, self._policy(), operator)
            self._remember(exchange, block)
            return output_tensor

        work = exchange.submit("Reduce_scatter", action, [block, values])
        if async_op:
            return work
        work.wait()
        return None

    def _policy(self) -> str:
        if self._mean_square == 0:
            return "off"
        return f"abs:{self._bound * math.sqrt(self._mean_square)!r},codec=planes,predictor=none"

    def _remember(self, exchange: Exchange, block: torch.Tensor) -> None:
        squares = float(exchange.numbers(_sums.sum_of_squares(block)).sum())
        if math.isfinite(squares):
            self._mean_square = squares / max(exchange.ranks * block.numel(), 1)


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
        Bound of each reduced gradient, in units of the RMS of the gradients of its module in the backward pass before. The
        first pass is uncompressed. There is no error feedback, which would need memory of the size of all gradients.
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
        module.set_custom_reduce_scatter(BoundedReduceScatter(float(bound)))
        module.set_custom_all_gather(PolicyAllGather(parameters))

"""Hook for DistributedDataParallel: gradients are averaged within a bound relative to the size of each parameter's."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import Any, Optional

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from .._errors import ArgumentError, DTypeError
from . import _sums
from ._exchange import Exchange, exchange_of, is_mpi
from ._scales import Scales, scales_of
from ._statistics import Table

_LEAST_BYTES = 1 << 16  # smaller buckets travel uncompressed
_WIDE = (torch.float32, torch.float64)
_LEAST_BOUND_UNSPLIT = 2.0**-5  # below, frames take more than a quarter of the memory of the values
_MOST_PIECES, _LEAST_PIECE_BYTES = 8, 1 << 20


@dataclass
class _Bucket:
    """State of one bucket of gradients on one rank, from one step to the next. Its numbers are those of a loss that is not scaled."""

    names: tuple[str, ...]
    sizes: list[int]  # number of values of each parameter
    residual: torch.Tensor  # what the coding of this rank's gradients has lost; empty without error feedback
    mean_squares: list[float]  # of each parameter's last averaged gradients that are not all zero; 0: not known yet


class GradientState:
    """State of `gradient_hook` on one rank.

    Parameters
    ----------
    parameters
        Names and parameters, as ``model.named_parameters()`` returns them.
    bound
        Bound of each averaged gradient, in units of the root mean square (RMS) of its parameter's gradients in the last step in
        which these were not all zero.
    group
        As for `all_reduce`.
    warm_up_steps
        Steps at the beginning in which gradients travel uncompressed; at least 1, in which DDP arranges its buckets.
    error_feedback
        Add what the coding of a gradient loses to this rank's next gradient. Takes memory of the size of the gradients.
    relative_to
        ``"parameter"``, or ``"bucket"``: the RMS is that of all gradients in DDP's bucket.
    scaler
        The ``torch.amp.GradScaler`` that scales the loss, or an object with its ``get_scale``; the same scale on every rank.
        Bounds and residuals follow when it changes.
    """

    def __init__(
        self,
        parameters: Iterable[tuple[str, torch.nn.Parameter]],
        bound: float = 0.25,
        group: Any = None,
        warm_up_steps: int = 10,
        error_feedback: bool = True,
        relative_to: str = "parameter",
        scaler: Any = None,
    ) -> None:
        if not (isinstance(bound, (int, float)) and 0 < bound < math.inf):
            raise ArgumentError(f"bound={bound!r} is no positive number: give a part of the gradients' RMS, such as 0.25")
        if warm_up_steps < 1:
            raise ArgumentError(f"warm_up_steps={warm_up_steps}: give at least 1")
        if relative_to not in ("parameter", "bucket"):
            raise ArgumentError(f"relative_to={relative_to!r}: give 'parameter' or 'bucket'")
        if scaler is not None and not hasattr(scaler, "get_scale"):
            raise ArgumentError(f"scaler={scaler!r} has no get_scale: give a torch.amp.GradScaler")
        self.bound, self.warm_up_steps, self.error_feedback = float(bound), warm_up_steps, error_feedback
        self.relative_to, self.scaler = relative_to, scaler
        self.steps = 0
        self._group = group
        self._exchange: Optional[Exchange] = None
        self._buckets: dict[tuple[str, ...], _Bucket] = {}
        self._residuals: dict[str, torch.Tensor] = {}  # of parameters that are in no bucket yet
        self._mean_squares: dict[str, float] = {}  # likewise
        self._names = {id(parameter): name for name, parameter in parameters}
        self._infinite_step: Optional[int] = None  # the last step with gradients that are not finite
        self._scale_of_step = (-1, 1.0)  # a step, and the factor of its loss

    def __repr__(self) -> str:
        row = self.statistics().get(("gradients", "Allreduce"))
        sent = f", {row.value_bytes / 1e6:.3g} MB became {row.frame_bytes / 1e6:.3g} MB" if row and row.frame_bytes else ""
        return f"<GradientState: bound {self.bound:g} of the RMS of each {self.relative_to}, {self.steps} steps{sent}>"

    def statistics(self) -> Table:
        """Returns what this rank has coded; `report` logs it: ``taut.torch.report(writer, step, state)``."""
        rows = self._exchange.statistics if self._exchange is not None else {}
        return {("gradients", call): row for call, row in rows.items()}

    def exchange_for(self, device: torch.device) -> Exchange:
        """Returns the transport of frames of gradients on a device; the first call is collective."""
        if self._exchange is None:
            self._exchange = exchange_of(self._group, device)
        return self._exchange

    def state_dict(self) -> dict[str, Any]:
        """Returns the number of steps, and by parameter this rank's residuals and the mean squares. Every rank saves its own."""
        residuals, mean_squares = dict(self._residuals), dict(self._mean_squares)
        for bucket in self._buckets.values():
            residuals.update((name, part.clone()) for name, part in _parts(bucket))
            mean_squares.update(zip(bucket.names, bucket.mean_squares))
        if self._infinite_step is not None and self._infinite_step == self.steps - 1:
            residuals = {}  # the next step would drop them
        return {"steps": self.steps, "place": self._place(), "residuals": residuals, "mean_squares": mean_squares}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues from what `state_dict` returned; on all ranks, before the next step. Residuals of another rank, or of a group
        of another size, are left out."""
        self.steps = state["steps"]
        self._buckets.clear()
        self._residuals = dict(state["residuals"]) if state.get("place") == self._place() else {}
        self._mean_squares, self._infinite_step, self._scale_of_step = dict(state["mean_squares"]), None, (-1, 1.0)

    def _place(self) -> list[int]:
        """Returns rank and number of ranks."""
        if is_mpi(self._group):
            return [self._group.Get_rank(), self._group.Get_size()]
        return [dist.get_rank(self._group), dist.get_world_size(self._group)]

    def bucket_of(self, bucket: dist.GradBucket) -> _Bucket:
        """Returns what is remembered of a bucket."""
        parameters = bucket.parameters()
        names = tuple(self._names[id(parameter)] for parameter in parameters)
        if names not in self._buckets:
            self._forget_others(names)
            self._buckets[names] = self._new_bucket(names, parameters, bucket.buffer())
        return self._buckets[names]

    def _forget_others(self, names: Sequence[str]) -> None:
        """Dissolves buckets that share parameters with a new one: DDP has arranged its buckets anew."""
        shared = [key for key in self._buckets if not set(key).isdisjoint(names)]
        for key in shared:
            bucket = self._buckets.pop(key)
            self._residuals.update(_parts(bucket))
            self._mean_squares.update(zip(bucket.names, bucket.mean_squares))

    def _new_bucket(self, names: tuple[str, ...], parameters: Sequence[torch.Tensor], buffer: torch.Tensor) -> _Bucket:
        sizes = [parameter.numel() for parameter in parameters]
        wide = buffer.dtype if buffer.dtype in _WIDE else torch.float32
        residual = torch.zeros(buffer.numel() if self.error_feedback else 0, dtype=wide, device=buffer.device)
        made = _Bucket(names, sizes, residual, [self._mean_squares.pop(name, 0.0) for name in names])
        for name, part in _parts(made):
            if name in self._residuals:
                part.copy_(self._residuals.pop(name))
        return made

    def average(self, bucket: _Bucket, buffer: torch.Tensor, step: int) -> torch.Tensor:
        """Replaces gradients by their mean over the ranks; runs in the thread of the exchange."""
        values = buffer if buffer.dtype == bucket.residual.dtype else buffer.to(bucket.residual.dtype)
        loss_scale = self._loss_scale(step)
        if self._infinite_step == step - 1:
            bucket.residual.zero_()  # GradScaler has skipped that step: its gradients were not used
        if self.error_feedback:
            values.add_(bucket.residual, alpha=loss_scale)
        scales = self._scales_of(bucket, values, step, loss_scale)
        squares = self._sum_within(scales, bucket, values, loss_scale) if scales else self._plain_sum(bucket, values)
        if all(map(math.isfinite, squares)):
            self._remember(bucket, squares, loss_scale)
        else:
            bucket.residual.zero_()  # NaN and infinities must not come back in the next step
            self._infinite_step = step
        if values is not buffer:
            buffer.copy_(values)
        return buffer

    def _loss_scale(self, step: int) -> float:
        """Returns the factor of the loss, which is the same for all buckets of a step."""
        if self.scaler is not None and self._scale_of_step[0] != step:
            self._scale_of_step = (step, float(self.scaler.get_scale()))
        return self._scale_of_step[1]

    def _scales_of(self, bucket: _Bucket, values: torch.Tensor, step: int, loss_scale: float) -> Optional[Scales]:
        """Returns how the gradients of each parameter are coded; nothing: they travel uncompressed."""
        if step < self.warm_up_steps or _is_small(values):
            return None
        squares = bucket.mean_squares
        if self.relative_to == "bucket":
            total = sum(square * size for square, size in zip(squares, bucket.sizes))
            squares = [total / values.numel()] * len(squares)
        return scales_of(bucket.sizes, [square * loss_scale**2 for square in squares], self.bound)

    @staticmethod
    def _remember(bucket: _Bucket, squares: Sequence[float], loss_scale: float) -> None:
        for i, (square, size) in enumerate(zip(squares, bucket.sizes)):
            if square > 0:
                bucket.mean_squares[i] = square / size / loss_scale**2

    def _plain_sum(self, bucket: _Bucket, values: torch.Tensor) -> list[float]:
        """Averages uncompressed; returns the sum of squares of each parameter's gradients, or nothing for a small bucket."""
        bucket.residual.zero_()
        exchange = self.exchange_for(values.device)
        exchange.plain_reduction(values, "mean")
        return [] if _is_small(values) else _sums.agreed_squares(exchange, values, bucket.sizes)

    def _sum_within(self, scales: Scales, bucket: _Bucket, values: torch.Tensor, loss_scale: float) -> list[float]:
        """Averages in frames; returns the sum of squares of each parameter's gradients."""
        exchange = self.exchange_for(values.device)
        coding = _sums.Coding(scales.coding, adds=True, op="mean", bound=scales.bound)
        scales.apply(values)
        squares = [0.0] * len(bucket.sizes)
        for first, part in _pieces(values, self.bound):
            frames = _sums.encode_parts(exchange, _sums.blocks_of(part, exchange.ranks), coding)
            if self.error_feedback:
                residual = bucket.residual[first : first + part.numel()]
                for frame, block in zip(frames, _sums.blocks_of(residual, exchange.ranks)):
                    _sums.open_sum(frame, block, 1, coding)
                torch.sub(part, residual, out=residual)
            sizes = _sizes_within(bucket.sizes, first, part.numel())
            squares = list(map(add, squares, _sums.finish_sum(exchange, frames, part, coding, sizes)))
        if self.error_feedback:
            scales.remove(bucket.residual, loss_scale)
        scales.remove(values)
        return [square / factor**2 for square, factor in zip(squares, scales.factors)]


def _is_small(values: torch.Tensor) -> bool:
    return values.numel() * values.element_size() < _LEAST_BYTES


def _pieces(values: torch.Tensor, bound: float) -> Iterator[tuple[int, torch.Tensor]]:
    """Yields pieces of a row, each with the index of its first value. Only one piece at a time has frames
    in memory: together they take at most the memory of the row."""
    whole = bound >= _LEAST_BOUND_UNSPLIT
    number = 1 if whole else min(_MOST_PIECES, -(-values.nbytes // _LEAST_PIECE_BYTES))
    size = -(-values.numel() // number)
    for first in range(0, values.numel(), size):
        yield first, values[first : first + size]


def _sizes_within(sizes: Sequence[int], first: int, count: int) -> list[int]:
    """Returns how many values of each parameter are among `count` values from `first` on."""
    ends = list(accumulate(sizes))
    return [max(0, min(end, first + count) - max(end - size, first)) for size, end in zip(sizes, ends)]


def _parts(bucket: _Bucket) -> list[tuple[str, torch.Tensor]]:
    """Returns the residual of each parameter of a bucket."""
    return list(zip(bucket.names, bucket.residual.split(bucket.sizes))) if bucket.residual.numel() else []


def gradient_hook(state: GradientState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Communication hook of DDP: ``model.register_comm_hook(state, gradient_hook)``."""
    remembered, buffer, step = state.bucket_of(bucket), bucket.buffer(), state.steps
    if bucket.is_last():
        state.steps += 1
    exchange = state.exchange_for(buffer.device)
    return exchange.submit("Allreduce", lambda: state.average(remembered, buffer, step), [buffer]).get_future()


def compress_gradients(model: DistributedDataParallel, bound: float = 0.25, **options: Any) -> GradientState:
    """Registers `gradient_hook` for a DDP model; returns its state, for checkpoints. Collective.

    Every averaged gradient differs from the exact mean of the values that the ranks code (gradients plus residuals) by at
    most `bound` times the RMS of its parameter's gradients in the step before. All ranks get the same bits. `options` are those
    of `GradientState`.

    Examples
    --------
    >>> model = DistributedDataParallel(network)                             # doctest: +SKIP
    >>> state = taut.torch.compress_gradients(model, bound=0.25)             # doctest: +SKIP
    >>> torch.save({"model": model.module.state_dict(), "taut": state.state_dict()}, f"rank{rank}.pt")  # doctest: +SKIP
    """
    if not isinstance(model, DistributedDataParallel):
        raise DTypeError(f"model is a {type(model).__name__}: wrap it by torch.nn.parallel.DistributedDataParallel first")
    options.setdefault("group", model.process_group)
    state = GradientState(model.module.named_parameters(), bound, **options)
    state.exchange_for(next(model.module.parameters()).device)  # collective: made now rather than within the first backward pass
    model.register_comm_hook(state, gradient_hook)
    return state

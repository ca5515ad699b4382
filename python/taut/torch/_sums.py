"""Reductions over the ranks, in two rounds of frames: each rank reduces one block, then sends the result to all ranks."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from . import _frames
from ._exchange import Exchange

_WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_EXTREMES = {"min": torch.minimum, "max": torch.maximum}


@dataclass(frozen=True)
class Coding:
    """Coding of each rank's values in a reduction, the same on every rank."""

    text: str
    adds: bool  # frames are added; else they are decoded, and the reduced values are encoded again
    op: str  # "sum", "mean", "min" or "max"
    bound: float  # of the result, in absolute terms; 0 if there is none
    wide: bool = False  # the policy has ``sum=wide``

    @property
    def mean(self) -> bool:
        return self.op == "mean"

    @property
    def exact(self) -> bool:
        """True if sums of values are encoded without loss."""
        return not self.adds and self.text.startswith("lossless")

    def type_of_sums(self, values: torch.Tensor) -> torch.dtype:
        """Returns the type in which values are added."""
        return _WIDER.get(values.dtype, wide_type(values)) if self.wide else wide_type(values)


def wide_type(values: torch.Tensor) -> torch.dtype:
    """Returns the type in which values are added without ``sum=wide``."""
    return torch.float32 if values.dtype in (torch.float16, torch.bfloat16) else values.dtype


def blocks_of(values: torch.Tensor, ranks: int) -> list[torch.Tensor]:
    """Returns one block of nearly equal size for each rank; the last blocks may be empty."""
    size = -(-values.numel() // ranks)
    size += -size % 8  # whole groups of the codecs
    return [values[rank * size : (rank + 1) * size] for rank in range(ranks)]


def encode_parts(exchange: Exchange, parts: Iterable[torch.Tensor], coding: Coding) -> list[torch.Tensor]:
    return [exchange.encode(part, coding.text, coding.bound) for part in parts]


def combine(exchange: Exchange, frames: list[torch.Tensor], block: torch.Tensor, coding: Coding) -> torch.Tensor:
    """Writes the reduction of frames into `block`, and returns its frame: that of the sum for a mean."""
    if coding.adds:
        total = _frames.add(frames, block)
    else:
        reduced = _reduced(frames, block, coding)
        if coding.mean and coding.exact:
            reduced /= len(frames)
        total = exchange.encode(reduced.to(block.dtype), coding.text, coding.bound)
    open_sum(total, block, len(frames), coding)
    return total


def _reduced(frames: list[torch.Tensor], block: torch.Tensor, coding: Coding) -> torch.Tensor:
    """Returns the reduction of the values in frames, like those of `block`, in the type in which they are added."""
    part = torch.empty_like(block)
    _frames.decode(frames[0], part)
    total = part.to(coding.type_of_sums(block), copy=True)
    for frame in frames[1:]:
        _frames.decode(frame, part)
        combined = _EXTREMES.get(coding.op, torch.add)
        total = combined(total, part)
    return total


def open_sum(frame: torch.Tensor, block: torch.Tensor, addends: int, coding: Coding) -> None:
    """Decodes the frame of a sum into `block`, and divides the sum for a mean. The frame of an exact coding holds the mean."""
    _frames.decode(frame, block)
    if coding.mean and not coding.exact:
        block /= addends


def finish_sum(exchange: Exchange, frames: list[torch.Tensor], values: torch.Tensor, coding: Coding) -> float:
    """Replaces `values` by the reduction of all ranks' frames; returns its mean square, the same number on every rank."""
    blocks = blocks_of(values, exchange.ranks)
    mine = blocks[exchange.rank]
    total = combine(exchange, exchange.swap(frames), mine, coding)
    note = torch.tensor([sum_of_squares(mine)], dtype=torch.float64, device=exchange.device).view(torch.uint8)
    squares = 0.0
    for rank, message in enumerate(exchange.spread(torch.cat([note, total]))):
        squares += message[:8].clone().view(torch.float64).item()
        if rank != exchange.rank:
            open_sum(message[8:], blocks[rank], exchange.ranks, coding)
    return squares / max(values.numel(), 1)


def sum_of_squares(values: torch.Tensor) -> float:
    parts = torch.view_as_real(values) if values.is_complex() else values
    return float(torch.linalg.vector_norm(parts, dtype=torch.float64)) ** 2


def agreed_mean_square(exchange: Exchange, values: torch.Tensor) -> float:
    """Returns the mean square of values that are the same on every rank, as one number for all ranks."""
    mine = blocks_of(values, exchange.ranks)[exchange.rank]
    return sum(exchange.numbers(sum_of_squares(mine)).tolist()) / max(values.numel(), 1)

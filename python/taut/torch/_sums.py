"""Sums over the ranks, in two rounds of frames: each rank adds up one block, then sends the sum to all ranks."""

from dataclasses import dataclass

import torch

from . import _frames
from ._exchange import Exchange


@dataclass(frozen=True)
class Coding:
    """Coding of each rank's values in a sum, the same on every rank."""

    text: str
    adds: bool  # frames are added; else they are decoded, and the sum of the values is encoded again
    mean: bool  # the sum is divided by the number of ranks

    @property
    def exact(self) -> bool:
        """True if sums of values are encoded without loss."""
        return not self.adds and self.text.startswith("lossless")


def wide_type(values: torch.Tensor) -> torch.dtype:
    """Returns the type in which values are added."""
    return torch.float32 if values.dtype in (torch.float16, torch.bfloat16) else values.dtype


def blocks_of(values: torch.Tensor, ranks: int) -> list[torch.Tensor]:
    """Returns one block of nearly equal size for each rank; the last blocks may be empty."""
    size = -(-values.numel() // ranks)
    size += -size % 8  # whole groups of the codecs
    return [values[rank * size : (rank + 1) * size] for rank in range(ranks)]


def encode_blocks(exchange: Exchange, values: torch.Tensor, coding: Coding) -> list[torch.Tensor]:
    return [_frames.encode(block, coding.text, exchange.device) for block in blocks_of(values, exchange.ranks)]


def combine(frames: list[torch.Tensor], block: torch.Tensor, coding: Coding) -> torch.Tensor:
    """Writes the sum of frames, or the mean, into `block`, and returns the frame of the sum."""
    if coding.adds:
        total = _frames.add(frames, block)
    else:
        part, sum_of_values = torch.empty_like(block), torch.zeros_like(block, dtype=wide_type(block))
        for frame in frames:
            _frames.decode(frame, part)
            sum_of_values += part
        if coding.mean and coding.exact:
            sum_of_values /= len(frames)
        total = _frames.encode(sum_of_values.to(block.dtype), coding.text, frames[0].device)
    open_sum(total, block, len(frames), coding)
    return total


def open_sum(frame: torch.Tensor, block: torch.Tensor, addends: int, coding: Coding) -> None:
    """Decodes the frame of a sum into `block`, and divides the sum for a mean. The frame of an exact coding holds the mean."""
    _frames.decode(frame, block)
    if coding.mean and not coding.exact:
        block /= addends


def finish_sum(exchange: Exchange, frames: list[torch.Tensor], values: torch.Tensor, coding: Coding) -> float:
    """Replaces `values` by the sum of all ranks' frames; returns its mean square, the same number on every rank."""
    blocks = blocks_of(values, exchange.ranks)
    mine = blocks[exchange.rank]
    total = combine(exchange.swap(frames), mine, coding)
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

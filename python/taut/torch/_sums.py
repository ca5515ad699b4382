"""Reductions over the ranks, in two rounds of frames: each rank reduces one block, then sends the result to all ranks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch

from . import _frames
from ._exchange import Exchange
from ._slots import Slots

_WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}
_NORM_VALUES = 1 << 17  # converted to float64 at a time
_EXTREMES = {"min": torch.minimum, "max": torch.maximum}


@dataclass(frozen=True)
class Coding:
    """Coding of each rank's values in a reduction, the same on every rank."""

    text: str
    adds: bool  # frames are added; else they are decoded, and the reduced values are encoded again
    op: str  # "sum", "mean", "min" or "max"
    bound: float  # of the result, in absolute terms; 0 if there is none
    wide: bool = False  # the policy has ``sum=wide``
    slots: float = 0.0  # ratio of values to slots; 0: sizes are exact

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
    """Writes the reduction of frames into `block`, and returns its frame: that of the sum for a mean.

    The sum of frames that hold their values exactly may be longer than the values, which then travel uncompressed."""
    if coding.adds and 4 * sum(frame.numel() for frame in frames) <= 3 * len(frames) * block.nbytes:
        total = _frames.add(frames, block)
        if total.numel() > block.nbytes:
            _frames.decode(total, block)
            total = _frames.encode(block, _frames.STORED, exchange.device)
    elif coding.adds:
        exactly = replace(coding, wide=True)  # the bound is that of float32 itself
        total = _frames.encode(_reduced(frames, block, exactly).to(block.dtype), _frames.STORED, exchange.device)
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
        _EXTREMES.get(coding.op, torch.add)(total, part, out=total)
    return total


def open_sum(frame: torch.Tensor, block: torch.Tensor, addends: int, coding: Coding) -> None:
    """Decodes the frame of a sum into `block`, and divides the sum for a mean. The frame of an exact coding holds the mean."""
    _frames.decode(frame, block)
    if coding.mean and not coding.exact:
        block /= addends


def finish_sum(
    exchange: Exchange, frames: list[torch.Tensor], values: torch.Tensor, coding: Coding, sizes: Sequence[int] = ()
) -> list[float]:
    """Replaces `values` by the reduction of all ranks' frames, and empties their list. Returns the sums of squares of its parts
    of these sizes, the same numbers on every rank; they travel with the frames."""
    blocks = blocks_of(values, exchange.ranks)
    mine = blocks[exchange.rank]
    theirs, own = [block.nbytes for block in blocks], [mine.nbytes] * exchange.ranks
    received = exchange.swap(frames, Slots.of(coding.slots, theirs, own))
    total = combine(exchange, received, mine, coding)
    note = _squares_of_block(exchange, blocks, sizes).to(exchange.device).view(torch.uint8)
    notes = []
    slots = Slots.of(coding.slots, own, theirs, note.numel())
    for rank, message in enumerate(exchange.spread(torch.cat([note, total]), slots)):
        notes.append(message[: note.numel()].clone().view(torch.float64))
        if rank != exchange.rank:
            open_sum(message[note.numel() :], blocks[rank], exchange.ranks, coding)
    return total_of(notes)


def agreed_squares(exchange: Exchange, values: torch.Tensor, sizes: Sequence[int]) -> list[float]:
    """Returns the sums of squares of the parts of values that are the same on every rank, as the same numbers on every rank."""
    mine = _squares_of_block(exchange, blocks_of(values, exchange.ranks), sizes)
    return total_of(exchange.numbers(*mine.tolist()))


def _squares_of_block(exchange: Exchange, blocks: Sequence[torch.Tensor], sizes: Sequence[int]) -> torch.Tensor:
    """Returns for each part the sum of the squares that are in this rank's block."""
    first = sum(block.numel() for block in blocks[: exchange.rank])
    return sums_of_squares(blocks[exchange.rank], sizes, first)


def total_of(rows: Iterable[torch.Tensor]) -> list[float]:
    """Returns the sum of the ranks' rows, added in the order of the ranks."""
    first, *others = rows
    return sum(others, start=first).tolist()


def sums_of_squares(values: torch.Tensor, sizes: Sequence[int], first: int = 0) -> torch.Tensor:
    """Returns the sum of squares of each part of a row, as far as it is in `values`, the row's values from `first` on."""
    squares, begin = torch.zeros(len(sizes), dtype=torch.float64, device=values.device), -first
    for i, size in enumerate(sizes):
        part = values[max(begin, 0) : max(begin + size, 0)]
        for piece in part.split(_NORM_VALUES) if part.numel() > 0 else ():
            squares[i] += torch.linalg.vector_norm(piece, dtype=torch.float64) ** 2
        begin += size
    return squares

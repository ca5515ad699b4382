"""Pieces: parts of a list of tensors that are coded one by one, each by the rank that owns its values.

Large tensors are cut, small ones share a piece. All ranks cut alike: only names, shapes, types, owners and ties count.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Union

import torch

from .._errors import ArgumentError, DTypeError
from . import _frames

Tensors = Union[torch.nn.Module, torch.Tensor, Mapping[str, torch.Tensor], Iterable[torch.Tensor]]

PIECE_BYTES = 4 << 20
SHARED_BYTES = 256 << 10  # tensors below this size share pieces


@dataclass(frozen=True)
class Span:
    """Values first to last of row `row`, the last one excluded."""

    row: int
    first: int
    last: int


@dataclass
class Piece:
    """Values of one type and one owner."""

    owner: int
    dtype: torch.dtype
    spans: list[Span] = field(default_factory=list)
    count: int = 0

    def add(self, span: Span) -> None:
        self.spans.append(span)
        self.count += span.last - span.first

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize

    def read(self, rows: Sequence[torch.Tensor]) -> torch.Tensor:
        """Returns the values in host memory: the row itself, or a copy."""
        parts = [rows[span.row][span.first : span.last].cpu() for span in self.spans]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def write(self, rows: Sequence[torch.Tensor], values: torch.Tensor) -> None:
        """Writes values that `read` returned back to the rows."""
        if len(self.spans) == 1 and rows[self.spans[0].row].device.type == "cpu":
            return
        parts = values.split([span.last - span.first for span in self.spans])
        for span, part in zip(self.spans, parts):
            rows[span.row][span.first : span.last].copy_(part)


class Rows:
    """The distinct tensors of an argument as rows of values, contiguous, of types that frames hold. `name`: of the argument."""

    def __init__(self, tensors: Tensors, name: str) -> None:
        named = named_tensors(tensors, name)
        firsts: dict[tuple[Any, ...], int] = {}
        self.ties: list[int] = []  # for each tensor: the number of its row
        self.tensors: list[torch.Tensor] = []
        for label, tensor in named:
            check(tensor, label)
            tensor = tensor.detach()
            number = firsts.setdefault(_place(tensor, len(self.ties)), len(self.tensors))
            self.ties.append(number)
            if number == len(self.tensors):
                self.tensors.append(tensor)
        self.rows = [_frames.movable(_row(tensor)) for tensor in self.tensors]
        facts = [(label, tuple(tensor.shape), str(tensor.dtype)) for label, tensor in named]
        self.layout = repr((facts, self.ties))

    @property
    def nbytes(self) -> int:
        return sum(row.nbytes for row in self.rows)

    def finish(self, written: Sequence[bool]) -> None:
        """Writes rows that were written, and are copies, back to their tensors, and tells autograd of the change."""
        for tensor, row in compress(zip(self.tensors, self.rows), written):
            if tensor.numel() > 0 and tensor.data_ptr() != row.data_ptr():
                tensor.copy_(row.view(tensor.dtype).view(tensor.shape))
            if not tensor.is_inference():
                torch.autograd.graph.increment_version(tensor)


def named_tensors(tensors: Tensors, name: str) -> list[tuple[str, torch.Tensor]]:
    """Returns the tensors of an argument with their names, in its order."""
    if isinstance(tensors, torch.nn.Module):
        tensors = tensors.state_dict(keep_vars=True)
    if isinstance(tensors, torch.Tensor):
        return [(name, tensors)]
    if isinstance(tensors, Mapping):
        return [(f"{name}[{key!r}]", tensor) for key, tensor in tensors.items()]
    return [(f"{name}[{i}]", tensor) for i, tensor in enumerate(tensors)]


def check(tensor: Any, name: str) -> None:
    """Raises if a tensor's values cannot be reached."""
    if not isinstance(tensor, torch.Tensor):
        raise DTypeError(f"{name} is no tensor: {type(tensor).__name__}")
    if hasattr(tensor, "full_tensor"):
        raise ArgumentError(f"{name} is a DTensor, of which each rank has a part: pass {name}.full_tensor(), or to_local() of it")
    if tensor.is_quantized or tensor.layout != torch.strided:
        raise DTypeError(f"{name} is of type {tensor.dtype} with layout {tensor.layout}: pass its parts, which are dense tensors")
    if tensor.device.type not in ("cpu", "cuda"):
        raise ArgumentError(f"{name} is on device {tensor.device}; taut.torch serves tensors on CPUs and CUDA: pass {name}.cpu()")


def _place(tensor: torch.Tensor, number: int) -> tuple[Any, ...]:
    """Returns what tied tensors have in common: their memory. Tensors without values are never tied."""
    if tensor.numel() == 0:
        return (number,)
    return (tensor.device, tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _row(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the values of a tensor as one row: its own memory, or a copy if its values lie apart."""
    return tensor.resolve_conj().resolve_neg().contiguous().view(-1)


def cut(rows: Sequence[torch.Tensor], owners: Sequence[int]) -> list[Piece]:
    """Returns the pieces of rows, given the owner of each row."""
    pieces: list[Piece] = []
    shared: dict[tuple[int, torch.dtype], Piece] = {}
    for i, (row, owner) in enumerate(zip(rows, owners)):
        count = row.numel()
        if row.nbytes >= SHARED_BYTES:
            step = PIECE_BYTES // row.dtype.itemsize
            for first in range(0, count, step):
                piece = Piece(owner, row.dtype)
                piece.add(Span(i, first, min(first + step, count)))
                pieces.append(piece)
        elif count > 0:
            key = (owner, row.dtype)
            if key not in shared or shared[key].nbytes >= PIECE_BYTES:
                shared[key] = Piece(owner, row.dtype)
                pieces.append(shared[key])
            shared[key].add(Span(i, 0, count))
    return pieces


def fingerprint(facts: str) -> int:
    """Returns a number of 52 bits, which float64 holds exactly, for facts that all ranks have to share."""
    return int.from_bytes(hashlib.blake2b(facts.encode(), digest_size=8).digest(), "little") >> 12

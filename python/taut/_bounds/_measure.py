"""Second pass over the values: each piece is coded under each bound, and its errors are added up."""

from dataclasses import dataclass, field
from math import log10
from typing import Any, Callable, Optional

import numpy as np

from .. import _core
from .._arrays import address_of
from .._dtypes import coded_number
from .._errors import FrameError
from ._detail import Detail, Quantity
from ._source import Source
from ._survey import Survey, bad_values, boxed, most_in_box, reals

STEP = 1 << 17  # values whose differences stay in the cache


@dataclass
class Measured:
    """A bound with what it does to the values."""

    bound: str
    text: str  # of the frames: the bound without reference to a range
    limit: Optional[float]  # greatest error that it allows; None if this depends on the value
    value_bytes: int = 0
    frame_bytes: int = 0
    greatest: float = 0.0
    total: float = 0.0  # of the errors
    squares: float = 0.0
    counted: int = 0
    unit: float = 1.0
    searched: bool = False  # measured to answer an inverse question
    detail: Detail = field(default_factory=lambda: Detail(1.0))

    @property
    def ratio(self) -> float:
        return self.value_bytes / self.frame_bytes if self.frame_bytes else 1.0

    @property
    def mean(self) -> float:
        return self.total / self.counted if self.counted else 0.0

    @property
    def rms(self) -> float:
        return float((self.squares / self.counted) ** 0.5) if self.counted else 0.0

    def psnr(self, range_of_values: float) -> Optional[float]:
        return 20 * log10(range_of_values / self.rms) if self.rms > 0 and range_of_values > 0 else None

    def bits(self, itemsize: int) -> float:
        return 8 * itemsize / self.ratio


def resolved(bound: str, survey: Survey, dtype: "np.dtype[Any]") -> tuple[str, Optional[float]]:
    """Returns the coding of frames under a bound for the range of all values, and the greatest error that it allows."""
    _core.check_coding(bound)
    edges = np.array([survey.least or 0.0, survey.greatest or 0.0]).astype(dtype)
    text, _ = _core.frame_text(bound, address_of(edges), 2, coded_number(dtype))
    kind, _, value = text.split(",")[0].partition(":")
    return text, float(value) if kind in ("abs", "snap") else 0.0 if kind == "lossless" else None


def coded(piece: Any, text: str) -> "np.ndarray[Any, Any]":
    """Returns the frame of a piece."""
    return np.frombuffer(_core.encode(address_of(piece), list(piece.shape) or [1], coded_number(piece.dtype), text), np.uint8)


def decoded_from(frame: Any, piece: Any) -> Any:
    out = np.empty_like(piece)
    _core.decode(address_of(frame), frame.nbytes, address_of(out), piece.size, coded_number(piece.dtype))
    return out


def unit_of(limit: Optional[float], survey: Survey) -> float:
    """Returns a power of two near the errors, by which they are divided so that their squares are numbers of float32."""
    near = limit or survey.range * 1e-4 or 1.0
    return float(2.0 ** np.clip(np.round(np.log2(near)), -100, 100))


def add_errors(to: Measured, original: Any, decoded: Any, bad: Any) -> None:
    """Adds the errors of flat arrays of real numbers."""
    error = np.empty(min(STEP, original.size), original.dtype)
    for first in range(0, original.size, STEP):
        part = slice(first, first + STEP)
        values, back = original[part], decoded[part]
        one = error[: values.size]
        np.subtract(back, values, out=one)
        if bad is not None:
            one[bad[part]] = 0
        np.multiply(one, one.dtype.type(1 / to.unit), out=one)
        at = int(one.argmax() if one.max() >= -one.min() else one.argmin())
        if abs(float(one[at])) * to.unit >= to.greatest * (1 - 1e-6):
            to.greatest = max(to.greatest, abs(float(back[at]) - float(values[at])) if one[at] else 0.0)
        to.total += float(one.sum()) * to.unit
        to.squares += float(np.dot(one, one)) * to.unit**2
    to.counted += original.size - (0 if bad is None else int(np.count_nonzero(bad)))


class Sweep:
    """The bounds that are compared."""

    def __init__(self, bounds: list[str], survey: Survey, source: Source, quantities: dict[str, Quantity]) -> None:
        self.survey, self.most = survey, most_in_box(source)
        self.rows: list[Measured] = []
        for bound in bounds:
            text, limit = resolved(bound, survey, source.dtype)
            row = Measured(bound, text, limit, unit=unit_of(limit, survey))
            row.detail = Detail(limit or 0.0, survey.range, quantities)
            self.rows.append(row)
        self.number = 0

    def add(self, piece: Any) -> None:
        original = reals(piece)
        exact = piece.dtype.kind in "iu"
        bad = None if exact else bad_values(original, self.survey.fills)
        box = boxed(piece, self.most) if self.number in self.survey.sampled else None
        for row in self.rows:
            frame = coded(piece, row.text)
            back = decoded_from(frame, piece)
            row.value_bytes += piece.nbytes
            row.frame_bytes += frame.nbytes
            if exact or row.limit == 0:
                if not np.array_equal(piece.reshape(-1).view(np.uint8), back.reshape(-1).view(np.uint8)):
                    raise FrameError(f"{row.bound}: the values came back changed; please report this")
                row.counted += original.size - (0 if bad is None else int(np.count_nonzero(bad)))
            else:
                with np.errstate(invalid="ignore", over="ignore"):
                    add_errors(row, original, reals(back), bad)
            if box is not None and not exact:
                mask = None if bad is None or piece.dtype.kind == "c" else bad.reshape(piece.shape)[box]
                row.detail.add(piece[box], back[box], mask)
        self.number += 1


def sweep(source: Source, survey: Survey, bounds: list[str], quantities: dict[str, Quantity],
          progress: Callable[[int], None] = lambda _: None) -> list[Measured]:  # fmt: skip
    """Reads all values once more, and returns a row for each bound."""
    of_all = Sweep(bounds, survey, source, quantities)
    for piece in source.pieces():
        of_all.add(piece)
        progress(piece.nbytes)
    return of_all.rows

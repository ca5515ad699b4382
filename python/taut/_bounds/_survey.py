"""First pass over the values: range, NaN, missing values, grid, noise, and a sample for what is not measured on all values."""

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import numpy as np

from ._source import Source

WHOLE, BOX_VALUES, BOXES = 1 << 21, 1 << 19, 8  # values of arrays that are looked at as a whole, and of sampled boxes
LOOKED_AT = 1 << 16  # values in which a grid is looked for
MARKERS = (-99.0, -999.0, -9999.0, -99999.0, 9999.0, 99999.0, -32768.0, 32767.0)
FAR = 10  # a marker lies this many ranges of the others away from them

Array = "np.ndarray[Any, Any]"


def reals(values: Array) -> Array:
    """Returns the real numbers of an array, flat: parts of complex numbers, and 16-bit floats as float32."""
    flat = values.reshape(-1)
    if flat.dtype.kind == "c":
        return flat.view(flat.real.dtype)
    return flat.astype(np.float32) if flat.dtype.itemsize == 2 and flat.dtype.kind not in "iu" else flat


@dataclass
class Survey:
    """Facts about all values, and the sampled boxes."""

    count: int = 0  # of real numbers
    nan: int = 0
    infinite: int = 0
    least: Optional[float] = None  # of the finite values that are not missing
    greatest: Optional[float] = None
    fills: dict[float, int] = field(default_factory=dict)
    boxes: list[Array] = field(default_factory=list)
    sampled: frozenset[int] = frozenset()  # numbers of the pieces that have a box
    grid: Optional[float] = None
    noise: Optional[float] = None
    precision: Optional[str] = None  # the narrower type that holds the values
    different: Optional[int] = None  # values in the sample, if they are few
    magnitude: float = 0.0  # mean of the sampled absolute values
    typical: float = 0.0  # median of the sampled absolute values other than 0

    @property
    def range(self) -> float:
        return 0.0 if self.least is None or self.greatest is None else self.greatest - self.least


def most_in_box(source: Source) -> int:
    """Returns the most values of a sampled box."""
    return WHOLE if source.count <= WHOLE else BOX_VALUES


def fill_text(fill: float, dtype: Any) -> str:
    """Returns the shortest text of a missing value in its type."""
    kind = np.dtype(dtype)
    return str(kind.type(fill) if kind.kind == "f" and kind.itemsize > 2 else np.float64(fill))


def boxed(piece: Array, most: int) -> tuple[Any, ...]:
    """Returns the selection of the middle of a piece, of at most so many values."""
    selection: list[Any] = []
    size = piece.size
    for extent in piece.shape:
        if size <= most:
            break
        row = size // extent
        kept = max(1, most // row)
        first = (extent - kept) // 2
        selection.append(slice(first, first + kept) if row <= most else first)
        size = row * kept if row <= most else row
    return tuple(selection)


def bad_values(values: Array, fills: Any) -> Optional[Array]:
    """Returns a mask of NaN, infinities and missing values; None if there is none."""
    if values.dtype.kind in "iu":
        bad = np.zeros(values.shape, bool)
    else:
        bad = np.logical_not(np.isfinite(values))
    for fill in fills:
        bad |= values == values.dtype.type(fill)
    return bad if bad.any() else None


class Surveyor:
    """Collects a survey from pieces."""

    def __init__(self, source: Source) -> None:
        self.survey = Survey(fills=dict.fromkeys(source.fills, 0))
        self.extremes: list[tuple[float, float]] = []
        self.most = most_in_box(source)
        self.whole = source.count <= WHOLE
        pieces = max(1, source.nbytes // (1 << 24))
        self.every = max(1, pieces // BOXES)
        self.number = 0

    def add(self, piece: Array) -> None:
        survey, values = self.survey, reals(piece)
        survey.count += values.size
        good = values
        if values.dtype.kind not in "iu" and not np.isfinite(values.min() + values.max()):
            nan = int(np.count_nonzero(np.isnan(values)))
            good = values[np.isfinite(values)]
            survey.nan += nan
            survey.infinite += values.size - good.size - nan
        for fill in survey.fills:
            there = good == good.dtype.type(fill)
            if there.any():
                survey.fills[fill] += int(np.count_nonzero(there))
                good = good[~there]
        good = self._without_markers(good)
        if good.size:
            self.extremes.append((float(good.min()), float(good.max())))
        if self.whole or (self.number % self.every == 0 and len(survey.boxes) < BOXES):
            survey.boxes.append(piece[boxed(piece, self.most)].copy())
            survey.sampled |= {self.number}
        self.number += 1

    def _without_markers(self, good: Array) -> Array:
        """Returns the values without those that look like markers of missing values, and notes these."""
        while good.size > 2:
            least, greatest = good.min(), good.max()
            marker = next((one for one in (greatest, least) if _is_marker(good, one)), None)
            if marker is None:
                break
            there = good == marker
            self.survey.fills[float(marker)] = int(np.count_nonzero(there))
            good = good[~there]
        return good

    def done(self) -> Survey:
        survey = self.survey
        kept = [pair for pair in self.extremes if not (pair[0] == pair[1] and pair[0] in survey.fills)]
        edges = [one for pair in kept for one in pair if one not in survey.fills]
        survey.fills = {fill: count for fill, count in survey.fills.items() if count}
        if edges:
            survey.least, survey.greatest = min(edges), max(edges)
        first = survey.boxes[0] if survey.boxes else np.empty(0)
        if first.dtype.kind not in "iu":
            _look_closer(survey, first)
        return survey


def _is_marker(values: Array, extreme: Any) -> bool:
    if values.dtype.kind in "iu" or not (abs(float(extreme)) >= 1e9 or float(extreme) in MARKERS):
        return False
    there = values == extreme
    others = values[~there]
    if np.count_nonzero(there) < 2 or not others.size:
        return False
    low, high = float(others.min()), float(others.max())
    distance = min(abs(float(extreme) - low), abs(float(extreme) - high))
    return distance > FAR * max(high - low, abs(high) / FAR, abs(low) / FAR)


def _look_closer(survey: Survey, box: Array) -> None:
    values = reals(box)
    bad = bad_values(values, survey.fills)
    good = values if bad is None else values[~bad]
    unique = np.unique(good[:: max(1, good.size // LOOKED_AT)][:LOOKED_AT])
    if good.size >= 1000 and 2 <= unique.size <= 64:
        survey.different = int(unique.size)
    survey.grid = grid_of(unique)
    sizes = np.abs(good[: 1 << 20].astype(np.float64))
    survey.magnitude = float(sizes.mean()) if sizes.size else 0.0
    survey.typical = float(np.median(sizes[sizes > 0])) if sizes.any() else 0.0
    if values.dtype == np.float64 and survey.range > 0 and good.size >= 16:
        with np.errstate(over="ignore"):
            if np.array_equal(good, good.astype(np.float32)) and survey.grid is None:
                survey.precision = "float32"
    if survey.grid is None and box.dtype.kind != "c" and bad is None:
        survey.noise = noise_of(box.astype(np.float64))


def grid_of(unique: Array) -> Optional[float]:
    """Returns the step of the grid that sorted values lie on; None if there is none."""
    if unique.size < 8:
        return None
    values = unique.astype(np.float64)
    rounding = float(np.spacing(unique.dtype.type(max(abs(values[0]), abs(values[-1])))))
    steps = np.diff(values)
    step = float(np.median(steps[steps < 1.5 * steps.min()]))
    if step < 32 * rounding or float(values[-1] - values[0]) / step > 1 << 20:
        return None
    offsets = (values - values[0]) / step
    step *= float(np.dot(offsets, offsets) / np.dot(offsets, np.rint(offsets)))  # least squares
    offsets = (values - values[0]) / step
    return step if float(np.abs(offsets - np.rint(offsets)).max()) < 0.02 + 2 * rounding / step else None


def noise_of(box: Array) -> Optional[float]:
    """Returns the standard deviation of white noise along the last axis; None where third differences are not those of noise."""
    if box.ndim == 0 or box.shape[-1] < 64:
        return None
    third = np.diff(box.reshape(-1, box.shape[-1])[:4096], 3, axis=1)
    square = float(np.mean(third**2))
    sigma = float(np.median(np.abs(third))) / 0.6745 / 20**0.5
    if square == 0 or sigma == 0:
        return None
    lags = [float(np.mean(third[:, :-lag] * third[:, lag:])) / square for lag in (1, 2)]
    alike = sigma > 0.7 * (square / 20) ** 0.5  # the same noise everywhere
    return sigma if alike and abs(lags[0] + 0.75) < 0.08 and abs(lags[1] - 0.3) < 0.08 else None


def survey(source: Source, progress: Callable[[int], None] = lambda _: None) -> Survey:
    """Reads all values once."""
    surveyor = Surveyor(source)
    for piece in source.pieces():
        surveyor.add(piece)
        progress(piece.nbytes)
    return surveyor.done()

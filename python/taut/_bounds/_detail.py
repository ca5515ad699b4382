"""Measures of the sampled boxes: histogram, autocorrelation, spectra, SSIM, gradients, quantities and pictures."""

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

BINS, LAGS = 64, 32  # of the histogram; of the autocorrelation
SEGMENT = 512  # values of a segment whose spectrum is computed, at most
SPECTRUM_VALUES = 1 << 19  # values of a box that its spectrum is computed from
SSIM_WINDOW, SSIM_SLICES = 7, 4  # values a side; slices of a box, about
PICTURE = 256  # pixels a side, at most
LINE = 400  # values of a picture of a series

Quantity = Callable[[Any], Any]
Array = "np.ndarray[Any, Any]"


def spectrum(values: Array) -> Optional[Array]:
    """Returns the mean power spectrum along the last axis (Welch's method, Hann window); None for short rows."""
    length = min(SEGMENT, values.shape[-1])
    if length < 16:
        return None
    rows = values.reshape(-1, values.shape[-1])
    rows = rows[:: max(1, values.size // SPECTRUM_VALUES)]
    segments = rows[:, : rows.shape[1] // length * length].reshape(-1, length)[: SPECTRUM_VALUES // length]
    window = np.hanning(length)
    powers = np.abs(np.fft.rfft((segments - segments.mean(axis=1, keepdims=True)) * window)) ** 2
    return np.asarray(powers.mean(axis=0) / np.sum(window**2))


def along(values: Array, axis: int, first: int, end: int) -> Array:
    """Returns the part of an array from an index on an axis to another."""
    return values[(slice(None),) * axis + (slice(first, end),)]


def _window_means(values: Array) -> Array:
    """Returns the mean of every window of SSIM_WINDOW x SSIM_WINDOW values."""
    for axis in (0, 1):
        kept = values.shape[axis] - SSIM_WINDOW + 1
        total = along(values, axis, 0, kept).copy()
        for k in range(1, SSIM_WINDOW):
            total += along(values, axis, k, k + kept)
        values = total
    return np.asarray(values / SSIM_WINDOW**2)


def ssim(x: Array, y: Array, value_range: float, bad: Optional[Array] = None) -> Optional[float]:
    """Returns the structural similarity of two pictures (Wang et al. 2004), with a uniform window of 7 x 7; windows with `bad` values do
    not count. None if there is no window, or no range."""
    if min(x.shape) < SSIM_WINDOW or value_range <= 0:
        return None
    mean = x.mean() if bad is None else x[~bad].mean() if not bad.all() else 0.0
    if bad is not None:
        x, y = np.where(bad, mean, x), np.where(bad, mean, y)
    x, y = x - mean, y - mean  # variances of small numbers lose fewer digits
    mean_x, mean_y = _window_means(x), _window_means(y)
    var_x, var_y = _window_means(x * x) - mean_x**2, _window_means(y * y) - mean_y**2
    covariance = _window_means(x * y) - mean_x * mean_y
    c1, c2 = (0.01 * value_range) ** 2, (0.03 * value_range) ** 2
    mean_x, mean_y = mean_x + mean, mean_y + mean
    found = (2 * mean_x * mean_y + c1) * (2 * covariance + c2) / ((mean_x**2 + mean_y**2 + c1) * (var_x + var_y + c2))
    if bad is not None:
        complete = _window_means(bad.astype(np.float64)) < 1e-9  # windows without bad values
        return float(found[complete].mean()) if complete.any() else None
    return float(found.mean())


class Detail:
    """Sums over the sampled boxes, for one bound."""

    def __init__(self, limit: float, value_range: float = 0.0, quantities: Optional[dict[str, Quantity]] = None) -> None:
        self.limit, self.range, self.quantities = limit, value_range, quantities or {}
        self.histogram = np.zeros(BINS, np.int64)
        self.products = np.zeros(LAGS + 1)  # sums of the products of two errors at each distance, and the number of these pairs
        self.pairs = np.zeros(LAGS + 1)
        self.error_sum = 0.0
        self.error_spectrum: list[Array] = []
        self.field_spectrum: list[Array] = []
        self.ssim: list[float] = []
        self.gradient = [0.0, 0.0]  # squares of errors, and of gradients
        self.zeros = [0, 0]  # exact zeros, and those that stayed
        self.signs = 0  # values that changed sign
        self.values = 0
        # Squares of the differences, squares of the quantity, greatest difference.
        self.quantity_sums: dict[str, list[float]] = {name: [0.0, 0.0, 0.0] for name in self.quantities}
        self.slice: Optional[Array] = None
        self.error_slice: Optional[Array] = None

    def add(self, piece: Array, decoded: Array, bad: Optional[Array]) -> None:
        """Adds a box; `bad` marks values that do not count. Complex numbers count by their real parts, except in quantities. Bad values are NaN
        in quantities."""
        for name, quantity in self.quantities.items():
            before, after = (one if bad is None else np.where(bad, np.nan, one) for one in (piece, decoded))
            self._add_quantity(name, quantity(before), quantity(after))
        x, y = piece.real.astype(np.float64), decoded.real.astype(np.float64)
        if bad is None and not np.isfinite(x).all():
            bad = ~np.isfinite(x)
        if bad is not None:
            good = x[~bad]
            mean = good.mean() if good.size else 0.0
            x, y = np.where(bad, mean, x), np.where(bad, mean, y)
        if x.ndim == 0:
            x, y, bad = x.reshape(1), y.reshape(1), None if bad is None else bad.reshape(1)
        error = y - x
        self.values += x.size
        self.zeros[0] += int(np.count_nonzero(x == 0))
        self.zeros[1] += int(np.count_nonzero((x == 0) & (y == 0)))
        self.signs += int(np.count_nonzero(x * y < 0))
        self._add_errors(error if bad is None else error[~bad])
        self._add_neighbours(error)
        for spectra, values in ((self.error_spectrum, error), (self.field_spectrum, x)):
            found = spectrum(values)
            if found is not None:
                spectra.append(found)
        self._add_gradients(x, error)
        self._add_slices(x, y, bad)

    def _add_errors(self, error: Array) -> None:
        self.limit = self.limit or float(np.abs(error).max(initial=0.0))
        if self.limit > 0:
            inside = np.clip(error / self.limit, -1, 1)
            self.histogram += np.histogram(inside, BINS, (-1, 1))[0]

    def _add_neighbours(self, error: Array) -> None:
        rows = error.reshape(-1, error.shape[-1])
        rows = rows[:: max(1, error.size // (SPECTRUM_VALUES * 2))]
        self.error_sum += float(rows.sum())
        for lag in range(min(LAGS, rows.shape[1] - 1) + 1):
            a, b = rows[:, : rows.shape[1] - lag], rows[:, lag:]
            self.products[lag] += float(np.einsum("ij,ij->", a, b))
            self.pairs[lag] += a.size

    def _add_gradients(self, x: Array, error: Array) -> None:
        for axis in range(x.ndim):
            if x.shape[axis] >= 3:
                for position, values in enumerate((error, x)):
                    steps = along(values, axis, 2, x.shape[axis]) - along(values, axis, 0, x.shape[axis] - 2)
                    self.gradient[position] += float(np.einsum("i,i->", steps.reshape(-1), steps.reshape(-1)))

    def _add_slices(self, x: Array, y: Array, bad: Optional[Array]) -> None:
        if x.ndim < 2 or min(x.shape[-2:]) < SSIM_WINDOW:
            if self.slice is None:
                first = max(0, x.size // 2 - LINE // 2)
                self.slice, self.error_slice = (values.reshape(-1)[first : first + LINE].copy() for values in (x, y - x))
            return
        planes = [values.reshape(-1, *values.shape[-2:]) for values in (x, y)]
        masks = None if bad is None else bad.reshape(planes[0].shape)
        step = max(1, planes[0].shape[0] // SSIM_SLICES)
        for number in range(step // 2, planes[0].shape[0], step):
            crop = (number, slice(0, 1024), slice(0, 1024))
            found = ssim(planes[0][crop], planes[1][crop], self.range, None if masks is None else masks[crop])
            if found is not None:
                self.ssim.append(found)
        if self.slice is None:
            number = planes[0].shape[0] // 2
            stride = tuple(slice(None, None, -(-extent // PICTURE)) for extent in x.shape[-2:])
            hidden = np.zeros(x.shape[-2:], bool) if masks is None else masks[number]
            self.slice, self.error_slice = (
                np.where(hidden, np.nan, plane)[stride] for plane in (planes[0][number], planes[1][number] - planes[0][number])
            )

    def _add_quantity(self, name: str, before: Any, after: Any) -> None:
        before, after = (np.asarray(one, np.complex128 if np.iscomplexobj(one) else np.float64) for one in (before, after))
        finite = np.isfinite(before) & np.isfinite(after)
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.abs(after - before)[finite]
        sums = self.quantity_sums[name]
        sums[0] += float(np.sum(difference**2))
        sums[1] += float(np.sum(np.abs(before[finite]) ** 2))
        sums[2] = max(sums[2], float(difference.max(initial=0.0)))

    def autocorrelation(self) -> Optional[list[float]]:
        """Returns the autocorrelation of the error for lags from 1 on; None if there is no error."""
        if self.pairs[0] == 0 or self.products[0] == 0:
            return None
        mean = self.error_sum / self.pairs[0]
        variance = self.products[0] / self.pairs[0] - mean**2
        lags = self.pairs[1:] > 0
        if variance <= 0 or not lags.any():
            return None
        return [float(one) for one in (self.products[1:][lags] / self.pairs[1:][lags] - mean**2) / variance]

    def mean_ssim(self) -> Optional[float]:
        return float(np.mean(self.ssim)) if self.ssim else None

    def gradient_error(self) -> Optional[float]:
        """Returns the rms error of central differences, relative to their rms."""
        return float((self.gradient[0] / self.gradient[1]) ** 0.5) if self.gradient[1] else None

    def spectra(self) -> Optional[tuple[Array, Array, Array]]:
        """Returns frequencies in cycles a grid spacing, and the power of field and error."""
        if not self.field_spectrum:
            return None
        field, error = (np.mean([power for power in boxes if power.size == boxes[0].size], axis=0)
                        for boxes in (self.field_spectrum, self.error_spectrum))  # fmt: skip
        return np.linspace(0, 0.5, field.size)[1:], field[1:], error[1:]

"""The figures of a row as text, for tables on a terminal and on a page."""

from typing import Optional

from ._measure import Measured


def quantity_figures(sums: list[float]) -> dict[str, Optional[float]]:
    """Returns the relative rms error of a quantity, and its greatest error."""
    relative = (sums[0] / sums[1]) ** 0.5 if sums[1] else 0.0 if sums[0] == 0 else None
    return {"relative_error": relative, "greatest_error": sums[2]}


def figure(value: Optional[float], digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


COLUMNS = ("bound", "ratio", "greatest", "rms", "mean", "PSNR", "SSIM", "gradient", "error's lag 1")


def cells(row: Measured, value_range: float) -> list[str]:
    """Returns the cells of a row of the table; `value_range`: of all values of the array."""
    lags = row.detail.autocorrelation()
    similar = row.detail.mean_ssim()
    return [row.bound, figure(row.ratio), figure(row.greatest), figure(row.rms), f"{row.mean:.1e}" if row.mean else "0",
            figure(row.psnr(value_range)), "-" if similar is None else f"{similar:.5f}",
            figure(row.detail.gradient_error(), 2), "-" if lags is None else f"{lags[0]:.2f}"]  # fmt: skip

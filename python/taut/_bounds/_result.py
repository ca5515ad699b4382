"""Result of a comparison of bounds: as data, as text, and as a page."""

from pathlib import Path
from typing import Any, Optional

from ._figures import cells, quantity_figures
from ._information import Information
from ._judge import Conclusion, rule
from ._measure import Measured
from ._source import Source
from ._survey import Survey


class Bounds:
    """Comparison of bounds on an array, from `bounds`.

    Attributes
    ----------
    rows : list of Measured
        Each bound with its ratio and errors.
    knee : str or None
        Bound at the knee of the curve of size against bound.
    proposed : str
        Bound to start with.
    warnings : list of str
        What to know of the values: missing values, grids, noise.
    """

    def __init__(self, source: Source, survey: Survey, rows: list[Measured], information: Optional[Information],
                 conclusion: Conclusion) -> None:  # fmt: skip
        self.name, self.shape, self.dtype, self.nbytes = source.name, source.shape, source.dtype, source.nbytes
        self.survey, self.rows, self.information, self.conclusion = survey, rows, information, conclusion
        self.knee, self.proposed, self.warnings = conclusion.knee, conclusion.proposed, conclusion.warnings

    @property
    def rule(self) -> str:
        """The rule of the proposed bound, as TAUT_RULES takes it."""
        return rule(self.proposed)

    def row(self, bound: str) -> Measured:
        """Returns the row of a bound."""
        return next(row for row in self.rows if row.bound == bound)

    def save(self, file: Any) -> None:
        """Writes the page: HTML that needs no other file."""
        from ._page import page

        Path(file).write_text(page([self]), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Returns all figures, of types that JSON has."""
        survey, said = self.survey, self.conclusion
        about = {"least": survey.least, "greatest": survey.greatest, "range": survey.range, "nan": survey.nan,
                 "infinite": survey.infinite, "missing": [{"value": v, "count": n} for v, n in survey.fills.items()],
                 "grid": survey.grid, "noise": survey.noise, "sampled_values": sum(box.size for box in survey.boxes)}  # fmt: skip
        spectra = next((found for found in (row.detail.spectra() for row in self.rows) if found), None)
        return {
            "format": "taut-bounds", "version": 1, "name": self.name, "shape": list(self.shape), "dtype": self.dtype.name,
            "bytes": self.nbytes, "values": about, "bounds": [self._row(row) for row in self.rows],
            "spectrum": None if spectra is None else {"frequency": spectra[0].tolist(), "field": spectra[1].tolist()},
            "information": None if self.information is None else
            {"bits": self.information.bits, "kept": self.information.kept, "bound": self.information.bound},
            "knee": self.knee, "answers": [vars(answer) for answer in said.answers], "warnings": self.warnings,
            "proposed": {"bound": self.proposed, "why": said.why, "rule": self.rule},
        }  # fmt: skip

    def _row(self, row: Measured) -> dict[str, Any]:
        detail, spectra = row.detail, row.detail.spectra()
        return {
            "bound": row.bound, "limit": row.limit, "ratio": row.ratio, "greatest_error": row.greatest, "rms_error": row.rms,
            "mean_error": row.mean, "psnr": row.psnr(self.survey.range), "ssim": detail.mean_ssim(),
            "gradient_error": detail.gradient_error(), "autocorrelation": detail.autocorrelation(),
            "histogram": {"limit": detail.limit, "counts": detail.histogram.tolist()},
            "error_spectrum": None if spectra is None else spectra[2].tolist(),
            "zeros": {"before": detail.zeros[0], "kept": detail.zeros[1]}, "sign_changes": detail.signs,
            "quantities": {name: quantity_figures(sums) for name, sums in detail.quantity_sums.items()},
        }  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join(text_of(self))


def text_of(result: Bounds) -> list[str]:
    """Returns lines for a terminal of 80 columns."""
    shape = "x".join(map(str, result.shape)) or "scalar"
    survey = result.survey
    edges = "" if survey.least is None else f", from {survey.least:.4g} to {survey.greatest:.4g}"
    lines = [f"{result.name}: {shape} {result.dtype}{edges}"]
    width = max(12, *(len(row.bound) for row in result.rows))
    lines.append(f"  {'bound':<{width}}{'ratio':>8}{'greatest':>11}{'rms':>10}{'mean':>10}{'PSNR':>7}{'SSIM':>9}")
    for row in result.rows:
        bound, ratio, greatest, rms, mean, psnr, similar, *_ = cells(row, survey.range)
        mark = "  knee" if row.bound == result.knee else ""
        lines.append(f"  {bound:<{width}}{ratio:>8}{greatest:>11}{rms:>10}{mean:>10}{psnr:>7}{similar:>9}{mark}")
    lines += [f"  ! {text}" for text in result.warnings]
    lines += [f"  {answer.asked}: {answer.bound or 'none'}; {answer.text}" for answer in result.conclusion.answers]
    lines.append(f"  start with {result.proposed}: {result.conclusion.why}")
    lines.append(f'  TAUT_RULES="{result.rule}"')
    return lines

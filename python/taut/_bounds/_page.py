"""Page of a comparison of bounds."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from .._page import document, table
from .._charts import STYLE, Series, chart, picture
from ._figures import COLUMNS, cells, figure, quantity_figures
from ._measure import Measured

Bounds = Any  # of _result, which imports this module to write pages

SHOWN = 4  # bounds whose errors are drawn


def page(results: Sequence[Bounds]) -> str:
    """Returns HTML that needs no other file."""
    title = "Error bounds for " + ", ".join(one.name for one in results)
    return document(title, "\n".join(_section(one) for one in results), STYLE)


def _section(result: Bounds) -> str:
    shape, survey = "x".join(map(str, result.shape)) or "scalar", result.survey
    edges = "" if survey.least is None else f", from {survey.least:.6g} to {survey.greatest:.6g}"
    row = next((one for one in result.rows if one.bound == result.proposed), None)
    effect = "" if row is None else f" {_effect(result, row)}"
    parts = [
        f"<h1>Error bounds for {escape(result.name)}</h1>",
        f"<p>{shape} values of {result.dtype}, {result.nbytes:,} bytes{edges}.</p>",
        f"<p><b>Start with {escape(result.proposed)}:</b> {escape(result.conclusion.why)}.{effect}</p>",
        f"<pre>{escape(_to_copy(result))}</pre>",
    ]
    parts += [f"<p><b>{escape(one.asked)}: {escape(one.bound or 'none')}</b>; {escape(one.text)}.</p>" for one in result.conclusion.answers]
    if result.warnings:
        parts.append("<h2>Mind</h2><ul class=warn>" + "".join(f"<li>{escape(text)}.</li>" for text in result.warnings) + "</ul>")
    parts += ["<h2>The bounds</h2>", _table(result), _explained(result)]
    shown = _shown(result)
    if shown:
        parts += ['<h2>Size and errors</h2><div class="charts">', *_curves(result), *_errors(result, shown), "</div>", _pictures(result, shown)]
    return "\n".join(parts)


def _effect(result: Bounds, row: Measured) -> str:
    if row.greatest == 0:
        return f"It makes the values {row.ratio:.3g} times smaller and changes none."
    psnr = row.psnr(result.survey.range)
    decibels = "" if psnr is None else f", PSNR {psnr:.1f} dB"
    return f"It makes the values {row.ratio:.3g} times smaller; the greatest error is {row.greatest:.3g}, the rms error {row.rms:.2g}{decibels}."


def _to_copy(result: Bounds) -> str:
    return "\n".join([
        "# an unchanged MPI program", f'TAUT_RULES="{result.rule}"', "# Python", f'taut.compress(array, "{result.proposed}")',
        "# C", f'TAUT_Comm_set_policy(comm, "{result.proposed}");', "# a file", f"taut compress FILE --bound {result.proposed}",
    ])  # fmt: skip


def _table(result: Bounds) -> str:
    names = list(result.rows[0].detail.quantity_sums)
    rows = []
    for row in result.rows:
        sums = row.detail.quantity_sums
        quantities = [figure(quantity_figures(sums[name])["relative_error"], 2) for name in names]
        mark = "knee" if row.bound == result.knee else "start here" if row.bound == result.proposed else ""
        rows.append([*cells(row, result.survey.range), *quantities, mark])
    return table([*COLUMNS, *names, ""], rows)


def _explained(result: Bounds) -> str:
    sampled = sum(box.size for box in result.survey.boxes)
    names = [f" {escape(name)}: rms error of this quantity, relative to its rms." for name in result.rows[0].detail.quantity_sums]
    return (
        '<p class="note">Ratio: bytes before by bytes after. Greatest, rms and mean: of the errors; a mean far from 0 is a bias. '
        "PSNR: 20 log10(range / rms error), in dB. SSIM: structural similarity of slices, 1 if equal. Gradient: rms error of central "
        "differences, relative to their rms. Lag 1: correlation of the errors of neighbours; near 0 the error is like noise. "
        f"Ratio and errors are those of all values, the rest of {sampled:,} sampled ones.{''.join(names)}</p>"
    )


def _shown(result: Bounds) -> list[Measured]:
    """Returns the bounds whose errors are drawn, around the proposed one."""
    limited = [row for row in result.rows if row.greatest > 0]
    at = next((k for k, row in enumerate(limited) if row.bound == result.proposed), len(limited) // 2)
    chosen = sorted({min(max(k, 0), len(limited) - 1) for k in (at - 3, at - 1, at, at + 2)}) if limited else []
    return [limited[k] for k in chosen][:SHOWN]


def _box(title: str, svg: str, text: str) -> str:
    return f"<div><h3>{escape(title)}</h3>{svg}<p>{escape(text)}</p></div>"


def _curves(result: Bounds) -> list[str]:
    limited = sorted((row for row in result.rows if row.limit), key=lambda row: row.limit or 0.0)
    if len(limited) < 2:
        return []
    xs = [row.limit or 0.0 for row in limited]
    mark = next((row.limit for row in limited if row.bound == result.knee), None)
    itemsize = result.dtype.itemsize
    told = "The dashed line is the knee: to its left bits cost ever more, to its right ever less is saved." if mark else "The curve is straight: it has no knee."
    bits = Series("bits a value", xs, [row.bits(itemsize) for row in limited], True)
    ratio = Series("ratio", xs, [row.ratio for row in limited], True)
    found = [
        _box("Size", chart([bits], "bound (greatest error)", "bits a value", log_x=True, mark=mark), told),
        _box("Ratio", chart([ratio], "bound (greatest error)", "ratio", log_x=True, log_y=True, mark=mark), "Bytes before by bytes after."),
    ]
    decibels = [(row.limit or 0.0, row.psnr(result.survey.range) or 0.0) for row in limited if row.rms]
    if decibels:
        line = Series("PSNR, dB", *zip(*decibels), dots=True)  # type: ignore[arg-type]
        found.append(_box("PSNR", chart([line], "bound (greatest error)", "PSNR", log_x=True, mark=mark), "Higher is closer."))
    if result.information:
        numbers = list(range(len(result.information.bits)))
        line = Series("bits of information", numbers, result.information.bits, True)
        text = (f"Mutual information of neighbours, for each bit, the sign first (Klöwer et al. 2021): {result.information.kept} bits of the "
                f"mantissa hold 99 %, which is {result.information.bound}.")  # fmt: skip
        found.append(_box("Information", chart([line], "bit", "information"), text))
    return found


def _errors(result: Bounds, shown: Sequence[Measured]) -> list[str]:
    found = []
    bins = shown[0].detail.histogram.size
    middles = [(2 * k + 1) / bins - 1 for k in range(bins)]
    lines = [Series(row.bound, middles, (row.detail.histogram / max(1, row.detail.histogram.sum())).tolist()) for row in shown]
    found.append(_box("Errors", chart(lines, "error / bound", "share"), "Histogram. A box is usual; a peak off 0 is a bias."))
    lags = [(row.bound, row.detail.autocorrelation()) for row in shown]
    lines = [Series(bound, list(range(1, len(values) + 1)), values) for bound, values in lags if values]
    if lines:
        found.append(_box("Do errors hang together?", chart(lines, "distance along the last axis", "autocorrelation"),
                          "Autocorrelation of the error. Far from 0: the error has a structure that may look like a signal."))  # fmt: skip
    spectra = [(row.bound, row.detail.spectra()) for row in shown]
    drawn = [(bound, one) for bound, one in spectra if one is not None]
    if drawn:
        lines = [Series("field", drawn[0][1][0].tolist(), drawn[0][1][1].tolist())]
        lines += [Series(f"error, {bound}", one[0].tolist(), one[2].tolist()) for bound, one in drawn]
        found.append(_box("Spectra", chart(lines, "cycles a grid spacing", "power", log_x=True, log_y=True),
                          "Power of field and error. Where the error's line is above the field's, those scales are lost."))  # fmt: skip
    return found


def _pictures(result: Bounds, shown: Sequence[Measured]) -> str:
    field = shown[0].detail.slice
    if field is None:
        return ""
    if field.ndim == 1:
        positions = list(range(field.size))
        lines = [Series(row.bound, positions, (row.detail.error_slice / (row.detail.limit or 1)).tolist())
                 for row in shown if row.detail.error_slice is not None]  # fmt: skip
        return ('<h2>A part of the values</h2><div class="charts">' + _box("Values", chart([Series("values", positions, field.tolist())],
                "position", "value"), "") + _box("Errors", chart(lines, "position", "error / bound"), "") + "</div>")  # fmt: skip
    whole = field[np.isfinite(field)]
    if not whole.size:
        return ""
    low, high = (float(one) for one in np.percentile(whole, (0.5, 99.5)))
    figures = [("the field", picture(field, low, high), f"from {low:.3g} (violet) to {high:.3g} (yellow)")]
    for row in shown:
        error, limit = row.detail.error_slice, row.limit or row.detail.limit or 1.0
        if error is not None:
            figures.append((row.bound, picture(error, -limit, limit, signed=True), f"difference, from {-limit:.3g} (blue) to {limit:.3g} (red)"))
    drawn = "".join(f'<figure><img alt="{escape(name)}" src="{uri}"><figcaption><b>{escape(name)}</b>: {escape(text)}</figcaption></figure>'
                    for name, uri, text in figures)  # fmt: skip
    return f'<h2>A slice</h2><div class="pictures">{drawn}</div><p class="note">Missing values are grey.</p>'

"""Page of a tuning: bound against quantity of interest, bytes and time, and the rules to copy."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Optional

from .._charts import STYLE, Series, chart
from .._page import document, table
from ._runs import Job, Run
from ._search import Factors
from ._sites import Seen, rules

LEAST_RATIO = 1.2  # below, the rules leave calls to plain MPI (docs/configuration.md)


@dataclass
class Result:
    """A finished search."""

    job: Job
    seen: Seen
    runs: Sequence[Run]
    noise: Optional[float]  # distance of two plain runs; None: a check judges
    found: Factors  # the loosest accepted factors
    kept: Factors  # those that a further run has confirmed; empty: none
    notes: Sequence[str]
    confirming: Optional[list[str]]

    def verdict(self) -> str:
        if not self.found:
            return "The check refuses every bound that was tried: leave these calls to plain MPI, or to lossless rules."
        if not self.kept:
            return "The found rules were refused when they were run once more: none are written."
        last = self.runs[-1]
        value = "" if last.value is None else f", with {last.value:.3g}" + (f" of {self.job.tolerance:g} allowed" if self.job.tolerance else "")
        gain = f"values are {last.ratio:.3g} times smaller"
        if last.ratio < LEAST_RATIO:
            gain += ", too little to gain anything; leave the program as it is"
        return f"The check accepts these rules{value}, confirmed by a run of its own: {gain}."

    def told(self) -> list[str]:
        """Returns the lines that the command prints, and that begin the rules."""
        lines = [f"taut tune, {len(self.runs)} runs of: {shlex.join(self.job.command)}", self.verdict()]
        lines += [f"{self.seen.sites[name].name}: {self.seen.sites[name].bound(factor)}" for name, factor in sorted(self.kept.items())]
        return lines + [f"Not explored: {one}." for one in self.unexplored()]

    def unexplored(self) -> list[str]:
        ranks = "" if self.confirming else f"; other numbers of ranks than {self.seen.ranks} (--confirm)"
        always = [f"other inputs than those of this command{ranks}", "bounds other than abs, and other options of policies"]
        return [*self.seen.left_out, *self.notes, *always]


def page(result: Result) -> str:
    """Returns HTML that needs no other file."""
    sites = result.seen.sites
    parts = [
        f"<h1>Error bounds that {escape(result.seen.program)} accepts</h1>",
        f"<p><b>{escape(result.verdict())}</b></p>",
        f"<p>Command: <code>{escape(shlex.join(result.job.command))}</code>, {result.seen.ranks} ranks. {escape(_judged(result))}</p>",
    ]
    if result.kept:
        parts += ["<h2>The rules</h2>", f"<pre>{escape(rules(sites, result.kept, always=False))}</pre>"]
    parts += ["<h2>What the runs showed</h2>", _charts(result), _table(result)]
    parts.append('<p class="note">Bound: of one value in a call. Ratio: bytes of the values by bytes of their frames. During the search '
                 "every call was compressed; the rules leave calls to plain MPI where that is faster.</p>")  # fmt: skip
    parts.append("<h2>Not explored</h2><ul>" + "".join(f"<li>{escape(one)}</li>" for one in result.unexplored()) + "</ul>")
    return document(f"Tuned: {result.seen.program}", "\n".join(parts), STYLE)


def _judged(result: Result) -> str:
    if result.job.check is not None:
        return f"Each run was judged by: {result.job.check}"
    noise = f" Two plain runs differ by {result.noise:.2g}." if result.noise is not None else ""
    return f"Each run was judged by {', '.join(result.job.outputs)}: |output - plain| / |plain| at most {result.job.tolerance:g}.{noise}"


def _greatest(result: Result, run: Run) -> float:
    return max(factor * (result.seen.sites[name].magnitude or 1.0) for name, factor in run.factors.items())


def _charts(result: Result) -> str:
    tried = sorted((run for run in result.runs if run.factors and run.value_bytes), key=lambda run: _greatest(result, run))
    if not tried:
        return ""
    bounds = [_greatest(result, run) for run in tried]
    drawn = []
    known = [(bound, run.value) for bound, run in zip(bounds, tried) if run.value]
    if known:
        lines = [Series("runs", [one[0] for one in known], [one[1] or 0.0 for one in known], True, False)]
        lines += [Series("tolerance", [known[0][0], known[-1][0]], [result.job.tolerance] * 2)] if result.job.tolerance else []
        drawn.append(("Quantity of interest", chart(lines, "greatest bound", "value", log_x=True, log_y=True)))
    drawn.append(("Bytes", chart([Series("ratio", bounds, [run.ratio for run in tried], True, False)], "greatest bound", "ratio", log_x=True)))
    drawn.append(("Time", chart([Series("seconds", bounds, [run.seconds for run in tried], True, False)], "greatest bound", "s", log_x=True)))
    return '<div class="charts">' + "".join(f"<div><h3>{escape(title)}</h3>{svg}</div>" for title, svg in drawn) + "</div>"


def _table(result: Result) -> str:
    rows = []
    for number, run in enumerate(result.runs, 1):
        bounds = sorted({result.seen.sites[name].bound(factor) for name, factor in run.factors.items()})
        told = ", ".join(bounds) if run.factors else "plain"
        rows.append([str(number), told, "-" if run.value is None else f"{run.value:.3g}", f"{run.ratio:.3g}" if run.factors else "-",
                     f"{run.seconds:.2f}", ("confirmed" if run.confirms else "accepted") if run.accepted else run.why])  # fmt: skip
    return table(["run", "bounds", "value", "ratio", "seconds", "outcome"], rows)

"""Pictures of a report, as SVG texts."""

import io
from collections.abc import Callable
from typing import Any, Optional

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from ._read import PHASES, Report, Sums  # noqa: E402
from ._rows import bounds_of  # noqa: E402

COLOURS = dict(zip(PHASES, ("#0072b2", "#56b4e9", "#009e73", "#bbbbbb", "#e69f00", "#d55e00")))  # Okabe and Ito
MOST_KINDS = 12


def pictures(report: Report) -> list[tuple[str, str]]:
    """Returns (title, SVG) of each picture that is not empty."""
    drawn = [
        ("Where the time went, mean of the ranks", _draw(report, _times)),
        ("What was sent, and what the same calls send without compression, all ranks", _draw(report, _bytes)),
        ("What sampled values would compress to under each bound", _draw(report, _compressibility)),
        ("Time of each rank", _draw(report, _ranks)),
    ]
    return [(title, svg) for title, svg in drawn if svg is not None]


def _draw(report: Report, plot: Callable[[Report, Any], Optional[float]]) -> Optional[str]:
    figure, axes = plt.subplots(figsize=(9, 3))
    try:
        height = plot(report, axes)
        if height is None:
            return None
        figure.set_size_inches(9, height)
        figure.tight_layout()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()[text.getvalue().index("<svg") :]
    finally:
        plt.close(figure)


def _stacked(axes: Any, names: list[str], sums: list[Sums], share: float) -> float:
    """Draws a bar of seconds for each row, with the phases of the time side by side."""
    left = [0.0] * len(sums)
    positions = range(len(sums), 0, -1)
    for phase in PHASES:
        widths = [one.nanoseconds[phase] * 1e-9 * share for one in sums]
        axes.barh(positions, widths, left=left, color=COLOURS[phase], label=phase, height=0.7)
        left = [a + b for a, b in zip(left, widths)]
    axes.set_yticks(list(positions), names)
    axes.set_xlabel("seconds")
    axes.legend(ncols=len(PHASES), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return 1.4 + 0.34 * len(sums)


def _times(report: Report, axes: Any) -> Optional[float]:
    kinds = [kind for kind in report.kinds if kind.sums.seconds > 0][:MOST_KINDS]
    return _stacked(axes, [kind.name for kind in kinds], [kind.sums for kind in kinds], 1 / report.ranks) if kinds else None


def _ranks(report: Report, axes: Any) -> Optional[float]:
    ranks = sorted(report.by_rank)
    if len(ranks) < 2:
        return None
    return _stacked(axes, [f"rank {rank}" for rank in ranks], [report.by_rank[rank] for rank in ranks], 1.0)


def _bytes(report: Report, axes: Any) -> Optional[float]:
    kinds = [kind for kind in report.kinds if kind.sums.counts["sent_bytes"] > 0][:MOST_KINDS]
    if not kinds:
        return None
    positions = list(range(len(kinds), 0, -1))
    for shift, name, colour, label in ((0.2, "carried_bytes", "#bbbbbb", "without"), (-0.2, "sent_bytes", "#0072b2", "sent")):
        values = [kind.sums.counts[name] / 1e6 for kind in kinds]
        axes.barh([p + shift for p in positions], values, height=0.38, color=colour, label=label)
    axes.set_yticks(positions, [kind.name for kind in kinds])
    axes.set_xlabel("MB")
    axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return 1.4 + 0.45 * len(kinds)


def _compressibility(report: Report, axes: Any) -> Optional[float]:
    kinds = [kind for kind in report.kinds if kind.compressibility][:8]
    if not kinds:
        return None
    bounds = bounds_of(kinds)
    for kind in kinds:
        points = [(bounds.index(bound), values / frames) for bound, (values, frames) in kind.compressibility.items() if frames]
        axes.plot(*zip(*sorted(points)), marker="o", markersize=4, label=kind.name)
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.set_xticks(range(len(bounds)), bounds)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("ratio")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return 3.6

#!/usr/bin/env python3
"""Draws what train.py measured, for each task: training loss over time, and held-out loss beside the time of a step.

picture.py RESULTS [PICTURE]
"""

import json
import sys
from itertools import accumulate
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WINDOW = 20  # steps over which losses are averaged


def curve(row):
    """Returns the seconds since the start, and the mean loss of the WINDOW steps before."""
    times, losses = list(accumulate(row["seconds"])), row["losses"]
    window = min(WINDOW, len(losses))
    sums = list(accumulate(losses, initial=0.0))
    means = [(sums[i] - sums[i - window]) / window for i in range(window, len(sums))]
    return times[window - 1 :], means


def color_of(row, number):
    return "#222222" if row["variant"] == "plain" else f"C{number}"


def draw_curves(axes, rows):
    for number, row in enumerate(rows):
        width = 2.4 if row["variant"] == "plain" else 1.4
        axes.plot(*curve(row), color=color_of(row, number), linewidth=width, label=row["variant"])
    axes.set_xlabel("seconds")
    axes.set_ylabel(f"training loss (mean of {WINDOW} steps)")
    axes.legend(frameon=False, fontsize=8)


def draw_points(axes, rows):
    plain = rows[0]["test_loss"]
    for number, row in enumerate(rows):
        at = row["median_step_ms"], 100 * (row["test_loss"] / plain - 1)
        axes.plot(*at, "o", color=color_of(row, number))
        axes.annotate(row["variant"], at, xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.axhline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.margins(0.12)
    axes.set_xlabel("median time of a step, ms")
    axes.set_ylabel("held-out loss against plain, %")


def draw(runs, path):
    tasks = {}
    for row in (row for run in runs for row in run["rows"]):
        tasks.setdefault(row["task"], []).append(row)
    figure, panels = plt.subplots(2, len(tasks), figsize=(6 * len(tasks), 7), squeeze=False)
    for (above, below), (task, rows) in zip(panels.T, tasks.items()):
        draw_curves(above, rows)
        draw_points(below, rows)
        millions = rows[0]["parameters"] / 1e6
        above.set_title(f"{task}, {millions:.1f} M parameters, {rows[0]['ranks']} ranks, links: {runs[0]['link']}")
        for axes in (above, below):
            axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    results = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else results.with_suffix(".png")
    draw(json.loads(results.read_text())["runs"], out)
    print(f"{out}: losses and times")

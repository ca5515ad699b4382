#!/usr/bin/env python3
"""Draws what train.py measured, for each task: training loss over time, and held-out loss beside the time of a step.

picture.py RESULTS [-o PICTURE]
"""

import argparse
import json
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


def draw_curves(axes, job):
    for number, row in enumerate(job["results"]):
        width = 2.4 if row["variant"] == "plain" else 1.4
        axes.plot(*curve(row), color=color_of(row, number), linewidth=width, label=row["variant"])
    axes.set_xlabel("seconds")
    axes.set_ylabel(f"training loss (mean of {WINDOW} steps)")
    axes.legend(frameon=False, fontsize=8)


def draw_points(axes, job):
    plain = job["results"][0]["test_loss"]
    for number, row in enumerate(job["results"]):
        at = row["median_step_ms"], 100 * (row["test_loss"] / plain - 1)
        axes.plot(*at, "o", color=color_of(row, number))
        axes.annotate(row["variant"], at, xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.axhline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.margins(0.12)
    axes.set_xlabel("median time of a step, ms")
    axes.set_ylabel("held-out loss against plain, %")


def draw(results, path):
    figure, panels = plt.subplots(2, len(results["jobs"]), figsize=(6 * len(results["jobs"]), 7), squeeze=False)
    for (above, below), job in zip(panels.T, results["jobs"]):
        draw_curves(above, job)
        draw_points(below, job)
        millions = job["parameters"] / 1e6
        above.set_title(f"{job['task']}, {millions:.1f} M parameters, {results['ranks']} ranks, links: {results['link']}")
        for axes in (above, below):
            axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description="draws what train.py measured")
    parser.add_argument("results", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    path = options.output or options.results.with_suffix(".png")
    draw(json.loads(options.results.read_text()), path)
    print(f"{path}: losses and times")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the training loss over time of each variant from the results of train.py: picture.py RESULTS [-o PICTURE]."""

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


def draw(results, path):
    figure, panels = plt.subplots(1, len(results["jobs"]), figsize=(6 * len(results["jobs"]), 4), squeeze=False)
    for axes, job in zip(panels[0], results["jobs"]):
        for row in job["results"]:
            style = {"color": "#222222", "linewidth": 2.4} if row["variant"] == "plain" else {"linewidth": 1.4}
            axes.plot(*curve(row), label=f"{row['variant']}: {row['median_step_ms']:.0f} ms a step", **style)
        axes.set_title(f"{job['task']}, {job['parameters'] / 1e6:.1f} M parameters, {results['ranks']} ranks, links: {results['link']}")
        axes.set_xlabel("seconds")
        axes.set_ylabel(f"training loss (mean of {WINDOW} steps)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description="draws what train.py measured")
    parser.add_argument("results", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    path = options.output or options.results.with_suffix(".png")
    draw(json.loads(options.results.read_text()), path)
    print(f"{path}: loss over time")


if __name__ == "__main__":
    main()

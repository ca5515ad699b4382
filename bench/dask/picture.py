#!/usr/bin/env python3
"""Draws what transpose_sum.py measured: picture.py FIGURES.json... OUT.png

Left: throughput of x + x.T. Right: gain over the plain run, median and every pair of runs. FIGURES.json: one for each number
of workers and each link.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"plain": "0.6", "lossless": "tab:green"}  # a bound: blue


def group_of(row):
    where = "shared memory" if row["link"] == "none" else row["link"]
    return f"{row['workers']} workers\n{where}\n{row['data']}"


def bars_of(rows):
    """Returns, for each group, what its bars show: name, throughput, gain, gains of the pairs."""
    groups = {}
    for row in rows:
        bars = groups.setdefault(group_of(row), [("plain", row["plain_mb_s"], 1, [])])
        bars.append((row["bound"], row["taut_mb_s"], row["gain"], row["gains"]))
    return groups


def draw(axes, groups, gains_shown):
    """Draws a bar for each variant of each group: its gain, and that of every pair of runs, or its throughput."""
    named = set()
    for place, bars in enumerate(groups.values()):
        for number, (name, throughput, gain, gains) in enumerate(bars):
            at, top = place + 0.26 * (number - (len(bars) - 1) / 2), gain if gains_shown else throughput
            axes.bar(at, top, 0.24, color=COLOURS.get(name, "tab:blue"), label=None if name in named else name)
            foot = (at, 0) if gains_shown else (at, top)  # away from the points
            axes.annotate(f"{top:.3g}", foot, xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
            if gains_shown:
                axes.plot([at] * len(gains), gains, "k.", markersize=3)
            named.add(name)
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def main():
    *files, out = sys.argv[1:]
    groups = bars_of([row for file in files for run in json.loads(Path(file).read_text())["runs"] for row in run["rows"]])
    plot, (left, right) = plt.subplots(1, 2, figsize=(2 + 2.2 * len(groups), 4), layout="constrained")
    draw(left, groups, False)
    left.set_ylabel("throughput, MB/s")
    left.legend(fontsize=8, frameon=False)
    draw(right, groups, True)
    right.axhline(1, color="0.4", linewidth=0.8)
    right.set_ylabel("gain over plain: median, and all pairs of runs")
    plot.savefig(out, dpi=110)
    print(out)


if __name__ == "__main__":
    main()

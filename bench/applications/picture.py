#!/usr/bin/env python3
"""Draws what applications.py measured: picture.py FIGURES.json OUT.png

Left: the bytes that the compressed calls of each variant send, of those that they would send uncompressed. Right: the
differences of the observables to the bare run.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LEAST = 1e-13  # where equal results are drawn


def draw_bytes(axes, rows):
    sent = [row["sent_bytes"] / row["carried_bytes"] for row in rows]
    axes.barh(range(len(rows)), sent, color="tab:blue", height=0.5)
    for place, (share, row) in enumerate(zip(sent, rows, strict=True)):
        text = f" {row['sent_bytes'] / 1e6:.3g} of {row['carried_bytes'] / 1e6:.3g} MB"
        start, colour = (share, "k") if share < 0.6 else (0, "w")
        axes.text(start, place, text, va="center", fontsize=8, color=colour)
    axes.set_xlim(0, 1)
    axes.set_xlabel("bytes sent, of the uncompressed ones")


def draw_differences(axes, rows):
    names = list(rows[0]["differences"])
    for what, marker in zip(names, "osv^D", strict=False):
        shift = (names.index(what) - (len(names) - 1) / 2) * 0.2
        values = [max(row["differences"][what], LEAST) for row in rows]
        axes.plot(values, [place + shift for place in range(len(rows))], marker, label=what, alpha=0.8)
    axes.axvline(LEAST, color="0.7", zorder=0)
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 4, 1)
    axes.set_xlabel("difference to the bare run, relative (grey line: none)")
    axes.legend(fontsize=8, loc="upper right")


def main():
    (figures,) = json.loads(Path(sys.argv[1]).read_text())["runs"]
    rows = [row for row in figures["rows"] if row["carried_bytes"]]  # others compressed nothing
    plot, (left, right) = plt.subplots(1, 2, figsize=(9, 1.2 + 0.5 * len(rows)), sharey=True, layout="constrained")
    draw_bytes(left, rows)
    draw_differences(right, rows)
    left.set_yticks(range(len(rows)), [row["name"] for row in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    failed = ", ".join(figures["failed"])
    left.set_title(figures["program"] + (f"; fails under {failed}" if failed else ""), fontsize=9, loc="left")
    plot.savefig(sys.argv[2], dpi=110)
    print(sys.argv[2])


if __name__ == "__main__":
    main()

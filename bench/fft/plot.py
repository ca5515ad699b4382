#!/usr/bin/env python3
"""Draws what libraries.py measured: plot.py FIGURES.json OUT.png

For each array: the error of the transform against the bytes that the busiest host sent, and against the time.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

KINDS = [  # lines of a picture: name in the legend, colour, marker, true for the rows on the line
    ("mpi4py-fft, Taut", "tab:blue", "o", lambda row: row["library"] == "mpi4py-fft"),
    ("dtFFT, Taut", "tab:green", "s", lambda row: row["library"] == "dtfft" and row["policy"]),
    ("dtFFT, its own zfp", "tab:red", "^", lambda row: row["library"] == "dtfft" and not row["policy"]),
]


def draw(axes, rows, across, unit):
    for name, colour, marker, chosen in KINDS:
        mine = [row for row in rows if chosen(row) and row["error"] > 0 and "when=always" in (row["policy"] or "when=always")]
        fixed = [row for row in mine if row["variant"].startswith("rate")]
        line = sorted((row for row in mine if row not in fixed), key=lambda row: row["error"])
        axes.plot([row[across] * unit for row in line], [row["error"] for row in line], marker=marker, color=colour, label=name)
        for row in fixed:
            axes.plot(row[across] * unit, row["error"], marker, color=colour, fillstyle="none")
            axes.annotate(row["variant"], (row[across] * unit, row["error"]), xytext=(5, 3), textcoords="offset points", fontsize=7)
    axes.axvline(min(row["plain_" + {"sent": "sent", "seconds": "s"}[across]] for row in rows) * unit, color="0.7", zorder=0)
    axes.set_yscale("log")
    axes.set_xlim(left=0)


def main():
    figures, out = [row for run in json.loads(Path(sys.argv[1]).read_text())["runs"] for row in run["rows"]], sys.argv[2]
    arrays = list(dict.fromkeys(row["data"] for row in figures))
    plot, grid = plt.subplots(len(arrays), 2, figsize=(9, 3.2 * len(arrays)), layout="constrained", squeeze=False, sharey=True)
    for line, data in zip(grid, arrays, strict=True):
        rows = [row for row in figures if row["data"] == data]
        draw(line[0], rows, "sent", 1e-6)
        draw(line[1], rows, "seconds", 1e3)
        line[0].set_ylabel(f"{data}\nerror of the transform")
    grid[0][0].legend(fontsize=8)
    grid[-1][0].set_xlabel("sent by the busiest host (MB); grey: uncompressed")
    grid[-1][1].set_xlabel("time of a transform (ms); grey: fastest uncompressed")
    plot.savefig(out, dpi=110)
    print(out)


if __name__ == "__main__":
    main()

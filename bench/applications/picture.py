#!/usr/bin/env python3
"""Draws what compare.py measured: picture.py FIGURES.json OUT.png

For each variant: the differences of the observables to the bare run, against the bytes that its compressed calls sent.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LEAST = 1e-12  # where equal results are drawn


def main():
    figures = json.loads(Path(sys.argv[1]).read_text())
    rows = [row for row in figures["rows"] if row["sent_bytes"]]
    plot, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for what, marker in zip(rows[0]["differences"], "osv^D", strict=False):
        heights = [max(row["differences"][what], LEAST) for row in rows]
        axes.plot([row["sent_bytes"] * 1e-6 for row in rows], heights, marker, label=what, alpha=0.75)
    for row in rows:
        axes.annotate(row["name"], (row["sent_bytes"] * 1e-6, 1), xycoords=("data", "axes fraction"), rotation=45, fontsize=8)
    axes.axvline(max(row["carried_bytes"] for row in rows) * 1e-6, color="0.7", zorder=0)
    axes.set_yscale("log")
    axes.set_ylim(LEAST / 2, None)
    axes.set_xlim(0, None)
    axes.set_xlabel("sent by the compressed calls of both ranks (MB); grey: uncompressed")
    axes.set_ylabel("difference to the bare run\n(at the bottom: none)")
    axes.legend(fontsize=8)
    failed = ", ".join(figures["failed"])
    axes.set_title(figures["program"] + (f"; fails under {failed}" if failed else ""), fontsize=9, loc="left", pad=38)
    plot.savefig(sys.argv[2], dpi=110)
    print(sys.argv[2])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the waves of a run: plot.py [FOLDER [VARIANT]]

Reads report.json, seismograms and slices that wave3d left in FOLDER (default wave3d-out) and writes there
  waves.png     a vertical slice of vx and a seismogram, by plain MPI and by VARIANT (default abs:5e-5), and the differences
  variants.png  halo time of every variant against the misfit of its seismograms
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

TIME_STEP = 0.45  # in cells at the greatest speed


class Run:
    def __init__(self, folder):
        self.folder = Path(folder)
        report = json.loads((self.folder / "report.json").read_text())
        self.report = report["runs"][0] if "runs" in report else report  # with the record of tools/example.sh, or without
        self.rows = {row["name"]: row for row in self.report["rows"]}

    def values(self, name, what, shape):
        return np.fromfile(self.folder / f"{self.rows[name]['file']}.{what}.f32", "<f4").reshape(shape)

    def slice(self, name):
        return self.values(name, "slice", (self.report["cells"][2], self.report["cells"][0]))

    def seismograms(self, name):
        return self.values(name, "seismograms", (self.report["stations"], 3, self.report["steps"]))

    def save(self, figure, name):
        figure.savefig(self.folder / name, dpi=110)
        plt.close(figure)
        print(self.folder / name)


def show_slice(axes, values, clip, title):
    drawn = axes.imshow(values, cmap="RdBu_r", vmin=-clip, vmax=clip, aspect="equal")
    axes.figure.colorbar(drawn, ax=axes, pad=0.01, fraction=0.03).formatter.set_powerlimits((-2, 3))
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_ylabel("depth (cells)")


def loudest(seismograms):
    """Returns the indices of the station and component with the greatest peak."""
    return np.unravel_index(np.abs(seismograms).max(axis=2).argmax(), seismograms.shape[:2])


def waves(run, name):
    row, plain, taut = run.rows[name], run.slice("plain"), run.slice(name)
    figure = plt.figure(figsize=(13, 6.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[4, 5])
    axes = [*left.subplots(3, 1, sharex=True), *right.subplots(2, 1, sharex=True)]
    clip = float(np.percentile(np.abs(plain), 99.5)) or 1.0
    error = float(np.abs(taut - plain).max()) or 1.0
    show_slice(axes[0], plain, clip, f"vx in the plane of the source, step {run.report['slice_step']}: plain MPI")
    show_slice(axes[1], taut, clip, f"{name}: {row['ratio']:.1f} times fewer bytes in the halos")
    show_slice(axes[2], taut - plain, error, "difference")
    axes[2].set_xlabel("x (cells)")
    reference, coded = run.seismograms("plain"), run.seismograms(name)
    station, component = loudest(reference)
    time = np.arange(run.report["steps"]) * TIME_STEP
    axes[3].plot(time, reference[station, component], "0.6", linewidth=2.5, label="plain MPI")
    axes[3].plot(time, coded[station, component], "tab:red", linewidth=0.8, label=name)
    axes[3].set_title(f"v{'xyz'[component]} at station {station}; misfit of all seismograms {row['misfit']:.1e}",
                      fontsize=9, loc="left")  # fmt: skip
    axes[3].legend(fontsize=8)
    axes[4].plot(time, (coded - reference)[station, component], "tab:red", linewidth=0.8)
    axes[4].set_title("difference", fontsize=9, loc="left")
    axes[4].set_xlabel("time (cells at the greatest speed)")
    run.save(figure, "waves.png")


def family(name):
    return name.partition(":")[0].partition("/")[0]


def variants(run):
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    colours = dict(zip(["plain", "lossless", "rate", "abs", "rel"], ["0.4", "tab:green", "tab:orange", "tab:blue", "tab:purple"]))
    least = 1e-7  # where variants without any difference are drawn
    for number, (name, row) in enumerate(run.rows.items()):
        marker = "s" if row["way"] == "collective" else "o"
        place = (max(row["misfit"], least), row["halo_ms"])
        axes.plot(*place, marker, color=colours.get(family(name), "k"))
        axes.annotate(name, place, xytext=(5, 4 if number % 2 == 0 else -10), textcoords="offset points", fontsize=7)
    axes.axhline(run.rows["plain"]["halo_ms"], color="0.8", zorder=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.margins(0.12)
    axes.set_xlabel(f"misfit of the seismograms after {run.report['steps']} steps (at the left end: the same bits)")
    axes.set_ylabel("halo time a step (ms), median")
    axes.set_title(f"{run.report['link'] or 'network as it is'}; squares: neighbourhood collective", fontsize=9, loc="left")
    run.save(figure, "variants.png")


def main():
    run = Run(sys.argv[1] if len(sys.argv) > 1 else "wave3d-out")
    chosen = sys.argv[2] if len(sys.argv) > 2 else "abs:5e-5"
    waves(run, chosen if chosen in run.rows else list(run.rows)[-1])
    variants(run)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the waves of a run: plot.py [FOLDER [VARIANT]]; plot.py REPORT.json PICTURE.svg draws its variants alone.

Reads report.json, seismograms and slices that wave3d left in FOLDER (default wave3d-out) and writes there
  waves.png     a vertical slice of vx and a seismogram, by plain MPI and by VARIANT (default abs:5e-5), and the differences
  variants.svg  halo time of every variant, with the misfit of its seismograms
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from chart import bars  # noqa: E402

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
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

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


def variants(report):
    """Returns the picture of the halo times of a run."""
    colours = {"plain": 5, "lossless": 2, "rate": 1}
    rows = [
        (row["name"], row["halo_ms"], f"{row['halo_ms']:.1f} ms" + (f", misfit {row['misfit']:.1e}" if row["misfit"] else ", same bits" * (row["name"] != "plain")),
         colours.get(row["name"].partition(":")[0].partition("/")[0], 0))
        for row in report["rows"]
    ]  # fmt: skip
    cells = " x ".join(map(str, report["cells"]))
    title = f"Elastic waves, {cells} cells, {report['steps']} steps"
    return bars(title, [(f"Median halo time of a step; {(report['link'] or 'network as it is').replace('gbit', ' Gbit/s')}", rows)])


def main():
    place = sys.argv[1] if len(sys.argv) > 1 else "wave3d-out"
    if place.endswith(".json"):
        Path(sys.argv[2]).write_text(variants(json.loads(Path(place).read_text())["runs"][0]))
        return
    run = Run(place)
    chosen = sys.argv[2] if len(sys.argv) > 2 else "abs:5e-5"
    waves(run, chosen if chosen in run.rows else list(run.rows)[-1])
    (run.folder / "variants.svg").write_text(variants(run.report))
    print(run.folder / "variants.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws the waves of a run: plot.py [FOLDER [VARIANT]]; plot.py REPORT.json PICTURE.svg draws its variants alone.

Reads report.json, seismograms and slices that wave3d left in FOLDER (default wave3d-out) and writes there
  waves.svg     a vertical slice of vx and a seismogram, by plain MPI and by VARIANT (default abs:5e-5), and the differences
  variants.svg  halo time of every variant, with the misfit of its seismograms
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "python/taut")]
from _charts import picture  # noqa: E402
from chart import Panel, Series, bars, chart  # noqa: E402

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

    def save(self, picture, name):
        (self.folder / name).write_text(picture)
        print(self.folder / name)


def field(values, clip, words):
    """Returns a slice as a part of a picture: blue is -clip, red is clip."""
    return f"{words}; blue to red: ±{clip:.1g}", picture(values, -clip, clip, signed=True), values.shape[0] / values.shape[1]


def loudest(seismograms):
    """Returns the indices of the station and component with the greatest peak."""
    return np.unravel_index(np.abs(seismograms).max(axis=2).argmax(), seismograms.shape[:2])


def waves(run, name):
    """Returns the picture of the slices and the seismogram of the loudest station."""
    row, plain, taut = run.rows[name], run.slice("plain"), run.slice(name)
    clip = float(np.percentile(np.abs(plain), 99.5)) or 1.0
    error = float(np.abs(taut - plain).max()) or 1.0
    fields = [
        field(plain, clip, f"vx, step {run.report['slice_step']}, plain MPI"),
        field(taut, clip, f"{name}, halos {row['ratio']:.1f} times smaller"),
        field(taut - plain, error, "difference"),
    ]
    reference, coded = run.seismograms("plain"), run.seismograms(name)
    station, component = loudest(reference)

    def line(named, values, colour, every, **look):
        points = list(enumerate(values[station, component]))[::every]
        return Series(named, [(step * TIME_STEP, float(value)) for step, value in points], colour, **look)

    def panel(title, *lines):
        return Panel(title, "time (cells at the greatest speed)", f"v{'xyz'[component]}", list(lines), log=(False, False))

    both = line("plain MPI", reference, 5, 20, joined=False, hollow=True), line(name, coded, 0, 2, dotted=False)
    panels = [
        panel(f"Station {station}; misfit of all seismograms {row['misfit']:.1e}", *both),
        panel("Difference", line("difference", coded - reference, 1, 2, dotted=False)),
    ]
    return chart("Waves by plain MPI and under a bound", panels, fields)


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
    run.save(waves(run, chosen if chosen in run.rows else list(run.rows)[-1]), "waves.svg")
    run.save(variants(run.report), "variants.svg")


if __name__ == "__main__":
    main()

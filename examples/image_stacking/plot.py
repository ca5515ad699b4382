#!/usr/bin/env python3
"""Draws pictures of a stack: plot.py [DIRECTORY]

Reads report.json and the raw images that image_stacking left in DIRECTORY (default demo-out) and writes there
  overview.png               the velocity model, the migrated section, some offset gathers (migration only)
  <variant>-<bound>.png      plain MPI, Taut, and their difference
  gains.png                  bytes sent and time of every variant
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

SECTION_WIDTH_KM = 5.0


class Report:
    def __init__(self, directory):
        self.directory = Path(directory)
        self.content = json.loads((self.directory / "report.json").read_text())
        self.rows = self.content["rows"]
        self.pictures = {picture["name"]: picture for picture in self.content["pictures"]}
        self.dtype = {"f32": "<f4", "f64": "<f8"}[self.content["dtype"]]
        self.migrated = "velocity" in self.pictures

    def image(self, name):
        picture = self.pictures[name]
        values = np.fromfile(self.directory / picture["file"], self.dtype)
        return values.reshape(picture["rows"], picture["columns"])

    def save(self, figure, name):
        path = self.directory / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        print(path)


def percent(share):
    return f"{100 * share:.2g} %"


def extent(image):
    """Returns the extent of an image in kilometres for a migrated section, whose cells are square."""
    rows, columns = image.shape
    spacing = SECTION_WIDTH_KM / (columns - 1)
    return [0, SECTION_WIDTH_KM, (rows - 1) * spacing, 0]


def show(report, axes, image, title, colours, limits):
    """Draws one panel with a colour bar; a single row of values becomes a curve."""
    axes.set_title(title, fontsize=10, loc="left")
    if image.shape[0] == 1:
        axes.plot(image[0], linewidth=0.5)
        axes.set_ylim(*limits)
        return
    place = {"extent": extent(image)} if report.migrated else {}
    aspect = "equal" if image.shape[0] > 0.6 * image.shape[1] else "auto"
    drawn = axes.imshow(image, cmap=colours, vmin=limits[0], vmax=limits[1], aspect=aspect, **place)
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.01, fraction=0.03)
    bar.formatter.set_powerlimits((-3, 4))
    if report.migrated:
        axes.set_ylabel("depth (km)")


def limits_of(report, image):
    finite = image[np.isfinite(image)]
    if report.migrated:  # clip as is usual for seismic sections: strong reflectors saturate, weak ones are visible
        clip = float(np.percentile(np.abs(finite), 98.5)) or 1.0
        return -clip, clip
    low, high = (float(end) for end in np.percentile(finite, [0.5, 99.5]))
    return (low, high) if low < high else (low, low + 1)


def compare(report, row):
    plain, taut = report.image("plain"), report.image(row["label"])
    with np.errstate(invalid="ignore"):  # the user's data may contain infinities
        difference = np.subtract(taut, plain, dtype=np.float64)
    colours = "gray" if report.migrated else "viridis"
    limits = limits_of(report, plain)
    square = plain.shape[0] > 0.6 * plain.shape[1]  # square panels are placed side by side, others one above the other
    figure, axes = plt.subplots(
        *((1, 3) if square else (3, 1)), figsize=(16, 5.8) if square else (10, 10.5), sharex=True, layout="constrained"
    )
    what = report.content["what"].split(":")[0] + ", section at offset 0" if report.migrated else report.content["what"]
    figure.suptitle(f"{what}; stacked over {report.content['ranks']} ranks", fontsize=11)
    line = "\n" if square else ", "
    how = {"frames": "sums of encoded data", "values": "decode, operate, encode"}.get(row["name"], row["policy"])
    sent = f"ratio {row['ratio']:.1f}" if row["compressed"] else "went plain"
    worst = row["max_error"] / report.content["range"]
    psnr = "inf" if row["psnr"] is None else f"{row['psnr']:.1f}"
    scale, scaled = (row["bound"], "bound") if row["bound"] else (row["max_error"] or 1, "largest error")
    bound = f"bound {row['bound']:.3g} = {percent(row['relative_bound'])} of the range" if row["bound"] else "no bound checked"
    error = f"largest error {row['max_error']:.3g} = {percent(worst)} of the range"
    show(report, axes[0], plain, "plain MPI_Allreduce", colours, limits)
    show(report, axes[1], taut, f"TAUT_Allreduce ({how}){line}{bound}, {sent}", colours, limits)
    show(report, axes[2], difference, f"difference on a scale of +-{scaled}{line}{error}, PSNR {psnr} dB", "RdBu_r",
         (-scale, scale))  # fmt: skip
    if report.migrated:
        axes[2].set_xlabel("distance (km)")
    report.save(figure, row["label"])


def overview(report):
    velocity, section = report.image("velocity"), report.image("plain")
    volume = report.image("volume").reshape(report.content["shape"])
    figure, axes = plt.subplots(3, 1, figsize=(10, 10.5), layout="constrained")
    show(
        report, axes[0], velocity, "velocity model (m/s): gas in an anticline, a fault, a lens", "viridis", (1500, 4000)
    )
    show(report, axes[1], section, "reverse-time migrated section, plain stack", "gray", limits_of(report, section))
    axes[1].set_xlabel("distance (km)")
    offsets, depths, columns = volume.shape
    spacing = SECTION_WIDTH_KM / (columns - 1)
    places = np.linspace(0.1, 0.9, 9)
    gathers = [volume[:, :, int(place * (columns - 1))].T for place in places]
    clip = limits_of(report, section)
    drawn = axes[2].imshow(np.concatenate(gathers, axis=1), cmap="gray", vmin=clip[0], vmax=clip[1], aspect="auto",
                           extent=[0, len(places), (depths - 1) * spacing, 0])  # fmt: skip
    figure.colorbar(drawn, ax=axes[2], pad=0.01, fraction=0.03)
    for k in range(1, len(places)):
        axes[2].axvline(k, color="white", linewidth=1)
    axes[2].set_xticks(np.arange(len(places)) + 0.5, [f"{place * SECTION_WIDTH_KM:.1f}" for place in places])
    axes[2].set_xlabel("distance (km)")
    axes[2].set_ylabel("depth (km)")
    reach = offsets // 2 * spacing * 1000
    axes[2].set_title(
        f"subsurface offset gathers, {-reach:.0f} to {reach:.0f} m: energy at the middle means a right velocity",
        fontsize=10,
        loc="left",
    )
    report.save(figure, "overview")


def gains(report):
    rows = report.rows
    names = [f"{row['name']}\n{percent(row['relative_bound'])}" if row["relative_bound"] else row["name"] for row in rows]
    colours = ["0.6" if not row["policy"] else "tab:blue" if row["name"] == "values" else "tab:orange" for row in rows]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    figure.suptitle(
        f"{report.content['bytes'] / 1e6:.1f} MB a rank, {report.content['ranks']} ranks over {report.content['link']},"
        f" {report.content['mpi']}",
        fontsize=10,
    )
    bytes_sent = axes[0].bar(names, [row["wire_bytes"] / 1e6 for row in rows], color=colours)
    axes[0].bar_label(bytes_sent, fmt="%.1f", fontsize=8)
    axes[0].set_ylabel("sent by a rank (MB); plain: ideal ring")
    time = axes[1].bar(names, [row["seconds"] * 1e3 for row in rows], color=colours)
    times = [f"{row['seconds'] * 1e3:.0f}" + (f"\n({row['speedup']:.1f}x)" if row["policy"] else "") for row in rows]
    axes[1].bar_label(time, times, fontsize=8)
    axes[1].set_ylabel("time (ms), median (speed-up)")
    for one in axes:
        one.margins(y=0.12)
        one.tick_params(axis="x", labelsize=8)
    report.save(figure, "gains")


def main():
    report = Report(sys.argv[1] if len(sys.argv) > 1 else "demo-out")
    if report.migrated:
        overview(report)
    for row in report.rows:
        if row["policy"]:
            compare(report, row)
    gains(report)


if __name__ == "__main__":
    main()

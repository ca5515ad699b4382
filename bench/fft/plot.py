#!/usr/bin/env python3
"""Draws what libraries.py measured of the turbulence: plot.py FIGURES.json PICTURE.svg

The error of the transform against the bytes that the busiest host sent, and against the time.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import Panel, Series, chart  # noqa: E402

KINDS = [  # lines of a plot: name, which points have it (in the plots of bytes and of time), colour, true for its rows
    ("mpi4py-fft, Taut", (0, 2), 0, lambda row: row["library"] == "mpi4py-fft"),
    ("dtFFT, Taut", (2, 2), 2, lambda row: row["library"] == "dtfft" and row["policy"]),
    ("dtFFT, own zfp", (1, 1), 1, lambda row: row["library"] == "dtfft" and not row["policy"]),
]


def drawn(row):
    """Tells whether the row is a point: within a bound, in every call."""
    return row["error"] > 0 and not row["variant"].startswith("rate") and "when=always" in (row["policy"] or "when=always")


def lines(rows, key, unit):
    made = []
    for name, at, colour, chosen in KINDS:
        points = [(row[key] * unit, row["error"]) for row in rows if chosen(row) and drawn(row)]
        points.sort(key=lambda point: -point[1])
        made.append(Series("", points, colour, tuple(name * (k == at[key == "seconds"]) for k in range(len(points))), hollow=not colour))
    return made


def picture(runs):
    rows = [row for run in runs for row in run["rows"] if row["data"] == "turbulence"]
    plain = min(row["plain_sent"] for row in rows) * 1e-6
    times = {library: min(row["plain_s"] for row in rows if row["library"] == library) * 1e3 for library in ("mpi4py-fft", "dtfft")}
    about = f"{rows[0]['shape'].replace('x', ' x ')}, {rows[0]['ranks']} hosts, {rows[0]['link'].replace('gbit', ' Gbit/s')}"
    title = f"Transform of turbulence, {about}"
    return chart(title, [
        Panel(title, "sent by the busiest host, MB", "error of the transform", lines(rows, "sent", 1e-6), (False, True),
              uprights=[(plain, "plain", 5)]),
        Panel("The same transforms: time", "time of a transform, ms", "error of the transform", lines(rows, "seconds", 1e3), (False, True),
              uprights=[(times["mpi4py-fft"], "mpi4py-fft, plain", 0), (times["dtfft"], "dtFFT, plain", 2)]),
    ])  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())["runs"]))

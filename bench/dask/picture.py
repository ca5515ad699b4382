#!/usr/bin/env python3
"""Draws what transpose_sum.py measured over links: picture.py FIGURES.json... PICTURE.svg

A group of bars for each number of workers and each link: throughput of x + x.T, and the gain over the plain run, as the median
and the range of the pairs of runs. Shown are the greatest matrices of the files.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import bars  # noqa: E402

COLOURS = {"plain": 5, "lossless": 2}  # a bound: 0


def heading(row):
    return f"{row['workers']} workers, {row['link'].replace('gbit', ' Gbit/s').replace('mbit', ' Mbit/s')}"


def words(row):
    return f"{row['taut_mb_s']:.0f} MB/s, gain {row['gain']:.2f} ({min(row['gains']):.2f} to {max(row['gains']):.2f})"


def picture(runs):
    rows = [row for run in runs for row in run["rows"] if row["link"] != "none"]
    size = max(row["mbytes"] for row in rows)
    groups = {}
    for row in (row for row in rows if row["mbytes"] == size):
        group = groups.setdefault(heading(row), [("plain", row["plain_mb_s"], f"{row['plain_mb_s']:.0f} MB/s", COLOURS["plain"])])
        group.append((row["bound"], row["taut_mb_s"], words(row), COLOURS.get(row["bound"], 0)))
    return bars("Throughput of x + x.T", list(groups.items()))


if __name__ == "__main__":
    *files, out = map(Path, sys.argv[1:])
    out.write_text(picture([run for file in files for run in json.loads(file.read_text())["runs"]]))
    print(out)

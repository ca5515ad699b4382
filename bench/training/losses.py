#!/usr/bin/env python3
"""Draws the losses of examples/python/training.py: losses.py RESULTS PICTURE.svg

RESULTS: bench/report.py training-out/training.json mpiexec -n 4 python examples/python/training.py
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import Panel, Series, chart  # noqa: E402

STEPS = 20  # of which a point is the mean
COLOURS = {"plain MPI": 5, "Taut, error feedback": 0}


def means(losses):
    ends = range(STEPS, len(losses) + 1, STEPS)
    return [(end, sum(losses[end - STEPS : end]) / STEPS) for end in ends]


def picture(run):
    lines = []
    for row in run["rows"]:
        plain = row["name"] == "plain MPI"  # circles, inside of which the equal points of the others are seen
        lines.append(Series(row["name"].replace("Taut, ", ""), means(row["losses"]), COLOURS.get(row["name"], 1), joined=not plain, hollow=plain))
    title = "Loss of a small network, gradients within 0.04"
    return chart(title, [Panel(title, "step", f"loss, mean of {STEPS} steps", lines, log=(False, False))])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())["runs"][0]))

#!/usr/bin/env python3
"""Draws what train.py measured: for each task the held-out loss against plain DDP's, beside the time of a step; or the losses of
several seeds against time.

picture.py RESULTS PICTURE.svg
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import Panel, Series, chart  # noqa: E402

NAMES = {"plain": "plain DDP", "exponents": "bf16 by exponents", "fp16": "fp16 hook", "bf16": "bf16 hook"}


def name_of(variant):
    kind, _, number = variant.partition(":")
    return {"taut": f"Taut, bound {number}", "powersgd": f"PowerSGD, rank {number}"}.get(kind) or NAMES.get(variant, variant)


def colour_of(variant):
    kind = variant.partition(":")[0]
    return {"taut": 0, "powersgd": 1, "plain": 5}.get(kind, 2)


def panel(task, rows, link):
    plain = next(row["test_loss"] for row in rows if row["variant"] == "plain")
    dots = [
        Series("", [(row["median_step_ms"], 100 * (row["test_loss"] / plain - 1))], colour_of(row["variant"]), (name_of(row["variant"]),), joined=False)
        for row in rows
    ]
    title = f"{task}, {rows[0]['parameters'] / 1e6:.1f} M parameters, {rows[0]['ranks']} ranks, {link}"
    return Panel(title, "median time of a step, ms", "held-out loss, % over plain", dots, log=(False, False), level=(0.0, ""))


def curves(task, rows, link):
    """Returns the losses of several seeds against time. The first part of each run, whose loss is far above, is left out."""
    lines = [
        Series(name_of(row["variant"]), list(zip(row["losses_seconds"], row["losses"]))[1:], colour, band=tuple(row["losses_deviations"][1:]))
        for colour, row in zip((5, 2, 1, 0, 3, 4), rows)
    ]
    title = f"{task}, {rows[0]['parameters'] / 1e6:.1f} M parameters, {rows[0]['ranks']} ranks, {link}, {len(rows[0]['test_losses'])} seeds"
    return Panel(title, "seconds of training", "loss, mean of 25 steps", lines, log=(False, False))


def picture(runs):
    tasks = {}
    for run in runs:
        for row in run["rows"]:
            tasks.setdefault((row["task"], run["link"]), []).append(row)
    names = {"cnn": "CNN", "1gbit": "1 Gbit/s"}
    panels = [
        (curves if "losses_seconds" in rows[0] else panel)(names.get(task, task.capitalize()), rows, names.get(link, link))
        for (task, link), rows in tasks.items()
    ]
    return chart("Loss and time of training by DDP, by how gradients are sent", panels)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())["runs"]))

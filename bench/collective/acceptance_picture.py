#!/usr/bin/env python3
"""Draws bytes and time of an allreduce, plain MPI against Taut, from the results of link_acceptance.py.

  acceptance_picture.py [RESULTS] [-o PICTURE]

Without arguments it draws docs/pictures/acceptance.svg from bench/results/zen5-2-core/link_acceptance.json.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import report  # noqa: E402
from chart import bars, number  # noqa: E402

RESULTS = ROOT / "bench/results/zen5-2-core/link_acceptance.json"
PICTURE = ROOT / "docs/pictures/acceptance.svg"
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}


def groups(results):
    """Returns the groups of bars: bytes and times."""
    million = float(results["size"].removesuffix("MB"))
    sent = [("plain MPI", million, 5), ("Taut", results["rows"][0]["sent_bytes"] / 1e6, 0)]
    times = []
    for job in results["rows"]:
        name = NAMES[job["job"]]
        times += [(f"plain {name}", job["plain_ms"][0], 5), (f"{name} with Taut", job["taut_ms"][0], 0)]
    shown = {"Sent by each rank": ("MB", sent), "Time of one call": ("ms", times)}
    return [
        (heading, [(label, value, f"{value:.{1 if value < 10 else 0}f} {unit}", colour) for label, value, colour in rows])
        for heading, (unit, rows) in shown.items()
    ]


def picture(results):
    return bars(
        f"Allreduce of {results['size'].removesuffix('MB')} MB of float32, {results['ranks']} hosts, "
        f"{results['mbit'] / 1000:g} Gbit/s, error at most {number(results['bound'])}",
        groups(results),
    )


def main():
    parser = argparse.ArgumentParser(description="draws what link_acceptance.py measured")
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("-o", "--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    options.output.write_text(picture(report.only_run(options.results)))


if __name__ == "__main__":
    main()

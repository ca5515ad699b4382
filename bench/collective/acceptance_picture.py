#!/usr/bin/env python3
"""Draws bytes and time of an allreduce, plain MPI against Taut, from the results of link_acceptance.py.

  acceptance_picture.py [RESULTS] [-o PICTURE]

Without arguments it draws docs/pictures/acceptance.svg from bench/results/zen5-2-core/link_acceptance.json.
"""

import argparse
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import report  # noqa: E402

RESULTS = ROOT / "bench/results/zen5-2-core/link_acceptance.json"
PICTURE = ROOT / "docs/pictures/acceptance.svg"
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
PLAIN, TAUT = "#9aa5b1", "#1f6fb2"
WIDTH, LEFT, FULL, STEP, BAR = 720, 170, 430, 30, 20


def panels(results):
    """Returns (title, [(label, value, colour)]) for bytes and for time."""
    million = float(results["size"].removesuffix("MB"))
    sent = results["rows"][0]["sent_bytes"] / 1e6
    times = []
    for job in results["rows"]:
        name = job["job"]
        times.append((f"plain {NAMES[name]}", job["plain_ms"][0], PLAIN))
        times.append((f"{NAMES[name]} with Taut", job["taut_ms"][0], TAUT))
    yield "Sent by each rank, MB", [("plain MPI", million, PLAIN), ("Taut", sent, TAUT)]
    yield "Time of one call, ms", times


def bars(title, rows, top):
    """Returns the SVG elements of one panel whose upper edge is at height `top`, and the height below the
    panel."""
    made = [f'<text x="20" y="{top}" font-weight="bold">{escape(title)}</text>']
    greatest = max(value for _, value, _ in rows)
    for number, (label, value, colour) in enumerate(rows):
        y, length = top + 12 + number * STEP, FULL * value / greatest
        made.append(f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(label)}</text>')
        made.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>')
        made.append(f'<text x="{LEFT + length + 8:.1f}" y="{y + 15}">{value:.{1 if value < 10 else 0}f}</text>')
    return made, top + 12 + len(rows) * STEP + 28


def picture(results):
    heading = (f"Allreduce of {results['size'].removesuffix('MB')} MB of float32, {results['ranks']} hosts, "
               f"{results['mbit'] / 1000:g} Gbit/s links, error at most {results['bound']:g}")  # fmt: skip
    made, top = [f'<text x="20" y="30" font-size="16">{escape(heading)}</text>'], 66
    for title, rows in panels(results):
        elements, top = bars(title, rows, top)
        made += elements
    top -= 16
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" font-family="sans-serif" font-size="14">',
        f"  <title>{escape(heading)}: bytes and time, plain MPI against Taut</title>",
        f'  <rect width="{WIDTH}" height="{top}" fill="#fff"/>',
        *(f"  {element}" for element in made),
        "</svg>\n",
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description="draws what link_acceptance.py measured")
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("-o", "--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    options.output.write_text(picture(report.only_run(options.results)))


if __name__ == "__main__":
    main()

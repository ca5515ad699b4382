#!/usr/bin/env python3
"""Kernel times of GPUs as a table of src/communication/policy/plan/kernel_times.inc: a fixed latency and seconds a byte of values.

  kernel_times.py                      writes the table from the committed measurements (bench/results/h100, h200)
  kernel_times.py CARD kernels.json    prints the rows of a card, from what `check.sh kernels` has written

A time is `fixed + bytes * a_byte`, fitted to all measured sizes by the least relative error; --errors prints how far the
measured times are from it. Times are those of kernels alone: small ones were timed in a graph, without their launches.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "src/communication/policy/plan/kernel_times.inc"
CARDS = {
    "H100": "bench/results/h100/kernels.json",
    "H200": "bench/results/h200/kernels.json",
}  # the first one is the default
DATA = {
    "walk, ratio 8": 8.0,
    "walk abs:1e-2": 4.92,
    "walk abs:1e-3": 3.36,
}  # data of the measurement: ratio of its frames
REFERENCE = "walk, ratio 8"  # the data with all kernels
HEAD = """// Kernel times of GPUs. Written by tools/gpu/kernel_times.py from the kernels that were timed on these cards; not
// to be edited. {card, ratio, {seconds, seconds a byte of values} of encode, decode, decode_add, a sum of two
// frames, each further frame of a sum, accumulate}
"""


def rows_of(path):
    """Returns the rows of a committed report, or of the lines that check.sh writes."""
    text = Path(path).read_text()
    lines = (
        [json.loads(line) for line in text.splitlines()]
        if not text.startswith('{\n"runs"')
        else json.loads(text)["runs"][0]["rows"]
    )
    return [
        row
        for row in lines
        if row.get("part", "kernels") == "kernels" and "median_us" in row
    ]


def times(rows, bench):
    """Returns {bytes: seconds} of a kernel."""
    return {
        row["bytes"]: row["median_us"] * 1e-6 for row in rows if row["bench"] == bench
    }


def fit(measured):
    """Returns (fixed, a_byte), by least squares of the relative errors."""
    weights = [(1 / t, size / t) for size, t in measured.items()]
    aa, ab, bb = (
        sum(one[i] * one[j] for one in weights) for i, j in ((0, 0), (0, 1), (1, 1))
    )
    a, b = (sum(one[i] for one in weights) for i in (0, 1))
    determinant = aa * bb - ab * ab
    return (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant


def kernels_of(rows, data):
    """Yields the measured times of the kernels of a row of the table; those that were not timed on this data are the reference's."""
    for name in ("encode", "decode", "decode_add", "frame_add"):
        yield name, times(rows, f"{name} {data}")
    two, eight = (
        times(rows, f"frame_add {REFERENCE}"),
        times(rows, f"frame_add of 8 {REFERENCE}"),
    )
    yield "further frame", {size: (eight[size] - two[size]) / 6 for size in eight}
    yield "accumulate", times(rows, f"accumulate {REFERENCE}")


def table(card, rows):
    for data, ratio in DATA.items():
        if times(rows, f"encode {data}"):
            pairs = ", ".join(
                "{{{:.3g}, {:.3g}}}".format(*fit(measured))
                for _, measured in kernels_of(rows, data)
            )
            yield f'{{"{card}", {ratio:g}, {pairs}}},'


def errors(rows):
    """Yields (kernel, data, bytes, fitted time over measured time)."""
    for data in DATA:
        for name, measured in (
            kernels_of(rows, data) if times(rows, f"encode {data}") else ()
        ):
            fixed, a_byte = fit(measured)
            for size, t in measured.items():
                yield name, data, size, (fixed + a_byte * size) / t


def text():
    return HEAD + "".join(
        f"{line}\n"
        for card, path in CARDS.items()
        for line in table(card, rows_of(ROOT / path))
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--errors"]:
        for card, path in CARDS.items():
            for name, data, size, off in errors(rows_of(ROOT / path)):
                print(f"{card} {name} {data} {size >> 10} KiB: {off - 1:+.0%}")
    elif len(sys.argv) == 3:
        print("\n".join(table(sys.argv[1], rows_of(sys.argv[2]))))
    else:
        TABLE.write_text(text())

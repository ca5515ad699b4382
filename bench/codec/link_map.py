"""A map from the speed of a link and a field to the best codec, from the rows of codec_peers.py.

A message takes the time to encode it, to send its frame and to decode it, one after the other, on one core of each side.
"""

import tables

LINKS = {"100 Mbit/s": 0.1, "1 Gbit/s": 1, "10 Gbit/s": 10, "25 Gbit/s": 25, "100 Gbit/s": 100, "200 Gbit/s": 200, "400 Gbit/s": 400}
INTRODUCTION = """# The best codec for a link and a field

Made of the [measurements of public compressors](codec_peers.md). A cell names the codec by which one message arrives first, and the gain over plain values. A *model*:
encoding, transfer and decoding follow one another, each by one thread at its measured speed, and
the link takes no other time. Taut overlaps these steps in long messages, and threads share frames,
so that compression pays on faster links than shown. Sums need frames that can be added: of these
codecs, planes alone. *dims*: with the extents of the field. *plain*: no codec gains.
"""
WITHOUT_LOSS = """
num_plasma repeats itself after 18200 values, which `auto` does not search for. A policy that names
this lag (`predictor=d2+18200`) makes mpc the first codec there too: 144x, 33x, 3.8x and 1.5x from
100 Mbit/s to 25 Gbit/s, in the same model. The ratio of one frame is 231. Speeds are of
`taut.compress` and `taut.decompress`, of an earlier run on such a Xeon: 13.4 and 7.5 GB/s.
"""


def seconds_a_gigabyte(row, gbit):
    return 1 / row["encode_gb_per_s"] + 8 / (gbit * row["ratio"]) + 1 / row["decode_gb_per_s"]


def best(rows, gbit):
    """Returns the text of a cell: the codec that is the fastest on a link, and its gain over plain values."""
    first = min(rows, key=lambda row: seconds_a_gigabyte(row, gbit))
    gain = 8 / gbit / seconds_a_gigabyte(first, gbit)
    return f"{first['codec']}{' dims' * first['dims']} {tables.figure(gain, 2)}x" if gain > 1 else "plain"


def page(rows):
    lines = [INTRODUCTION]
    for of_range in sorted({row["of_range"] for row in rows}):
        lines.append("## " + ("Without loss" if of_range == 0 else f"Absolute bound of {of_range:g} of the range") + "\n")
        under = [row for row in rows if row["of_range"] == of_range and row.get("within_bound", True) and row.get("exact", True)]
        cells = []
        for field in tables.in_order(row["field"] for row in under):
            here = [row for row in under if row["field"] == field]
            cells.append([field, *(best(here, gbit) for gbit in LINKS.values())])
        lines += tables.table(["field", *LINKS], cells)
        if of_range == 0 and any(field == "num_plasma" for field, *_ in cells):
            lines.append(WITHOUT_LOSS.lstrip())
    return "\n".join(lines).rstrip() + "\n"

#!/usr/bin/env python3
"""Prints the cells of taut_bench_codec as a page, weak cells first: cells.py CODEC.json.. `make docs` puts it on the site."""

import json
import sys
from pathlib import Path

import tables

OPERATIONS = {
    "encode": "encode",
    "decode": "decode",
    "decode_add": "values += frame",
    "frame_add": "frame + frame",
    "accumulate": "frame += values",
}
HEAD = """# Cells of the codecs

Share of memcpy at 1 MiB, one thread, for each
codec, kernel set, type and class of fields ([what they are](../howto/measure_codec.md)); rows with
the weakest cell first. Every figure is the median of runs in alternation with memcpy of as many
bytes. A codec that cannot add frames has no figures for operations on them. The machine is a noisy
virtual one.
"""
ABOUT = "{codecs}: {processor}, {processors} cores; {compiler}; {date}, commit {commit}; load {load:.1f}."


def rows_of(report):
    """Returns the shares of each codec, kernel set, type and field, at 1 MiB."""
    rows = {}
    for row in report["results"]:
        if row["bytes"] == 1 << 20 and row["kernel"] in OPERATIONS:
            key = (row["coding"], row["set"], row["type"], row["field"])
            rows.setdefault(key, {})[row["kernel"]] = row["share_of_memcpy"]
    return rows


def table_of(rows):
    """Makes the table of one codec and kernel set."""
    yield "| type | field | " + " | ".join(OPERATIONS.values()) + " |"
    yield "|---|---|" + "---:|" * len(OPERATIONS)
    chosen = [(min(shares.values()), kind, field, shares) for (_, _, kind, field), shares in rows.items()]
    for _, kind, field, shares in sorted(chosen, key=lambda row: row[:3]):
        cells = (f"{shares[name]:.2f}" if name in shares else "-" for name in OPERATIONS)
        yield f"| {kind} | {field} | " + " | ".join(cells) + " |"


def page_of(reports):
    lines = [HEAD]
    for report in reports:
        codecs = ", ".join(dict.fromkeys(row["coding"] for row in report["results"]))
        about = {**report["context"], "codecs": codecs, "date": report["context"]["date"][:10]}
        lines.append(tables.paragraph(ABOUT.format(**about)))
    for rows in map(rows_of, reports):
        for part in dict.fromkeys(key[:2] for key in rows):
            lines += ["## {}, {}".format(*part), "", *table_of({key: rows[key] for key in rows if key[:2] == part}), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page_of([json.loads(Path(name).read_text()) for name in sys.argv[1:]]), end="")

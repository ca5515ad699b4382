#!/usr/bin/env python3
"""Measures the codecs beside memcpy, on fields that the program makes (`make bench-codec`), and says
which speed targets their kernels reach.

Further words are arguments of taut_bench_codec (--help: all). As a program it prints reports as a page, weak cells first:
cells.py CODEC.json.. `make docs` puts the page of the committed reports on the site.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from suite import RELEASE, Suite, lines_of

import tables

OPERATIONS = {
    "encode": "encode",
    "decode": "decode",
    "decode_add": "values += frame",
    "frame_add": "frame + frame",
    "accumulate": "frame += values",
}
# Targets for planes, float, 1 MiB, field class smooth (ratio near 8): shares of the speed of memcpy of as many bytes in the
# same run, by AVX-512. Of AVX2 half of them is wanted.
SHARES = {"encode": 0.55, "decode": 0.60, "frame_add": 0.90, "accumulate": 0.42}
SCALAR_ENCODE_GB_PER_S = 4.0
HEAD = """# Cells of the codecs

Share of memcpy at 1 MiB, one thread, for each
codec, kernel set, type and class of fields ([what they are](../howto/measure_codec.md)); rows with
the weakest cell first. Every figure is the median of runs in alternation with memcpy of as many
bytes. A codec that cannot add frames has no figures for operations on them. The machine is a noisy
virtual one.
"""
ABOUT = "{codecs}: {processor}, {cores} cores; {compiler}; {date}, commit {commit}; load {load:.1f}."


def rows_of(run):
    """Returns the shares of each codec, kernel set, type and field, at 1 MiB."""
    rows = {}
    for row in run["rows"]:
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


def page_of(runs):
    lines = [HEAD]
    for run in runs:
        codecs = ", ".join(dict.fromkeys(row["coding"] for row in run["rows"]))
        lines.append(tables.paragraph(ABOUT.format(**run | run["machine"] | {"codecs": codecs, "date": run["date"][:10]})))
    for rows in map(rows_of, runs):
        for part in dict.fromkeys(key[:2] for key in rows):
            lines += ["## {}, {}".format(*part), "", *table_of({key: rows[key] for key in rows if key[:2] == part}), ""]
    return "\n".join(lines)


def targets():
    """Yields (set, kernel, key of the measured figure, target)."""
    for kernels, part in (("avx512", 1), ("avx2", 2)):
        for kernel, share in SHARES.items():
            yield kernels, kernel, "share_of_memcpy", share / part
    yield "scalar", "encode", "gb_per_s", SCALAR_ENCODE_GB_PER_S


def judge(run, options):
    """Prints which targets the kernel sets of this processor reach."""
    judged = ("f32", "smooth", 1 << 20, "planes")
    rows = {(r["set"], r["kernel"]): r for r in run["rows"] if (r["type"], r["field"], r["bytes"], r["codec"]) == judged}
    for kernels, kernel, key, target in targets():
        if (kernels, kernel) in rows:
            row = rows[kernels, kernel]
            verdict = "reached" if row[key] >= target else f"short by {1 - row[key] / target:.0%}"
            print(f"{kernels:7} {kernel:11} {key:15} {row[key]:5.2f}, target {target:.3g}: {verdict}")


def measured(options):
    quick = ["--types", "f32", "--sizes", "1M", "--fields", "smooth"] if options.quick else []
    return lines_of([options.builds[0] / "bench/codec/taut_bench_codec", *quick, *options.rest])


SUITE = Suite(
    about=__doc__, rows=measured, finish=judge, needs="bench", builds={"release": f"taut_bench_codec {RELEASE}"},
    columns={"type": "{type}", "field": "{field}", "bytes": "{bytes}", "codec": "{coding}", "kernels": "{set}", "operation": "{kernel}",
             "ratio": "{ratio:.2f}", "GB/s": "{gb_per_s:.2f}", "of memcpy": "{share_of_memcpy:.2f}"},
)  # fmt: skip

if __name__ == "__main__":
    print(page_of([run for name in sys.argv[1:] for run in report.runs(name)]), end="")

#!/usr/bin/env python3
"""Prints the measurements of fields.py as a page of tables: tables.py CODEC_FIELDS.json. `make docs` puts it on the site."""

import statistics
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report  # noqa: E402

SPEEDS = [
    ("encode", "encode"),
    ("decode", "decode"),
    ("decode_add", "values += frame"),
    ("decode_add_encode", "decode-add-encode"),
    ("frame_add", "frame + frame"),
    ("accumulate", "frame += values"),
]
PARTS = {"part": "1 MiB of each field, which a cache holds", "whole": "whole fields"}


def coding(row):
    """Returns the name of a row's coding: planes, planes with extents, mpc pointwise, .."""
    kind = "" if row["bound_kind"] in ("absolute", "exact") else f" {row['bound_kind']} {row['bound']:g}"
    return row["codec"] + kind + (" with extents" if row["dims"] else "")


def bound(row):
    return f"{row['of_range']:.0e}".replace("e-0", "e-") if row["of_range"] else ""


def label(row):
    return f"{coding(row)} {bound(row)}".strip()


def figure(value, digits=3):
    """Formats a number with at most `digits` digits, without an exponent where people expect none."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def paragraph(text):
    """Returns the text wrapped as documents are, with an empty line behind it."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def in_order(values):
    return list(dict.fromkeys(values))


def table(heading, lines):
    yield "| " + " | ".join(heading) + " |"
    yield "|---|" + "---:|" * (len(heading) - 1)
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def by_field(rows, text, absent="-"):
    """Makes a table with fields as rows and codings under bounds as columns; text(row) fills the cells."""
    labels = in_order(map(label, rows))
    cells = {(row["field"], label(row)): text(row) for row in rows}
    fields = in_order((row["field"], row["type"]) for row in rows)
    lines = ([f"{name} ({kind})", *(cells.get((name, one), absent) for one in labels)] for name, kind in fields)
    yield from table(["field", *labels], lines)


def ratio_tables(rows):
    yield "## Ratios\n"
    yield paragraph(
        "Bytes of values / bytes of the frame; whole fields. Bounds are in units of the range; `with extents`: the codec is"
        " told those of the field, where there are several."
    )
    bounded = [row for row in rows if row["of_range"]]
    yield from by_field(bounded, lambda row: figure(row["ratio"]))
    others = [row for row in rows if not row["of_range"]]
    if others:
        yield "Without loss, and under other bounds:\n"
        yield from by_field(others, lambda row: figure(row["ratio"]))


def quality_table(rows):
    yield "## Quality\n"
    yield "PSNR in dB / NRMSE / largest error in units of the bound; whole fields. PSNR = -20 log10 NRMSE.\n"
    worse = [row for row in rows if row["of_range"] and not row["dims"]]

    def text(row):
        nrmse = "-" if row["nrmse"] is None else f"{row['nrmse']:.1e}"
        return f"{figure(row['psnr'])} / {nrmse} / {row['max_error'] / row['bound']:.2f}"

    yield from by_field(worse, text)


def median_of(rows, key):
    values = [row[key] for row in rows if row.get(key) is not None]
    return statistics.median(values) if values else None


def rate(rows, name):
    """Returns the median GB/s, and the median ratio to memcpy beside it."""
    speed = median_of(rows, f"{name}_gb_per_s")
    if speed is None:
        return "-"
    share = statistics.median(row[f"{name}_gb_per_s"] / row["memcpy_gb_per_s"] for row in rows)
    return f"{figure(speed)} ({share:.2f})"


def speed_tables(rows):
    yield "## Speeds\n"
    yield paragraph(
        "GB/s of one operand's values, medians over the fields; in parentheses the share of memcpy of as many bytes."
        " memcpy's bytes are counted once. STREAM's triad, 24 bytes an index, goes through three arrays of that size. Rows"
        " `with extents` are of the fields that have several."
    )
    for part, words in PARTS.items():
        here = [row for row in rows if row["part"] == part]
        if not here:
            continue
        yield f"### {words[0].upper() + words[1:]}\n"
        yield (
            f"memcpy {figure(median_of(here, 'memcpy_gb_per_s'))} GB/s,"
            f" triad {figure(median_of(here, 'triad_gb_per_s'))} GB/s.\n"
        )
        lines = []
        for one in in_order((label(row), row["set"], row["threads"]) for row in here):
            of_one = [row for row in here if (label(row), row["set"], row["threads"]) == one]
            name, kernels, threads = one
            ratio = figure(median_of(of_one, "ratio"))
            lines.append([name, kernels, str(threads), ratio, *(rate(of_one, key) for key, _ in SPEEDS)])
        yield from table(["codec", "kernels", "threads", "ratio", *(name for _, name in SPEEDS)], lines)


def field_speed_tables(rows):
    bounds = in_order(bound(row) for row in rows if row["of_range"])
    middle = bounds[len(bounds) // 2] if bounds else ""
    chosen = [row for row in rows if bound(row) == middle]
    yield f"### Field by field\n\nencode / decode / values += frame in GB/s; whole fields, bound {middle} of the range.\n"
    keys = ("encode", "decode", "decode_add")
    yield from by_field(chosen, lambda row: " / ".join(figure(row[f"{key}_gb_per_s"]) for key in keys))


def sum_table(rows):
    """Compares sums of frames with decode, add and encode, which codecs without sums of frames need."""
    adding = [row for row in rows if "frame_add_gb_per_s" in row and not row["dims"]]
    if not adding:
        return
    yield "## Sums of frames\n"
    yield paragraph(
        "Two frames in, one out; whole fields. The second addend is the field itself, moved by half of its slowest extent."
        " `sum` adds frames as they are, `by values` decodes both, adds and encodes: GB/s of one operand, how many times"
        " faster, ratio, PSNR in dB and largest error in units of the bound. At most 2 bounds are allowed to a sum, 3 by way"
        " of values: less where, as in planes, sums of coded values can be coded without loss."
    )
    heading = ["field", "bound", "threads", "sum", "by values", "faster", "frame += values"]
    heading += ["ratio sum", "by values", "PSNR sum", "by values", "error sum", "by values"]
    lines = []
    for row in adding:
        direct, around = row["frame_add_gb_per_s"], row["decode_add_encode_gb_per_s"]
        lines.append([
            row["field"], bound(row), str(row["threads"]), figure(direct), figure(around), f"{direct / around:.1f}x",
            figure(row["accumulate_gb_per_s"]),
            figure(row["frame_add_ratio"]), figure(row["decode_add_encode_ratio"]),
            figure(row["frame_add_psnr"]), figure(row["decode_add_encode_psnr"]),
            f"{row['frame_add_max_error'] / row['bound']:.2f}", f"{row['decode_add_encode_max_error'] / row['bound']:.2f}",
        ])  # fmt: skip
    yield from table(heading, lines)


def head(run):
    rows, machine = run["rows"], run["machine"]
    yield "# Codecs on real fields\n"
    yield paragraph(
        "Each codec takes each field as one frame, through the codec"
        " interface, all operations in turn with memcpy (of one thread); medians of 7 to 101 samples, time of the thread, of"
        " the wall where there are several. Fill values are left out of range and PSNR."
    )
    yield paragraph(
        f"{machine['processor']}, {machine['cores']} cores; {run['compiler']}; {run['date'][:10]},"
        f" commit {run['commit']}; load {run['load']:.1f}."
        " The machine is a noisy virtual one: trust shares of memcpy and quotients more than GB/s."
    )
    broken = sum(not row["within_bound"] for row in rows)
    yield f"{len(rows)} rows; {'all bounds kept' if not broken else f'{broken} BOUNDS VIOLATED'}.\n"
    yield paragraph(
        "To reproduce, with a folder of fields and their `MANIFEST.json` ([how](../howto/measure_codec.md#real-fields)):"
    )
    yield "```\nTAUT_FIELDS=folder make bench-fields\n```\n"


def page(run):
    rows = run["rows"]
    whole = [row for row in rows if row["part"] == "whole"]
    yield from head(run)
    alone = [row for row in whole if row["threads"] == 1]
    yield from ratio_tables(alone)
    yield from speed_tables(rows)
    yield from field_speed_tables(alone)
    yield from sum_table(whole)
    yield from quality_table(alone)


if __name__ == "__main__":
    print("\n".join(page(report.only_run(sys.argv[1]))).rstrip())

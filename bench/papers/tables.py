"""Writes bench/results/papers/README.md: the comparison with the papers, and a row for each simulated or measured call behind it."""

import breakdown
import measured
from report import RESULTS, only_run, rows, runs

FOLDER = RESULTS.parent / "papers"
INTRODUCTION = """# Taut beside the papers: tables

Written by `make papers`; not to be edited. [The page on the papers](../../../docs/results/papers.md) says what is simulated, what a gain is, and what the variants are.
*Claims* names Taut's counterpart of each result of the papers, and *targets* compares gains. The other sections have the rows behind both.
"""

FIELDS = RESULTS / "codec_fields.json"
STEPS = (RESULTS / "steps_1gbit.json", RESULTS / "steps_1gbit_4_hosts.json")
# The same on any machine.
PIPELINES, STACKS = RESULTS.parent / "sum_pipelines.json", RESULTS.parent / "stacks_of_16.json"
LINKS = {  # reports of bench/net/net.py
    "Smooth waves": RESULTS / "net.json",
    "Real fields, a bound of 1e-4 of the range": RESULTS / "net_fields.json",
}
SUM_PIPELINES = """Each field is added to itself, shifted by half of its slowest extent, as frames of planes with one predictor, on which ranks agree. Counted
(`bench/codec/pipelines.py`): the same on any machine. A chunk has 4096 values, where hZCCL counts
much smaller blocks, so fewer chunks are constant. *Constant*: bases are added. *Copied*: one operand is not
constant. *Added*: planes are added. *General*: exact values, wide integers or two predictors. The
bound is a share of the range, a cell the shares constant/copied/added/general in %. Where each frame chose its own predictor, all chunks of nbody_density
at 1e-2 and of seismic_wave_early at 1e-1 went the general way.

In ocean_sst_fill each chunk has fill values (land, 1e20): exact runs, which the fast ways do not serve. These sums of
frames are still {ocean} as fast as decoding, adding and encoding, by one thread at 1e-2 to 1e-4 of the range (measured).
"""
STACKED = """PSNR in dB of allreduces of 16 ranks (`image_stacking --policies`), whose shares add up to the field; in parentheses the bytes
of an ideal ring over those sent. Each share is within 1e-4 of its own range, as in the papers, or has 8 bits a value. CPR-P2P codes at every hop.
*Differs*: ranks hold different results, as zfp at a rate changes values whenever it codes them. The papers' PSNR are of other data.
"""
UNEQUAL = """Times over that of the fastest way; simulated, 64 MB at 100 Gbit/s, ratios from 2 at the start of the
message to 100 at its end. *Whole frames* are stored and forwarded, one a block. *Segments* is the
engine's own number. *Packets* are the engine's own choice: segments whose frames travel in packets,
as in C-Coll.
"""


def columns_of(row):
    """Returns what identifies the simulated call of a row, but for the threads, as text by column."""
    return {
        "call": row["collective"], "nodes": str(row["ranks"]), "MB": f"{row['bytes'] / 1e6:g}", "Gbit/s": str(row["gbit"]),
        "field": f"{row['field']} {row['bound_of_range']:g}", "ratio": f"{row['ratio']:.1f}",
        "plain, ms": f"{row['outcomes']['plain']['seconds'] * 1e3:.2f}",
    }  # fmt: skip


def table_of_rows(name, rows, wrapped):
    """Returns the section of a set: a line for each call, its gains by each number of threads. What all calls share is said once."""
    calls, threads = {}, sorted({row["threads"] for row in rows})
    for row in rows:
        calls.setdefault(tuple(columns_of(row).items()), {})[row["threads"]] = row["gains"]
    kept = [key for key in columns_of(rows[0]) if len({dict(call)[key] for call in calls}) > 1]
    words = {"call": "{}", "field": "{}", "ratio": "ratio {}", "plain, ms": "plain {} ms"}
    shared = [words.get(key, "{} " + key).format(value) for key, value in next(iter(calls)) if key not in kept]
    by = f"{'/'.join(map(str, threads))} thread{'s' * (threads != [1])}"
    text = f"Gains over the fastest uncompressed call, by {by}; simulated{', '.join(['', *shared])}."
    names = [variant for variant in rows[0]["gains"] if variant != "plain"]
    lines = [f"## {name.replace('_', ' ')}", "", wrapped(text).rstrip(), "", "| " + " | ".join(kept + names) + " |"]
    lines.append("|" + "".join("---|" if key in ("call", "field") else "---:|" for key in kept + names))
    for call, gains in calls.items():
        cells = [[f"{of[one]:.2f}" if one in of else "-" for of in (gains.get(count, {}) for count in threads)] for one in names]
        cells = ["/".join(each if len(set(each)) > 1 else each[:1]) for each in cells]
        lines.append("| " + " | ".join([dict(call)[key] for key in kept] + cells) + " |")
    return "\n".join(lines)


def table_of_unequal(rows, wrapped):
    """Returns the section on frames of unequal sizes: how many times longer than the fastest each way takes."""
    ways = list(rows[0]["seconds"])
    lines = ["## unequal ratios", "", wrapped(UNEQUAL).rstrip() + "\n", "| call | nodes | coding | ms, fastest | " + " | ".join(ways) + " |"]
    lines.append("|---|---:|---|---:|" + "---:|" * len(ways))
    for row in rows:
        least = min(row["seconds"].values())
        coding = f"{row['threads']} threads" if row["threads"] else "no time"
        times = " | ".join(f"{row['seconds'][way] / least:.2f}" for way in ways)
        lines.append(f"| {row['collective']} | {row['ranks']} | {coding} | {least * 1e3:.2f} | {times} |")
    return "\n".join(lines)


def span_of_frames(fields, name):
    """Returns how many times faster sums of frames of a field are than decode, add, encode, by one thread."""
    rows = [row for row in fields["rows"] if row["field"] == name and row["part"] == "whole" and row["threads"] == 1 and not row["dims"]]
    found = [row["frame_add_gb_per_s"] / row["decode_add_encode_gb_per_s"] for row in rows if row.get("frame_add_gb_per_s")]
    return f"{min(found):.1f} to {max(found):.1f} times"


def table_of_pipelines(rows, fields, wrapped):
    """Returns the section on the ways that the chunks of sums of frames take, counted on real fields."""
    ways = ("constant", "copied", "added", "general")
    text = wrapped(SUM_PIPELINES.format(ocean=span_of_frames(fields, "ocean_sst_fill")))
    bounds = list(dict.fromkeys(row["of_range"] for row in rows))
    lines = ["## sum pipelines", "", text.rstrip() + "\n", "| field | chunks | " + " | ".join(f"{bound:g}" for bound in bounds) + " |"]
    lines.append("|---|---:|" + "---:|" * len(bounds))
    cells = {}
    for row in rows:
        shares = "/".join(f"{100 * row[way] / row['chunks']:.3g}" for way in ways)
        cells.setdefault((row["name"], row["chunks"]), []).append(shares)
    lines += [f"| {name} | {chunks} | " + " | ".join(shares) + " |" for (name, chunks), shares in cells.items()]
    return "\n".join(lines)


def table_of_stacks(rows, wrapped):
    """Returns the section on the accuracy of allreduces of 16 ranks, beside the papers' baselines."""
    ways = list(rows[0]["psnr"])
    lines = ["## stacks of 16", "", wrapped(STACKED).rstrip() + "\n", "| field | " + " | ".join(ways) + " |", "|---|" + "---:|" * len(ways)]
    for row in rows:
        cells = [f"{row['psnr'][way]:.1f} ({row['ratio'][way]:.1f})" + ("" if row["same_on_all"][way] else " differs") for way in ways]
        lines.append(f"| {row['field']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def measured_sections(wrapped):
    """Returns the sections on calls that were measured between emulated hosts."""
    links = {data: only_run(path) for data, path in LINKS.items() if path.exists()}
    steps = [runs(path) for path in STEPS]
    return [measured.section_of_steps(steps, wrapped), measured.section_of_links(links, RESULTS.name, wrapped)]


def page(report, first, wrapped):
    """Returns the text of the README. `first`: the sections before those of the rows."""
    parts = [wrapped(INTRODUCTION).rstrip(), *first, *measured_sections(wrapped), breakdown.section(report, wrapped)]
    parts += [table_of_rows(name, some, wrapped) for name, some in report["sets"].items()]
    parts.append(table_of_pipelines(rows(PIPELINES), only_run(FIELDS), wrapped))
    parts.append(table_of_stacks(runs(STACKS)[1]["rows"], wrapped))
    if "unequal" in report:
        parts.append(table_of_unequal(report["unequal"], wrapped))
    return "\n\n".join(parts) + "\n"

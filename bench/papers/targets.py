"""The targets of the simulated calls, and the section that says which are reached, and why others are not."""

import math

CODING = ("encode", "combine", "decode", "copy")
INTRODUCTION = """*Line rate* is the fastest uncompressed algorithm and number of segments, without time for its sums; *MPI* the fastest in
whole messages, whose blocks are added after their arrival. A target is *reached* if the least gain over line rate reaches it, and
marked *over MPI* if only the gain over MPI does. *Ratio R for near 50*: R is the
ratio of the simulated field that stands for data of a ratio near 50.

Why a target is missed: *coding* is the share of the call in which the rank that codes longest is coding, and the gain
if the call took this time alone; *link* the same for the busiest sender's link. Coding and transfer overlap, so that both
may exceed 100 % together. *It would take*: the factor by which coding must become faster, or the length of the frames as a
share of the present length, at least. If both gains exceed the target, the call waits: for latency, and for coding that
does not overlap.
"""


def at(**columns):
    return columns


SINGLE, MANY = at(threads=1), at(threads=16)
# The data classes that stand for the papers' ratios near 8 and near 50. A row states the ratio of its field.
NEAR_8, NEAR_50 = at(field="nbody_density"), at(field="spitzer_image")
OF_64 = at(ranks=64, bytes=64_000_000)

# (what, with the place of the measured ratio; set, chosen columns, variant, variant that it is compared with, least gain)
TARGETS = [
    ("Allreduce, 64 nodes, 1 thread, ratio {ratio} for near 8", "allreduce_sizes", OF_64 | SINGLE | NEAR_8, "taut", "plain", 1.8),
    ("Allreduce, 64 nodes, 1 thread, ratio {ratio} for near 50", "allreduce_sizes", OF_64 | SINGLE | NEAR_50, "taut", "plain", 3.4),
    ("Allreduce, 64 nodes, 16 threads, ratio {ratio} for near 8", "allreduce_sizes", OF_64 | MANY | NEAR_8, "taut", "plain", 7.0),
    ("Allreduce, 64 nodes, 16 threads, ratio {ratio} for near 50", "allreduce_sizes", OF_64 | MANY | NEAR_50, "taut", "plain", 20.0),
    ("Allreduce, 64 nodes, 16 times the speeds of one thread, ratio {ratio} for near 8", "ideal_threads", NEAR_8,
     "taut", "plain", 7.0),
    ("Allreduce, 64 nodes, 16 times the speeds of one thread, ratio {ratio} for near 50", "ideal_threads", NEAR_50,
     "taut", "plain", 20.0),
    ("Allreduce, frames over values of C-Coll, 64 nodes, 1 thread", "allreduce_sizes", OF_64 | SINGLE, "hzccl", "ccoll", 1.8),
    ("Allreduce, frames over values of planes, 64 nodes, 1 thread", "allreduce_sizes", OF_64 | SINGLE, "hzccl", "values", 1.8),
    ("Allreduce, 512 nodes, 1 thread", "allreduce_nodes", at(ranks=512) | SINGLE, "taut", "plain", 1.9),
    ("Allreduce, 512 nodes, 16 threads", "allreduce_nodes", at(ranks=512) | MANY, "taut", "plain", 5.8),
    ("Reduce_scatter, 512 nodes, 1 thread", "reduce_scatter_nodes", at(ranks=512) | SINGLE, "taut", "plain", 1.9),
    ("Reduce_scatter, 512 nodes, 16 threads", "reduce_scatter_nodes", at(ranks=512) | MANY, "taut", "plain", 5.8),
    ("Bcast, 16 nodes, 1 thread", "moves", at(collective="bcast", ranks=16), "taut", "plain", 2.7),
    ("Scatter, 16 nodes, 1 thread", "moves", at(collective="scatter", ranks=16), "taut", "plain", 1.8),
    ("image stacking, early wave, 1 thread", "stacking", SINGLE | at(field="seismic_wave_early"), "taut", "plain", 1.81),
    ("image stacking, late wave, 1 thread", "stacking", SINGLE | at(field="seismic_wave_late"), "taut", "plain", 1.81),
    ("image stacking, early wave, 16 threads", "stacking", MANY | at(field="seismic_wave_early"), "taut", "plain", 5.02),
    ("image stacking, late wave, 16 threads", "stacking", MANY | at(field="seismic_wave_late"), "taut", "plain", 5.02),
]  # fmt: skip
STEPS = ("cpr_p2p", "once", "ccoll", "values", "hzccl")  # variants that are simpler than `taut`
MOST_LOSS = 1.03


def coding(outcome):
    """Returns the seconds of coding on the busiest rank."""
    return sum(outcome[key] for key in CODING)


def rows_of(report, name, chosen):
    return [row for row in report["sets"].get(name, []) if all(row[key] == value for key, value in chosen.items())]


def gains(rows, of, over):
    return [row["gains"][of] / row["gains"][over] for row in rows if of in row["gains"] and over in row["gains"]]


def times(values):
    least, most = min(values), max(values)
    return f"{least:.2f}x" if most - least < 0.005 else f"{least:.2f}x to {most:.2f}x"


def sending(row, outcome):
    """Returns the seconds in which the busiest sender's link carries bytes."""
    return 8 * outcome["sent_bytes"] / (1e9 * row["gbit"])


def share(part, allowed):
    return f"{100 * part:.0f} %: {allowed:.2f}x"


def remedy(coding_allows, link_allows, least):
    """Returns what would have to change for the gain `least`."""
    needs = []
    if coding_allows < least:
        needs.append(f"coding {least / coding_allows:.1f} times as fast")
    if link_allows < least:
        needs.append(f"frames {link_allows / least:.2f} times as long")
    return " and ".join(needs) or "less waiting"


def reason(rows, of, over, least):
    """Returns what bounds the gain of the row that is farthest from its target: columns coding, link, it would take."""
    row = min(rows, key=lambda row: row["gains"][of] / row["gains"][over])
    own, compared = row["outcomes"][of], row["outcomes"][over]["seconds"]
    on_link = sending(row, own)
    coding_allows, link_allows = compared / coding(own), compared / on_link
    return (
        share(coding(own) / own["seconds"], coding_allows),
        share(on_link / own["seconds"], link_allows),
        remedy(coding_allows, link_allows, least),
    )


def line(report, target):
    what, name, chosen, of, over, least = target
    rows = rows_of(report, name, chosen)
    what = what.format(ratio=f"{rows[0]['ratio']:.1f}" if rows else "unknown")
    if not rows:
        return f"| {what} | {least:g}x | not simulated | | | | | |"
    found, of_mpi = gains(rows, of, over), gains(rows, of, "mpi") if over == "plain" else []
    verdict = "reached" if min(found) >= least else "over MPI" if of_mpi and min(of_mpi) >= least else "missed"
    why = reason(rows, of, over, least) if min(found) < least else ("", "", "")
    mpi = times(of_mpi) if of_mpi else ""
    return f"| {what} | {least:g}x | {verdict} | {times(found)} | {mpi} | {' | '.join(why)} |"


def losses(report):
    """Returns (set, row, step, loss) of the rows whose engine's choice a simpler step beats by more than 3 %."""
    found = []
    for name, rows in report["sets"].items():
        for row in rows:
            least = {step: row["gains"][step] / row["gains"]["taut"] for step in STEPS if step in row["gains"]}
            step = max(least, key=least.get)
            if least[step] > MOST_LOSS:
                found.append((name, row, step, least[step]))
    return found


def table_of_losses(report):
    found = losses(report)
    count = sum(map(len, report["sets"].values()))
    text = f"In {count - len(found)} of {count} rows no simpler step is faster than the engine's choice by more than 3 %."
    if not found:
        return text
    lines = [text + " The others:", "", "| set | call | faster step | by |", "|---|---|---|---:|"]
    for name, row, step, loss in sorted(found, key=lambda one: -one[3]):
        call = f"{row['collective']}, {row['ranks']} nodes, {row['bytes'] / 1e6:g} MB, {row['gbit']} Gbit/s, {row['threads']} threads,"
        call += f" {row['field']} {row['bound_of_range']:g}"
        lines.append(f"| {name.replace('_', ' ')} | {call} | {step} | {100 * (loss - 1):.0f} % |")
    return "\n".join(lines)


def forced(report):
    """Returns the line on rows where compression, which is forced, does not pay."""
    rows = [row for rows in report["sets"].values() for row in rows]
    slower = {over: sum(row["gains"]["taut"] < row["gains"][over] for row in rows) for over in ("plain", "mpi")}
    return (
        f"All rows force compression (`when=always`). It is slower than plain messages at line rate in {slower['plain']} of "
        f"{len(rows)} rows, and slower than MPI in {slower['mpi']}. In a run the default, `when=auto`, leaves a kind of calls to "
        "plain MPI once that has proved to be faster ([how](../design.md#never-slower))."
    )


def quality(fields, stacks):
    """Returns the lines on the PSNR of sums of two, from the rows of the fields, and of stacks of 16 ranks."""
    rows = {
        row["field"]: row["frame_add_psnr"]
        for row in fields["rows"]
        if row["codec"] == "planes" and row["part"] == "whole" and row["threads"] == 1 and row["bound_kind"] == "absolute"
        and row["of_range"] == 1e-4 and row["field"].startswith("seismic_wave") and not row["dims"]
    }  # fmt: skip
    least = {}
    for row in stacks["rows"]:
        least[row["field"]] = min(row["psnr"], least.get(row["field"], math.inf))
    of_16 = ", ".join(f"{name} {math.floor(10 * value) / 10:.1f} dB" for name, value in sorted(least.items()))
    measured = ", ".join(f"{name} {math.floor(10 * value) / 10:.1f} dB" for name, value in sorted(rows.items()))
    return (
        f"PSNR, measured (target 62 dB). Stacks of 16 ranks by `image_stacking`: {of_16}. The ranks hold shares that add up to the "
        "field, and the stack keeps 1e-4 of its range, of which the values of each rank use at most a sixteenth "
        f"([figures](../stacks_of_16.json)). Sums of two frames, each within 1e-4 of the range of its field: {measured}."
    )


def confirmation(calls):
    """Returns the line on simulated calls that were also measured (bench/simulation/validate.py)."""
    off = [abs(call["off"]) for call in calls]
    return (
        f"Measured on two emulated hosts at 1 Gbit/s and simulated: {sum(one <= 0.15 for one in off)} of {len(off)} calls "
        f"within 15 %, the largest difference {100 * max(off):.1f} %."
    )


def section(report, measured, validation, wrapped):
    """Returns the section on targets. `measured`: reports on fields and stacks; `validation`: rows of validate.py, None if there are none."""
    head = [
        "| call, 100 Gbit/s | target | | over line rate | over MPI | coding | link | it would take |",
        "|---|---:|---|---|---|---|---|---|",
    ]
    table = "\n".join(head + [line(report, target) for target in TARGETS])
    parts = ["## targets", wrapped(INTRODUCTION).rstrip(), table, wrapped(quality(*measured)).rstrip()]
    if validation is not None:
        parts.append(wrapped(confirmation(validation)).rstrip())
    parts.append(table_of_losses(report))
    return "\n\n".join(parts)

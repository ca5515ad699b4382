"""The section on where the time of a call goes, in the papers' categories."""

INTRODUCTION = """Shares of the time of a call on the rank that codes longest; simulated, 100 Gbit/s. *Compression*: values become
frames (CPR in hZCCL). *Sums*: frames or values are added, by values with decoding (HPR, or DPR and CPT). *Decompression*
(DPR). *Copies* of values (Memcpy in C-Coll). *Communication*: everything else, transfer, waiting and the agreement of
ranks. The phases of [reports](../observe.md#time) give the same shares of measured calls.
"""
PARTS = {"compression": "encode", "sums": "combine", "decompression": "decode", "copies": "copy"}
SETS = {"allreduce_sizes": 64_000_000, "stacking": 128_000_000}  # with the bytes of a call
VARIANTS = ("cpr_p2p", "once", "ccoll", "hzccl", "taut")


def shares(outcome):
    """Returns the shares of one call, by category."""
    found = {name: outcome[key] / outcome["seconds"] for name, key in PARTS.items()}
    return found | {"communication": max(0.0, 1 - sum(found.values()))}


def line(row, variant):
    outcome = row["outcomes"][variant]
    parts = " | ".join(f"{100 * share:.0f} %" for share in shares(outcome).values())
    call = f"{row['collective']}, {row['ranks']} nodes, {row['bytes'] / 1e6:g} MB, {row['field']} {row['bound_of_range']:g}"
    return f"| {call} | {row['threads']} | {variant} | {outcome['seconds'] * 1e3:.2f} | {parts} |"


def section(report, wrapped):
    """Returns the section on shares."""
    names = [*PARTS, "communication"]
    lines = ["| call | threads | variant | ms | " + " | ".join(names) + " |", "|---|---:|---|---:|" + "---:|" * len(names)]
    for name, size in SETS.items():
        for row in report["sets"].get(name, []):
            if row["bytes"] == size:
                lines += [line(row, variant) for variant in VARIANTS if variant in row["outcomes"]]
    return "\n\n".join(["## breakdown", wrapped(INTRODUCTION).rstrip(), "\n".join(lines)])

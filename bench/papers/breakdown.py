"""The section on where the time of a call goes, in the papers' categories."""

INTRODUCTION = """Shares of the time of a call on the rank that codes longest; simulated, 100 Gbit/s. *Compression*: values become
frames (CPR in hZCCL). *Sums*: frames or values are added, by values with decoding (HPR, or DPR and CPT). *Decompression*
(DPR). *Copies* of values (Memcpy in C-Coll). *Communication*: everything else, transfer, waiting and the agreement of
ranks. A cell is the time in ms and these shares in %, in this order. The phases of [reports](../../../docs/observe.md#time) give the same shares of measured calls.
"""
PARTS = {"compression": "encode", "sums": "combine", "decompression": "decode", "copies": "copy"}
SETS = {"allreduce_sizes": 64_000_000, "stacking": 128_000_000}  # with the bytes of a call
VARIANTS = ("cpr_p2p", "once", "ccoll", "hzccl", "taut")


def shares(outcome):
    """Returns the shares of one call, by category."""
    found = {name: outcome[key] / outcome["seconds"] for name, key in PARTS.items()}
    return found | {"communication": max(0.0, 1 - sum(found.values()))}


def cell(outcome):
    """Returns the time of a call, and its shares in the order of PARTS."""
    return f"{outcome['seconds'] * 1e3:.2f}: " + "/".join(f"{100 * share:.0f}" for share in shares(outcome).values())


def section(report, wrapped):
    """Returns the section on shares: a line for each call, a column for each variant."""
    lines = ["| call | threads | " + " | ".join(VARIANTS) + " |", "|---|---:|" + "---|" * len(VARIANTS)]
    for name, size in SETS.items():
        for row in report["sets"].get(name, []):
            if row["bytes"] == size:
                call = f"{row['collective']}, {row['ranks']} nodes, {row['bytes'] / 1e6:g} MB, {row['field']} {row['bound_of_range']:g}"
                cells = [cell(row["outcomes"][variant]) if variant in row["outcomes"] else "-" for variant in VARIANTS]
                lines.append(f"| {call} | {row['threads']} | " + " | ".join(cells) + " |")
    return "\n\n".join(["## breakdown", wrapped(INTRODUCTION).rstrip(), "\n".join(lines)])

"""Tables of a report as texts, for the terminal and for the page."""

from dataclasses import dataclass

from ._read import PHASES, Kind, Report, Sums, bytes_text


@dataclass
class Table:
    """A table of texts: title, columns and rows."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


def tables(report: Report) -> list[Table]:
    """Returns all tables that are not empty."""
    found = [_communicators(report), _kinds(report), _summed_chunks(report), _unserved(report), _compressibility(report)]
    return [table for table in found if table.rows]


def seconds_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def ratio_text(sums: Sums) -> str:
    return f"{sums.ratio:.3g}" if sums.ratio else "-"


def sent_text(sums: Sums) -> str:
    counts = sums.counts
    if not counts["sent_bytes"]:
        return "-"
    return f"{bytes_text(counts['sent_bytes'])} for {bytes_text(counts['carried_bytes'])}"


def longest_verbs(sums: Sums) -> str:
    total = sum(sums.nanoseconds.values())
    if total == 0:
        return "-"
    ordered = sorted(PHASES, key=lambda phase: -sums.nanoseconds[phase])
    parts = [f"{phase} {100 * sums.nanoseconds[phase] / total:.0f} %" for phase in ordered[:3]]
    return ", ".join(part for part in parts if not part.endswith(" 0 %"))


def how_text(kind: Kind) -> str:
    """Returns the decision for a kind of calls, and the reasons of fallbacks to plain MPI."""
    parts = []
    if kind.decision is not None:
        decision = kind.decision
        coding = "/".join(word for word in (decision["codec"], decision["predictor"]) if word)
        parts.append(f"{coding}, {decision['algorithm']}, {_short(decision['bound'])}")
    parts += [f"{calls} plain: {reason}" for reason, calls in kind.sums.plain_calls.items()]
    if kind.sums.packed_calls:
        parts.append(f"{kind.sums.packed_calls} with packed integers")
    if kind.constant and kind.constant == kind.samples:
        parts.append("all values equal: a real program's data will not compress like this")
    if kind.pickles:
        parts.append("pickled objects: use mpi4py's upper-case calls for arrays")
    return "; ".join(parts)


def _short(bound: str) -> str:
    kind, _, value = bound.partition(":")
    return f"{kind}:{float(value):.4g}" if value else kind


def site_text(site: str) -> str:
    """Shortens the library name of a call site: _core+0x1aac93 for _core.cpython-311-x86_64-linux-gnu.so+0x1aac93."""
    library, plus, offset = site.rpartition("+")
    return library.split(".so")[0].split(".cpython")[0] + plus + offset if site else "-"


def _communicators(report: Report) -> Table:
    rows = []
    for one in report.communicators:
        counts = one.sums.counts
        rows.append([one.name or "-", one.policy or "(several)", str(one.ranks), str(counts["calls"]),
                     str(counts["compressed_calls"]), ratio_text(one.sums), sent_text(one.sums),
                     seconds_text(one.sums.seconds / report.ranks), longest_verbs(one.sums)])  # fmt: skip
    columns = ["communicator", "policy", "ranks", "calls", "compressed", "ratio", "sent", "time a rank", "of that"]
    return Table("Communicators", columns, rows, "Calls and bytes of all ranks together.")


def _kinds(report: Report) -> Table:
    rows = []
    for kind in report.kinds:
        counts = kind.sums.counts
        rows.append([kind.name, site_text(kind.site), kind.communicator.name or kind.communicator.policy, str(counts["calls"]),
                     str(counts["compressed_calls"]), ratio_text(kind.sums), sent_text(kind.sums),
                     seconds_text(kind.sums.seconds / report.ranks), longest_verbs(kind.sums), how_text(kind)])  # fmt: skip
    columns = ["calls of the kind", "at", "on", "calls", "compressed", "ratio", "sent", "time a rank", "of that", "how"]
    return Table("Kinds of calls, what took the longest first", columns, rows)


def _summed_chunks(report: Report) -> Table:
    total = sum(report.summed_chunks.values())
    rows = [[name, str(n), f"{100 * n / total:.2f} %"] for name, n in report.summed_chunks.items() if n]
    note = "Constant: bases are added. Copied: one operand is not constant. General: exact values, wide integers or two predictors."
    return Table("How chunks of frames were added", ["way", "chunks", "share"], rows, note)


def _unserved(report: Report) -> Table:
    rows = [[name, str(calls)] for name, calls in sorted(report.unserved.items(), key=lambda one: -one[1])]
    return Table("Calls that Taut does not serve", ["function", "calls"], rows, "Calls of all ranks together.")


def bounds_of(kinds: list[Kind]) -> list[str]:
    """Returns all sampled bounds, the loosest first, lossless last."""
    return sorted({bound for kind in kinds for bound in kind.compressibility}, key=strictness)


def strictness(bound: str) -> tuple[bool, float]:
    _, _, value = bound.partition(":")
    return (not value, -float(value) if value else 0.0)


def _compressibility(report: Report) -> Table:
    sampled = [kind for kind in report.kinds if kind.compressibility]
    bounds = bounds_of(sampled)
    rows = []
    for kind in sampled:
        ratios = [kind.compressibility.get(bound) for bound in bounds]
        rows.append([kind.name, site_text(kind.site), *(f"{r[0] / r[1]:.3g}" if r and r[1] else "-" for r in ratios)])
    note = "Ratio of sampled values to their frames under each bound: what compression would make of these calls."
    return Table("What the values would compress to", ["calls of the kind", "at", *bounds], rows, note)

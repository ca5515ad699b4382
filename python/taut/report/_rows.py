"""Tables of a report as texts, for the terminal and for the page."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Optional

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
    found = [_communicators(report), _kinds(report), _checks(report), _summed_chunks(report), _nccl_calls(report), _unserved(report), _compressibility(report)]
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
    total = sums.nanoseconds["call"]
    if total == 0:
        return "-"
    ordered = sorted(PHASES, key=lambda phase: -sums.nanoseconds[phase])
    parts = [f"{phase} {100 * sums.nanoseconds[phase] / total:.0f} %" for phase in ordered[:3]]
    return ", ".join(part for part in parts if not part.endswith(" 0 %")) or "-"


def how_text(kind: Kind, rules: str = "") -> str:
    """Returns the decision for a kind of calls, the reasons of fallbacks to plain MPI, and the gain of a history."""
    parts = []
    if kind.decision is not None:
        decision = kind.decision
        coding = "/".join(word for word in (decision["codec"], decision["predictor"]) if word)
        parts.append(", ".join(word for word in (coding, decision["algorithm"], _short(decision["bound"])) if word))
    parts += [f"{calls} plain: {reason}" for reason, calls in kind.sums.plain_calls.items()]
    if kind.sums.packed_calls:
        parts.append(f"{kind.sums.packed_calls} with packed integers")
    if kind.sums.referring_calls:
        parts.append(f"{kind.sums.referring_calls} sent what had changed since earlier ones" + _history_gave(kind))
    elif "history=" not in (rules if kind.communicator.policy == "rules" else kind.communicator.policy):
        parts += _history_would_give(kind)
    if kind.constant and kind.constant == kind.samples:
        parts.append("all values equal: a real program's data will not compress like this")
    if kind.pickles:
        parts.append("pickled objects: use mpi4py's upper-case calls for arrays")
    return "; ".join(parts)


def history_gain(kind: Kind) -> float:
    """Returns how many times smaller a history makes frames under the bound of the calls, or under rel:1e-04; 1: nothing is known."""
    bound = kind.decision["bound"] if kind.decision else "rel:1e-04"
    gains = {one: alone / behind for one, (alone, behind) in kind.history.items() if behind}
    known = sorted((float(one[4:]), gain) for one, gain in gains.items() if one.startswith("rel:"))
    name, _, value = bound.partition(":")
    if name in ("abs", "snap") and kind.greatest > kind.least:
        share = float(value) / (kind.greatest - kind.least)
    else:
        share = float(value) if name == "rel" else 0.0
    if name == "rate":
        return 1.0
    if not known or share == 0:
        return gains.get("lossless", 1.0)
    share = min(max(share, known[0][0]), known[-1][0])
    for (low, at_low), (high, at_high) in zip(known, known[1:]):
        if share <= high:
            return at_low + (at_high - at_low) * math.log(share / low) / math.log(high / low)
    return known[0][1]


def _history_would_give(kind: Kind) -> list[str]:
    gain, kept = history_gain(kind), "auto" if kind.period <= 4 else str(min(2 * kind.period, 36))
    return [f"history={kept} would make frames {gain:.2g} times smaller"] if gain >= 1.2 else []


def _history_gave(kind: Kind) -> str:
    gain = history_gain(kind)
    return f", in frames about {gain:.2g} times smaller" if gain >= 1.05 else ""


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
        policy = "none" if one.policy == "rules" and not report.rules else one.policy or "(several)"
        rows.append([one.name or "-", policy, str(one.ranks), str(counts["calls"]),
                     str(counts["compressed_calls"]), ratio_text(one.sums), sent_text(one.sums),
                     seconds_text(one.sums.seconds / report.ranks), longest_verbs(one.sums)])  # fmt: skip
    columns = ["communicator", "policy", "ranks", "calls", "compressed", "ratio", "sent", "time a rank", "of that"]
    return Table("Communicators", columns, rows, "Calls and bytes of all ranks together. " + phases_note())


def _checks(report: Report) -> Table:
    rows = []
    for kind in sorted(report.kinds, key=lambda kind: -(kind.worst.share if kind.worst else 0)):
        if kind.worst:
            bound = "none" if kind.worst.bound == float("inf") else f"{kind.worst.bound:.3g}"
            rows.append([kind.name, site_text(kind.site), f"{kind.worst.error:.3g}", bound, f"{kind.worst.share:.2g}", str(kind.worst.rank),
                         str(kind.worst.element), str(kind.checked), str(kind.over_bound)])  # fmt: skip
    columns = ["calls of the kind", "at", "greatest error", "bound", "share", "rank", "element", "checked", "over"]
    note = "Difference to the results of plain MPI. Share: error by bound. Element: number of the value in the result. Over: calls that broke the bound."
    return Table("Errors that checks have found", columns, rows, note)


def before_and_after(before: Report, after: Report) -> Table:
    """Returns a table with a row for each kind of call in one of two runs."""
    earlier = {(kind.name, kind.site): kind for kind in before.kinds}
    later = {(kind.name, kind.site): kind for kind in after.kinds}
    rows = []
    for key in [*earlier, *(key for key in later if key not in earlier)]:
        a, b = earlier.get(key), later.get(key)
        times = [one.sums.seconds / of.ranks if one else 0.0 for one, of in ((a, before), (b, after))]
        calls = [str(one.sums.counts["calls"]) if one else "-" for one in (a, b)]
        rows.append([key[0], site_text(key[1]), *calls, *(seconds_text(one) if one else "-" for one in times),
                     f"{times[0] / times[1]:.3g}" if all(times) else "-", sent_text(b.sums) if b else "-"])  # fmt: skip
    columns = ["calls of the kind", "at", "calls before", "after", "time a rank before", "after", "times faster", "sent after"]
    return Table("Before and after", columns, rows, "Sent: by compressed calls, for the bytes that the same calls send without compression.")


def _kinds(report: Report) -> Table:
    rows = []
    for kind in report.kinds:
        counts = kind.sums.counts
        rows.append([kind.name, site_text(kind.site), kind.communicator.name or kind.communicator.policy, str(counts["calls"]),
                     str(counts["compressed_calls"]), ratio_text(kind.sums), sent_text(kind.sums),
                     seconds_text(kind.sums.seconds / report.ranks), longest_verbs(kind.sums), how_text(kind, report.rules)])  # fmt: skip
    columns = ["calls of the kind", "at", "on", "calls", "compressed", "ratio", "sent", "time a rank", "of that", "how"]
    return Table("Kinds of calls, what took the longest first", columns, rows, reasons_note(report.kinds))


def _summed_chunks(report: Report) -> Table:
    total = sum(report.summed_chunks.values())
    rows = [[name, str(n), f"{100 * n / total:.2f} %"] for name, n in report.summed_chunks.items() if n]
    note = "A chunk is a run of values of a frame. Constant and copied ones cost almost nothing, general ones the most."
    return Table("How chunks of frames were added", ["way", "chunks", "share"], rows, note)


def _nccl_calls(report: Report) -> Table:
    rows = []
    for name, one in report.nccl_calls.items():
        served, left = bytes_text(one["served_bytes"]), bytes_text(one["left_bytes"])
        rows.append([name, str(one["served_calls"]), served, str(one["left_calls"]), left])
    return Table("Calls of NCCL", ["function", "compressed", "bytes", "left to NCCL", "bytes"], rows, "Calls and bytes of all ranks together.")


def _unserved(report: Report) -> Table:
    rows = [[name, str(calls)] for name, calls in sorted(report.unserved_calls.items(), key=lambda one: -one[1])]
    return Table("Calls that Taut does not serve", ["function", "calls"], rows, "Calls of all ranks together.")


WORDS = {
    "encode": "values to frames", "combine": "frames added up", "decode": "frames to values", "wait": "for messages of other ranks",
    "agree": "on how to serve the call, samples included", "plain": "calls that plain MPI serves",
}  # fmt: skip
REASONS = {
    "off": "no rule or policy serves the call", "unsupported": "the policy promises nothing for it", "small": "below min_bytes",
    "no_gain": "samples compress too little", "communicator": "a single rank or an intercommunicator",
    "type": "type or operator that is not compressed", "memory": "a rank lacked memory", "slower": "plain MPI proved faster",
    "trial": "tried, to compare", "sender": "its sender did not compress it", "credit": "the first message of its kind",
    "device": "in GPU memory without kernels", "packed": "integers packed into the values", "mismatch": "the ranks' calls differ",
    "arguments": "buffers that cannot be served", "failed": "a codec or GPU failed",
}  # fmt: skip


def phases_note() -> str:
    return "Of the time: " + "; ".join(f"{phase}: {text}" for phase, text in WORDS.items()) + "."


def reasons_note(kinds: list[Kind]) -> str:
    """Explains the reasons for plain calls that the kinds have."""
    found = {reason for kind in kinds for reason in kind.sums.plain_calls}
    return "; ".join(f"plain: {reason}: {text}" for reason, text in REASONS.items() if reason in found)


def megabytes(count: float) -> str:
    """Returns a size in decimal units, as sentences have it: 58 MB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def verdict(report: Report, before: Optional[Report] = None) -> str:
    """Returns one sentence: what became of the bytes, the time, and the values."""
    counts = report.total.counts
    parts = []
    if counts["sent_bytes"]:
        parts.append(f"{megabytes(counts['carried_bytes'])} became {megabytes(counts['sent_bytes'])}")
    elif counts["compressed_calls"]:
        parts.append(f"{megabytes(counts['value_bytes'])} of values became frames of {megabytes(counts['frame_bytes'])}")
    elif counts["calls"]:
        parts.append(f"{counts['calls']} calls with {megabytes(counts['message_bytes'])} were observed, none was compressed")
    now = report.total.seconds / max(1, report.ranks)
    if before is not None:
        then = before.total.seconds / max(1, before.ranks)
        saved = then - now
        parts.append(f"{seconds_text(abs(saved))} of {seconds_text(then)} {'saved' if saved >= 0 else 'lost'} in calls")
    elif counts["calls"]:
        parts.append(f"calls took {seconds_text(now)} a rank" + (f" of {seconds_text(report.seconds)}" if report.seconds else ""))
    parts += [_error_text(report)] if counts["compressed_calls"] else []
    samples, constant = (sum(getattr(kind, name) for kind in report.kinds) for name in ("samples", "constant"))
    if samples and constant == samples:
        parts.append("values are constant, as in OSU's benchmarks: ratios and gains mean nothing")
    if report.finished < report.of_ranks:
        parts.append(f"{report.of_ranks - report.finished} of {report.of_ranks} ranks wrote no last report")
    return "; ".join(parts) + "." if parts else "No call was seen."


def _error_text(report: Report) -> str:
    worst = report.worst
    if worst is None:
        return "errors were not checked (taut run --check)"
    over = sum(kind.over_bound for kind in report.kinds)
    if over:
        return f"{over} calls broke their bound"
    if worst.bound == float("inf"):
        return f"greatest error {worst.error:.3g}, without a bound"
    return f"greatest error {worst.share:.2g} of the bound"


def head(report: Report) -> list[tuple[str, str]]:
    """Returns what a report says of its run: name and text."""
    date = datetime.fromtimestamp(report.began).astimezone().strftime("%Y-%m-%d %H:%M %Z") if report.began else ""
    ranks = f"{report.of_ranks}" + (f", {report.ranks} of them in these files" if report.ranks < report.of_ranks else "")
    seconds = seconds_text(report.seconds) if report.seconds else ""
    rows = [("command", report.command), ("date", date), ("ranks", ranks), ("run time", seconds), ("MPI", report.mpi)]
    return [row for row in (*rows, ("rules", report.rules or "none")) if row[1]]


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

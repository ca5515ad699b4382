"""HTML page of a report: the run, a verdict, pictures, timeline and tables, in one file."""

from html import escape
from typing import Any, Optional

from .._charts import STYLE as CHARTS
from .._charts import Series, bars, chart
from .._page import document, table
from ._read import PHASES, Report, Sums
from ._rows import Table, before_and_after, bounds_of, head, megabytes, phases_note, seconds_text, tables, verdict
from ._timeline import STYLE as LANES
from ._timeline import timeline

MOST_KINDS = 12


def page(report: Report, before: Optional[Report] = None, trace: Optional[dict[str, Any]] = None) -> str:
    """Returns HTML that needs no other file. `before`: an earlier run, to compare with; `trace`: merged traces of the run."""
    name = _program(report.command)
    facts = "".join(f"<tr><td>{escape(what)}</td><td>{escape(text)}</td></tr>" for what, text in head(report))
    parts = [f"<h1>Taut in {escape(name)}</h1>", f"<p><b>{escape(verdict(report, before))}</b></p>", f'<table class="facts">{facts}</table>']
    if before is not None:
        parts += [_table(before_and_after(before, report)), _before(report, before)]
    parts += _pictures(report)
    if trace is not None:
        parts.append(timeline(trace))
    parts += [_table(one) for one in tables(report)]
    return document("Taut report", "\n".join(filter(None, parts)), CHARTS + LANES + ".facts td { text-align: left; white-space: normal }\n")


def _program(command: str) -> str:
    """Returns the name of the program in a command: of a Python program its file or module."""
    words = command.split(" ")
    name = words[0].rsplit("/", 1)[-1]
    if name.startswith("python"):
        named = [word for k, word in enumerate(words[1:]) if word.endswith(".py") or words[k] == "-m"]
        name = named[0].rsplit("/", 1)[-1] if named else name
    return name or "a program"


def _table(content: Table) -> str:
    note = f'<p class="note">{escape(content.note)}</p>' if content.note else ""
    return f"<h2>{escape(content.title)}</h2>\n{table(content.columns, content.rows)}{note}"


def _phases(rows: list[tuple[str, Sums, float]]) -> str:
    """Returns bars of seconds, with the phases of the time side by side."""
    drawn = []
    for name, sums, share in rows:
        spent = [sums.nanoseconds[phase] * 1e-9 * share for phase in PHASES]
        drawn.append((name, spent, seconds_text(sum(spent))))
    return bars(list(PHASES), drawn, seconds_text)


def _before(report: Report, before: Report) -> str:
    rows = [(name, one.total, 1 / max(1, one.ranks)) for name, one in (("before", before), ("after", report))]
    if not any(sums.nanoseconds[phase] for _, sums, _ in rows for phase in PHASES):
        return ""
    return f'<h3>Time in calls, mean of the ranks</h3>{_phases(rows)}<p class="note">{escape(phases_note())}</p>'


def _pictures(report: Report) -> list[str]:
    kinds = [kind for kind in report.kinds if kind.sums.seconds > 0][:MOST_KINDS]
    parts = []
    if any(kind.sums.nanoseconds[phase] for kind in kinds for phase in PHASES):  # those of PyTorch are unknown
        drawn = _phases([(kind.name, kind.sums, 1 / report.ranks) for kind in kinds])
        parts.append(f'<h2>Where the time went, mean of the ranks</h2>{drawn}<p class="note">{escape(phases_note())}</p>')
    sent = [kind for kind in report.kinds if kind.sums.counts["sent_bytes"] > 0][:MOST_KINDS]
    if sent:
        rows = []
        for kind in sent:
            counts = kind.sums.counts
            left = max(0, counts["carried_bytes"] - counts["sent_bytes"])
            rows.append((kind.name, [counts["sent_bytes"], left], f"{megabytes(counts['sent_bytes'])} of {megabytes(counts['carried_bytes'])}"))
        parts.append(f"<h2>What was sent, all ranks</h2>{bars(['sent', 'saved'], rows, megabytes)}")
    parts += _compressibility(report)
    if len(report.by_rank) > 1 and any(sums.nanoseconds[phase] for sums in report.by_rank.values() for phase in PHASES):
        rows_of_ranks = [(f"rank {rank}", report.by_rank[rank], 1.0) for rank in sorted(report.by_rank)]
        parts.append(f"<h2>Time of each rank</h2>{_phases(rows_of_ranks)}")
    return parts


def _compressibility(report: Report) -> list[str]:
    kinds = [kind for kind in report.kinds if kind.compressibility][:6]
    bounds = [bound for bound in bounds_of(kinds) if ":" in bound]
    lines = []
    for kind in kinds:
        points = [(float(bound.partition(":")[2]), kind.compressibility[bound]) for bound in bounds if bound in kind.compressibility]
        known = [(x, values / frames) for x, (values, frames) in points if frames]
        if known:
            lines.append(Series(kind.name, [one[0] for one in known], [one[1] for one in known], True))
    if not lines:
        return []
    drawn = chart(lines, "bound, relative to the range", "ratio", log_x=True, log_y=True)
    return [f'<h2>What sampled values would compress to</h2><div class="charts"><div>{drawn}<p>Bytes before by bytes after.</p></div></div>']

"""Tables and a page of the results."""

import statistics
from collections.abc import Sequence
from html import escape
from typing import Any

from .._charts import STYLE, Series, chart
from .._page import document, table
from ._values import FIELDS

COLUMNS = ("call", "bytes", "values", "plain ms", "Taut ms", "gain", "ratio", "compressed", "history ms", "gain", "ratio", "error / bound")
LINES = 5  # of a chart
NOTE = (
    "Milliseconds: median (lower to upper quartile) of the slowest rank, in alternation. Bytes: the whole message of a rank. Gain: plain "
    "by Taut, of medians. Ratio: bytes of values by bytes of frames, of all calls that were compressed, and compressed: the share of these, "
    "both with warm-up. History: the same with history=auto. Error: greatest difference from plain MPI's result. Successive calls send "
    "successive time steps. A rank's field is repeated up to the size of the message."
)


def size_text(count: int) -> str:
    for unit, bits in (("MiB", 20), ("KiB", 10)):
        if count >= 1 << bits:
            return f"{count / (1 << bits):.4g} {unit}"
    return f"{count} B"


def nodes_text(run: dict[str, Any]) -> str:
    return f"{run['ranks']} ranks on {run['nodes']} node{'s' if run['nodes'] > 1 else ''}"


def gain(row: dict[str, Any], variant: str = "taut") -> float:
    return float(row["plain_ms"][1] / row[f"{variant}_ms"][1])


def differs(row: dict[str, Any], faster: bool) -> bool:
    """Returns true if Taut is faster (or slower) by more than the quartiles spread."""
    plain, other = row["plain_ms"], row["taut_ms"]
    return bool(other[2] < plain[0] if faster else other[0] > plain[2])


def lost_milliseconds(loop: dict[str, Any], way: str) -> float:
    """Returns the time by which a call delays the computation beside it."""
    return float((1 - loop[f"beside_{way}_per_second"] / loop["alone_per_second"]) * loop[f"{way}_ms"])


def spread(sample: Sequence[float]) -> str:
    return f"{sample[1]:.3g} ({sample[0]:.3g} to {sample[2]:.3g})"


def cells(row: dict[str, Any]) -> list[str]:
    ratios = [f"{row[name]:.3g}" if row[name] else "-" for name in ("taut_ratio", "history_ratio")]
    error = row["error_by_bound"]
    return [row["call"], size_text(row["bytes"]), row["field"], spread(row["plain_ms"]), spread(row["taut_ms"]), f"{gain(row):.2f}", ratios[0],
            f"{row['taut_compressed']:.0%}", spread(row["history_ms"]), f"{gain(row, 'history'):.2f}", ratios[1],
            "-" if error is None else f"{error:.2g}"]  # fmt: skip


def verdict(run: dict[str, Any]) -> str:
    """Returns a sentence: how many rows are faster or slower than plain MPI by more than their spread."""
    rows = run["rows"]
    if not rows:
        return "Nothing was measured in the time given: raise --seconds."
    faster, slower = ([row for row in rows if differs(row, way)] for way in (True, False))
    best = max(rows, key=gain)
    told = f"Of {len(rows)} rows Taut is faster in {len(faster)} and slower in {len(slower)} by more than the quartiles spread"
    return f"{told}; at best {gain(best):.2f} times as fast ({best['call']}, {size_text(best['bytes'])}, {best['field']})."


def warnings(run: dict[str, Any]) -> list[str]:
    """Returns what makes the figures doubtful."""
    cores, most = run["machine"]["cores"], max(run["ranks_per_node"])
    found = []
    if run["nodes"] == 1:
        found.append("All ranks are on one node: this measures its memory, and no network")
    if most > cores:
        found.append(f"{most} ranks share {cores} cores of a node: times are those of waiting ranks, so trust ratios and errors alone")
    elif run["load"] > cores / 2:
        found.append(f"The load was {run['load']} on {cores} cores before the run: other programs disturbed it")
    broken = [row for row in run["rows"] if (row["error_by_bound"] or 0) > 1.001]
    found += [f"{row['call']}, {size_text(row['bytes'])}, {row['field']}: the error exceeds the bound; please report it" for row in broken]
    if run["left_out"]:
        found.append(f"No time was left for: {', '.join(run['left_out'])}. Raise --seconds")
    return found


def facts(run: dict[str, Any]) -> list[tuple[str, str]]:
    machine = run["machine"]
    variables = " ".join(f"{name}={value}" for name, value in run["environment"].items())
    ranks = f"{nodes_text(run)}, {' or '.join(map(str, run['ranks_per_node']))} a node; rank 0 may use {run['cores_of_rank']} cores"
    return [
        ("command", run["command"]), ("date", run["date"]), ("processor", f"{machine['processor']}; {machine['cores']} cores a node"),
        ("system", machine["os"]), ("load before", str(run["load"])), ("MPI", run["mpi"]), ("Taut", f"{run['taut']}, commit {run['commit']}"),
        ("ranks", ranks), ("fabric", "; ".join(run["fabric"]) or "unknown"), ("variables", variables or "none"), ("bound", run["bound"]),
    ]  # fmt: skip


def page(runs: Sequence[dict[str, Any]]) -> str:
    """Returns HTML that needs no other file."""
    parts = ["<h1>Plain MPI and Taut on this fabric</h1>"]
    if len(runs) > 1:
        parts += [f"<h2>{len(runs)} runs together</h2>", _across(runs)]
    for number, run in enumerate(runs, 1):
        parts += [f"<h2>Run {number}</h2>" if len(runs) > 1 else "", *_run(run)]
    return document("taut bench-fabric", "\n".join(filter(None, parts)), STYLE + ".facts td { text-align: left; white-space: normal }\n")


def _run(run: dict[str, Any]) -> list[str]:
    told = "".join(f"<tr><td>{escape(what)}</td><td>{escape(words)}</td></tr>" for what, words in facts(run))
    parts = [f"<p><b>{escape(verdict(run))}</b></p>", f'<table class="facts">{told}</table>']
    if warnings(run):
        parts.append("<h3>Mind</h3><ul class=warn>" + "".join(f"<li>{escape(one)}.</li>" for one in warnings(run)) + "</ul>")
    fields = list(dict.fromkeys(row["field"] for row in run["rows"]))
    for field in fields:
        drawn = [_chart([row for row in run["rows"] if row["field"] == field], variant) for variant in ("taut", "history")]
        parts.append(f"<h3>Gain: {escape(field)} ({escape(FIELDS.get(field, ''))})</h3>" + "".join(map("".join, drawn)))
    parts.append(f'<h3>All figures</h3>{table(COLUMNS, map(cells, run["rows"]))}<p class="note">{escape(NOTE)}</p>')
    if run["beside"]:
        parts.append(f"<h3>Computation beside an allreduce</h3>{_beside(run['beside'])}")
    return parts


def _chart(rows: list[dict[str, Any]], variant: str) -> list[str]:
    """Returns charts of the gain by size, with a few calls each."""
    calls = list(dict.fromkeys(row["call"] for row in rows))
    found = []
    for some in (calls[k : k + LINES] for k in range(0, len(calls), LINES)):
        lines = []
        for call in some:
            own = sorted((row for row in rows if row["call"] == call), key=lambda row: int(row["bytes"]))
            lines.append(Series(call, [row["bytes"] / 1024 for row in own], [gain(row, variant) for row in own], True))
        name = "Taut" if variant == "taut" else "Taut with a history"
        found.append(f"<div>{chart(lines, 'KiB a rank', f'gain of {name}', log_x=True, log_y=True)}<p>Plain time by time of {name}.</p></div>")
    return ['<div class="charts">', *found, "</div>"]


def _beside(loops: Sequence[dict[str, Any]]) -> str:
    rows = []
    for one in loops:
        shares = [f"{one[f'beside_{way}_per_second'] / one['alone_per_second']:.0%}" for way in ("plain", "taut")]
        lost = [f"{lost_milliseconds(one, way):.3g}" for way in ("plain", "taut")]
        rows.append([one["loop"], f"{one['alone_per_second']:.4g}", *shares, f"{one['plain_ms']:.3g}", f"{one['taut_ms']:.3g}", *lost])
    note = (
        "One thread of each rank computes while another calls allreduce of 4 MiB; Taut compresses every call. Core: sines in cache; memory: "
        "sums of arrays of 32 MiB. Shares: of the rate alone. Lost: the time by which a call delays the computation, its time by what is missing "
        "of the rate. A thread that waits for messages needs a core of its own."
    )
    columns = ("loop", "alone, units / s", "beside plain", "beside Taut", "plain ms a call", "Taut ms a call", "plain ms lost", "Taut ms lost")
    return table(columns, rows) + f'<p class="note">{escape(note)}</p>'


def _across(runs: Sequence[dict[str, Any]]) -> str:
    """Returns a table of the gains of rows that several runs have: median, least and greatest."""
    gains: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        for row in run["rows"]:
            gains.setdefault((row["call"], row["bytes"], row["field"]), []).append(gain(row))
    rows = [[call, size_text(count), field, str(len(some)), f"{statistics.median(some):.2f}", f"{min(some):.2f} to {max(some):.2f}"]
            for (call, count, field), some in gains.items()]  # fmt: skip
    return table(("call", "bytes", "values", "runs", "gain, median", "least to greatest"), rows)


def printed(run: dict[str, Any]) -> list[str]:
    """Returns the results as lines of text."""
    lines = [f"{nodes_text(run)}, {run['mpi']}, Taut {run['taut']}; medians in ms"]
    lines.append(f"{'call':<15}{'bytes':>10} {'values':<12}{'plain':>9}{'Taut':>9}{'gain':>7}{'ratio':>7}{'history':>9}{'gain':>7}")
    for row in run["rows"]:
        plain, own, history = (f"{row[name][1]:.3g}" for name in ("plain_ms", "taut_ms", "history_ms"))
        ratio = f"{row['taut_ratio']:.3g}" if row["taut_ratio"] else "-"
        lines.append(f"{row['call']:<15}{size_text(row['bytes']):>10} {row['field']:<12}{plain:>9}{own:>9}{gain(row):>7.2f}{ratio:>7}"
                     f"{history:>9}{gain(row, 'history'):>7.2f}")  # fmt: skip
    for one in run["beside"]:
        plain_lost, taut_lost = (f"{lost_milliseconds(one, way):.3g}" for way in ("plain", "taut"))
        lines.append(f"computation ({one['loop']}) beside an allreduce of 4 MiB: a call delays it by {plain_lost} ms with plain MPI, {taut_lost} with Taut")
    return [*lines, *(f"{one}." for one in warnings(run)), verdict(run)]

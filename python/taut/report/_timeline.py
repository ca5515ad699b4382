"""Timeline of all ranks, from their traces: a lane for each rank, a bar for each call."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ._rows import megabytes, seconds_text

MOST_BARS = 4000

STYLE = """
.timeline { overflow-x: auto; border: 1px solid var(--line) } .lanes { position: relative; min-width: 100% }
.lane { position: relative; height: 1.7rem; border-bottom: 1px solid var(--line) }
.lane b { position: sticky; left: 0; z-index: 1; display: inline-block; width: 4.2rem; padding: .2rem .3rem; background: var(--back);
  font: 12px system-ui, sans-serif } .track { position: absolute; inset: 0 0 0 5rem }
.bar { position: absolute; top: .15rem; bottom: .15rem; min-width: 1px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis;
  font: 11px/1.4rem system-ui, sans-serif; color: #fff; background: #0072b2 } .bar.plain { background: #6b6b6b }
"""


@dataclass
class Bar:
    """A call of one rank, in microseconds since the first event."""

    rank: int
    begin: float
    length: float
    name: str
    site: str = ""
    bytes: int = 0
    plain: bool = False
    phases: dict[str, float] = field(default_factory=dict)

    def told(self) -> str:
        place = f" at {self.site}" if self.site else ""
        parts = ", ".join(f"{phase} {seconds_text(1e-6 * spent)}" for phase, spent in self.phases.items())
        served = "plain MPI" if self.plain else f"compressed: {parts}"
        return f"rank {self.rank}: {self.name}{place}, {megabytes(self.bytes)}, {seconds_text(1e-6 * self.length)}, {served}"


def bars(trace: dict[str, Any]) -> list[Bar]:
    """Returns the calls of a merged trace, by their begin."""
    calls: dict[tuple[int, int], Bar] = {}
    parts: dict[tuple[int, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for event in trace["traceEvents"]:
        if event.get("ph") != "X":
            continue
        key, told = (event["pid"], event["args"]["call"]), event["args"]
        whole = event["name"] in (event["cat"], "plain")
        if whole and (key not in calls or event["dur"] > calls[key].length):
            calls[key] = Bar(event["pid"], event["ts"], event["dur"], event["cat"], told.get("site", ""), told["bytes"], event["name"] == "plain")
        if event["name"] != event["cat"]:
            parts[key][event["name"]] += event["dur"]
    for key, bar in calls.items():
        bar.phases = dict(parts[key])
    return sorted(calls.values(), key=lambda bar: bar.begin)


def timeline(trace: dict[str, Any]) -> str:
    """Returns HTML; empty if the trace has no calls."""
    found = bars(trace)
    if not found:
        return ""
    shown = sorted(sorted(found, key=lambda bar: -bar.length)[:MOST_BARS], key=lambda bar: (bar.rank, bar.begin))
    first, last = min(bar.begin for bar in found), max(bar.begin + bar.length for bar in found)
    size = last - first or 1.0
    lanes = [_lane(rank, [bar for bar in shown if bar.rank == rank], first, size) for rank in sorted({bar.rank for bar in found})]
    lost = trace["otherData"].get("lost_events", 0)
    left_out = len(found) - len(shown)
    notes = [f"{seconds_text(1e-6 * size)} from the left edge to the right. Blue: compressed; grey: plain MPI. A bar is named by its collective "
             "and call site; point at it for bytes, time and phases.",
             f"The {left_out} shortest calls are left out." if left_out else "",
             f"{lost} earlier events are lost: a trace keeps the last ones." if lost else "",
             "The command taut trace merges the same traces for ui.perfetto.dev (Chrome's trace event format)."]  # fmt: skip
    zoom = ('<label>zoom <input type="range" min="0" max="8" step="0.5" value="0" '
            "oninput=\"document.getElementById('lanes').style.width=100*2**this.value+'%'\"></label>")  # fmt: skip
    note = " ".join(filter(None, notes))
    return (f'<h2>Timeline</h2>{zoom}<div class="timeline" tabindex="0"><div class="lanes" id="lanes">{"".join(lanes)}</div></div>'
            f'<p class="note">{escape(note)}</p>')  # fmt: skip


def _lane(rank: int, found: Sequence[Bar], first: float, size: float) -> str:
    drawn = []
    for bar in found:
        at, width = 100 * (bar.begin - first) / size, 100 * bar.length / size
        name = bar.name + (f" at {bar.site}" if bar.site else "")
        kind = "bar plain" if bar.plain else "bar"
        drawn.append(f'<div class="{kind}" style="left:{at:.4f}%;width:{width:.4f}%" title="{escape(bar.told())}">{escape(name)}</div>')
    return f'<div class="lane"><b>rank {rank}</b><div class="track">{"".join(drawn)}</div></div>'

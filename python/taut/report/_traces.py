"""`taut trace`: merges the traces of the ranks of one run (TAUT_TRACE, docs/observe.md) on a common clock."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def of_ranks(name: "str | Path") -> list[Path]:
    """Returns the file of this name, else those of the ranks: `trace.json` stands for trace.json.0, trace.json.1, ..."""
    path = Path(name)
    ranks = [one for one in path.parent.glob(path.name + ".*") if one.suffix[1:].isdigit()]
    return [path] if path.exists() else sorted(ranks, key=lambda one: int(one.suffix[1:]))


def read(path: "str | Path") -> dict[str, Any]:
    """Returns the trace in a file; raises ValueError with a sentence that names the file."""
    try:
        trace: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        trace["traceEvents"], trace["otherData"]["rank"], trace["otherData"]["origin_unix_ns"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise ValueError(f"{path}: not a trace of Taut ({fault})") from fault
    return trace


def merged(traces: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Returns one trace: every rank's time counts from the earliest origin. Ranks must differ."""
    traces = list(traces)
    facts = sorted((trace["otherData"] for trace in traces), key=lambda f: int(f["rank"]))
    ranks = [f["rank"] for f in facts]
    if len(set(ranks)) < len(ranks):
        raise ValueError(f"two traces of one rank: {ranks}")
    origin = min(f["origin_unix_ns"] for f in facts)
    events = []
    for trace in traces:
        shift = (trace["otherData"]["origin_unix_ns"] - origin) / 1000
        for event in trace["traceEvents"]:
            events.append({**event, "ts": round(event["ts"] + shift, 3)} if "ts" in event else event)
    lost = sum(f["lost_events"] for f in facts)
    other = {"ranks": ranks, "origin_unix_ns": origin, "lost_events": lost}
    return {"otherData": other, "displayTimeUnit": "ms", "traceEvents": events}


def read_all(files: Sequence[Path]) -> dict[str, Any]:
    """Reads the traces of all ranks, or one that is merged already."""
    if len(files) == 1:
        one: dict[str, Any] = json.loads(files[0].read_text(encoding="utf-8"))
        if "ranks" in one.get("otherData", {}):
            return one
    return merged(map(read, files))


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="taut trace", description="merges what TAUT_TRACE wrote into one trace for ui.perfetto.dev")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="trace.json, for trace.json.0, .1, ... too")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the trace to write")
    given = parser.parse_args(list(arguments))
    try:
        files = [file for name in given.traces for file in of_ranks(name) or [Path(name)]]
        trace = merged(map(read, files))
        Path(given.output).write_text(json.dumps(trace), encoding="utf-8")
    except (ValueError, OSError) as fault:
        print(f"taut trace: {fault}", file=sys.stderr)
        return 1
    print(f"{given.output}: {len(trace['traceEvents'])} events of {len(files)} ranks; open it at ui.perfetto.dev or chrome://tracing")
    return 0

#!/usr/bin/env python3
"""Merges the traces that the ranks of one run wrote (TAUT_TRACE, docs/observe.md) into one, on a common clock.

Usage: merge_traces.py trace.json.0 trace.json.1 ... -o trace.json
"""

import argparse
import json
import sys
from pathlib import Path


def read(path):
    """Returns the trace in a file; raises ValueError with a sentence that names the file."""
    try:
        trace = json.loads(Path(path).read_text())
        trace["traceEvents"], trace["otherData"]["rank"], trace["otherData"]["origin_unix_ns"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise ValueError(f"{path}: not a trace of Taut ({fault})") from fault
    return trace


def merged(traces):
    """Returns one trace: every rank's time counts from the earliest origin. Ranks must differ."""
    facts = sorted((trace["otherData"] for trace in traces), key=lambda f: f["rank"])
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


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", help="a file a rank")
    parser.add_argument("-o", "--output", required=True, help="for chrome://tracing or ui.perfetto.dev")
    given = parser.parse_args(arguments)
    try:
        trace = merged([read(path) for path in given.traces])
    except ValueError as fault:
        sys.exit(f"merge_traces: {fault}")
    with open(given.output, "w") as file:
        json.dump(trace, file)
    print(f"{given.output}: {len(trace['traceEvents'])} events of {len(given.traces)} ranks")


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Merges the traces that the ranks of one run wrote (TAUT_TRACE, docs/observe.md) into one, on a common clock.

Usage: merge_traces.py trace.json.0 trace.json.1 ... -o trace.json
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

# The package itself needs its extension, which a source tree may lack.
_of_package = importlib.util.spec_from_file_location("traces", Path(__file__).resolve().parents[1] / "python/taut/report/_traces.py")
_traces = importlib.util.module_from_spec(_of_package)
_of_package.loader.exec_module(_traces)
read, merged = _traces.read, _traces.merged


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

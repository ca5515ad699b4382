#!/usr/bin/env python3
"""Is the file that taut_bench_codec writes whole?  json_test.py CODEC.json"""

import json
import math
import sys

CONTEXT = {"processor", "date", "compiler", "commit", "sets", "caches"}
ROW = {
    "codec", "coding", "set", "kernel", "type", "field", "bytes", "bound", "bound_kind", "ratio", "result_ratio", "max_error", "within_bound",
    "gb_per_s", "memcpy_gb_per_s", "share_of_memcpy", "samples",
}  # fmt: skip


def faults(report):
    yield from (f"context: no {key}" for key in CONTEXT - report["context"].keys())
    if not report["results"]:
        yield "no results"
    for row in report["results"]:
        name = "/".join(str(row.get(key)) for key in ("set", "kernel", "type", "field", "bytes"))
        yield from (f"{name}: no {key}" for key in ROW - row.keys())
        for key, value in row.items():
            if value is None or isinstance(value, float) and not math.isfinite(value):
                yield f"{name}: {key} is {value}"
        for key in ("gb_per_s", "memcpy_gb_per_s", "share_of_memcpy", "ratio", "samples"):
            if not row[key] > 0:
                yield f"{name}: {key} is {row[key]}"


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        found = list(faults(json.load(file)))
    print("\n".join(found) or "whole")
    sys.exit(1 if found else 0)

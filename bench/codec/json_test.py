#!/usr/bin/env python3
"""Checks that the file written by taut_bench_codec or fields.py is complete: json_test.py CODEC.json"""

import json
import math
import sys

CONTEXT = {"processor", "date", "compiler", "commit"}
OF_BOTH = {"codec", "set", "type", "field", "bytes", "bound", "bound_kind", "ratio", "max_error", "within_bound"}
OF_OPERATIONS = {
    "coding", "kernel", "result_ratio", "gb_per_s", "memcpy_gb_per_s", "share_of_memcpy", "samples",
}  # fmt: skip
OF_FIELDS = {
    "dims", "part", "threads", "of_range", "psnr", "nrmse", "memcpy_gb_per_s", "triad_gb_per_s", "encode_gb_per_s",
    "decode_gb_per_s", "decode_add_gb_per_s", "decode_add_encode_gb_per_s", "samples",
}  # fmt: skip
OF_SUMS = {
    "frame_add_gb_per_s", "accumulate_gb_per_s", "frame_add_ratio", "frame_add_max_error", "frame_add_psnr",
    "decode_add_encode_ratio", "decode_add_encode_max_error", "decode_add_encode_psnr",
}  # fmt: skip
INFINITE = {"psnr", "frame_add_psnr", "decode_add_encode_psnr"}  # figures that are infinite where nothing was lost


def keys_of(row):
    if "part" not in row:
        return OF_BOTH | OF_OPERATIONS
    return OF_BOTH | OF_FIELDS | (OF_SUMS if row.get("codec") == "planes" else set())


def faults_of(row):
    name = "/".join(str(row.get(key)) for key in ("codec", "set", "kernel", "type", "field", "bytes"))
    yield from (f"{name}: no {key}" for key in keys_of(row) - row.keys())
    for key, value in row.items():
        if key not in INFINITE and (value is None or isinstance(value, float) and not math.isfinite(value)):
            yield f"{name}: {key} is {value}"
        elif ("gb_per_s" in key or "ratio" in key or key in ("share_of_memcpy", "samples")) and not value > 0:
            yield f"{name}: {key} is {value}"


def faults(report):
    yield from (f"context: no {key}" for key in CONTEXT - report["context"].keys())
    if not report["results"]:
        yield "no results"
    for row in report["results"]:
        yield from faults_of(row)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        found = list(faults(json.load(file)))
    print("\n".join(found) or "whole")
    sys.exit(1 if found else 0)

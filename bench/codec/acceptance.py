#!/usr/bin/env python3
"""Are the kernels as fast as they should be?  acceptance.py [CODEC.json]

Judges float, 1 MiB, field class smooth (ratio near 8) in what `make bench-codec` wrote: shares of memcpy of as many
bytes in the same run, for AVX2 half of those for AVX-512; for scalar GB/s. Exit status: 0 if all that this processor
has is fast enough.
"""

import json
import sys

SHARES = {"encode": 0.55, "decode": 0.60, "frame_add": 0.90, "accumulate": 0.42}
SCALAR_ENCODE_GB_PER_S = 4.0


def targets():
    """(set, kernel, key of the measured figure, target)"""
    for kernel, share in SHARES.items():
        yield "avx512", kernel, "share_of_memcpy", share
    for kernel, share in SHARES.items():
        yield "avx2", kernel, "share_of_memcpy", share / 2
    yield "scalar", "encode", "gb_per_s", SCALAR_ENCODE_GB_PER_S


def judged(row):
    return (row["type"], row["field"], row["bytes"], row["codec"]) == ("f32", "smooth", 1 << 20, "planes")


def main(name):
    with open(name) as file:
        report = json.load(file)
    rows = {(row["set"], row["kernel"]): row for row in report["results"] if judged(row)}
    good = bool(rows)
    for kernels, kernel, key, target in targets():
        row = rows.get((kernels, kernel))
        if row is None:
            print(f"{kernels:7} {kernel:11} not measured")
            continue
        passed = row[key] >= target and row["within_bound"]
        good = good and passed
        print(
            f"{kernels:7} {kernel:11} {'share of memcpy' if key != 'gb_per_s' else 'GB/s':15} {row[key]:5.2f}, target"
            f" {target:.3g}: {'PASS' if passed else f'short by {1 - row[key] / target:.0%}'}"
            f"   ({row['gb_per_s']:.1f} beside memcpy's {row['memcpy_gb_per_s']:.1f} GB/s, ratio {row['ratio']:.2f})"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "bench-out/codec.json"))

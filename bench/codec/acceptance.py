#!/usr/bin/env python3
"""Judges whether the codec kernels reach their speed targets: acceptance.py [CODEC.json]

Reads the rows for float, 1 MiB, field class smooth (ratio near 8) that `make bench-codec` wrote. The targets
are shares of the speed of memcpy of as many bytes in the same run (AVX2: half of the shares of AVX-512); for
scalar kernels, GB/s. Exit status: 0 if every kernel set that this processor runs reaches its targets.
"""

import json
import sys

SHARES = {"encode": 0.55, "decode": 0.60, "frame_add": 0.90, "accumulate": 0.42}
SCALAR_ENCODE_GB_PER_S = 4.0


def targets():
    """Yields (set, kernel, key of the measured figure, target)."""
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

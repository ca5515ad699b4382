#!/usr/bin/env python3
"""Compares simulated calls with measured ones on emulated hosts.

  validate.py [--build BUILD_DIR] [--measured FILE] [--burst BYTES] [--json FILE] [--tolerance 0.15]

FILE is a report of taut_bench_collectives over a link (default: the committed one of two hosts at 1 Gbit/s). Each call of
Taut is simulated with the ratio that was measured, and with the speeds of the field whose ratio is nearest. Exit
status: 0; 1 if fewer than nine of ten calls are within the tolerance. An emulated link passes its first BYTES at once,
which is taken off the simulated time. BYTES is the burst of tools/rig/rig.sh when FILE was measured: 131072 for the
committed FILE (the default); for reports after 2026-11-23 the smaller one that `shape` in rig.sh sets. Calls below
8 MiB are left out: they send little more than the burst.
"""

import argparse
import json
import sys
from pathlib import Path

from costs import MEASURED, ROOT, Costs
from outcomes import Outcomes

OVER_A_LINK = MEASURED / "collectives_link_1gbit.json"
TCP_SHARE = 1448 / 1538  # of the link's bytes: the rest are headers and gaps
LATENCY_US, OVERHEAD_US = 50, 10  # TCP between two network namespaces
LEAST_BYTES = 8 << 20
NAMES = {"reduce_scatter_block": "reduce_scatter"}


def nearest(costs, ratio):
    """Returns the (field, bound) whose frames have the ratio that is nearest."""
    rows = [(abs(row["ratio"] - ratio), key[:2]) for key, row in costs.rows.items() if key[2:] == ("planes", 1)]
    return min(rows)[1]


def line_of(row, report, gbit, costs):
    words = [word for word in costs.words(*nearest(costs, row["ratio"])) if not word.startswith("bits")]
    collective = NAMES.get(row["operation"], row["operation"])
    call = [f"collective={collective}", f"ranks={report['ranks']}", f"bytes={row['bytes']}"]
    link = [f"gbit={gbit * TCP_SHARE:.6g}", f"latency_us={LATENCY_US}", f"overhead_us={OVERHEAD_US}"]
    return " ".join([*call, *link, "policy=abs:1,when=always", *words,
                     f"bits={32 / row['ratio']:.6g}"])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--measured", type=Path, default=OVER_A_LINK)
    parser.add_argument("--burst", type=int, default=131072)
    parser.add_argument("--json", type=Path, default=Path("bench-out/validation.json"))
    parser.add_argument("--gbit", type=float, default=1)
    parser.add_argument("--tolerance", type=float, default=0.15)
    options = parser.parse_args()
    report, costs = json.loads(options.measured.read_text()), Costs()
    rows = [row for row in report["results"] if row["variant"] == "taut" and row["compressed"]]
    rows = [row for row in rows if row["bytes"] >= LEAST_BYTES]
    lines = [line_of(row, report, options.gbit, costs) for row in rows]
    program = options.build / "bench/simulation/taut_simulate"
    outcomes = Outcomes(program, options.json.with_name("simulation_outcomes.jsonl")).of(lines)
    compared = []
    print("| call | measured, ms | simulated, ms | off |\n|---|---:|---:|---:|")
    for row, line in zip(rows, lines, strict=True):
        measured, simulated = row["median_us"] / 1e6, outcomes[line]["seconds"] - options.burst / (options.gbit * 1.25e8)
        off = simulated / measured - 1
        compared.append({"operation": row["operation"], "bytes": row["bytes"], "measured": measured,
                         "simulated": simulated, "off": off, "scenario": line})  # fmt: skip
        print(f"| {row['operation']}, {row['bytes']} B | {measured * 1e3:.1f} | {simulated * 1e3:.1f} | {100 * off:+.1f} % |")
    within = sum(abs(one["off"]) <= options.tolerance for one in compared)
    print(f"\n{within} of {len(compared)} calls within {100 * options.tolerance:.0f} %")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"measured": options.measured.name, "calls": compared}, indent=1) + "\n")
    return 0 if compared and 10 * within >= 9 * len(compared) else 1


if __name__ == "__main__":
    sys.exit(main())

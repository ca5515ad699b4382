#!/usr/bin/env python3
"""Compares simulated calls with measured ones on emulated hosts.

  validate.py [--build BUILD_DIR] [--measured FILE] [--gbit 1] [--json FILE] [--tolerance 0.15]

FILE is a report over a link, of taut_bench_collectives (default: the committed one of two hosts at 1 Gbit/s) or of
bench/net/net.py, of which the calls count whose gate passed at that rate. Each call of Taut is simulated with the ratio
that was measured, and with the speeds of its field, or of the field whose ratio is nearest. Exit status: 0; 1 if fewer
than nine of ten calls are within the tolerance. An emulated link passes a burst at once, which is taken off the
simulated time: `burst_bytes` of the report, or what `shape` in tools/rig/rig.sh sets. Calls below 8 MiB are left out:
they send little more than the burst.
"""

import argparse
import json
import sys
from pathlib import Path

from costs import Costs
from machine import RESULTS, ROOT
from outcomes import Outcomes

OVER_A_LINK = RESULTS / "collectives_link_1gbit.json"
TCP_SHARE = 1448 / 1538  # of the link's bytes: the rest are headers and gaps
LATENCY_US, OVERHEAD_US = 50, 10  # TCP between two network namespaces
LEAST_BYTES = 8 << 20
BOUND_OF_NET = 1e-4  # of the range, in net.py
NAMES = {"reduce_scatter_block": "reduce_scatter"}


def nearest(costs, ratio):
    """Returns the (field, bound) whose frames have the ratio that is nearest."""
    rows = [(abs(row["ratio"] - ratio), key[:2]) for key, row in costs.rows.items() if key[2:] == ("planes", 1)]
    return min(rows)[1]


def burst_of(report, gbit):
    """Returns the bytes that a link passes at once: 0.25 ms of its rate, and at least two packets of 16 KiB."""
    return report.get("burst_bytes", max(32768, int(31000 * gbit)))


def calls_of(report, gbit):
    """Returns the compressed calls as {name, operation, ranks, bytes, ratio, seconds, field}; the field may be unknown."""
    if "rows" not in report:
        rows = [row for row in report["results"] if row["variant"] == "taut"]
        named = [(row, row["median_us"] / 1e6, report["ranks"], None, "") for row in rows]
    else:
        rows = [row for row in report["rows"] if row["rate"] == f"{gbit:g}gbit" and row["gate"]["passed"]]
        named = [(row, row["taut_ms"] / 1e3, report["hosts"], row["field"], f", {row['field']}, {row['mpi']}") for row in rows]
    return [
        {
            "name": f"{row['operation']}, {row['bytes']} B{more}", "operation": row["operation"], "ranks": ranks,
            "bytes": row["bytes"], "ratio": row["ratio"], "seconds": seconds, "field": field,
        }
        for row, seconds, ranks, field, more in named if row["compressed"] and row["bytes"] >= LEAST_BYTES
    ]  # fmt: skip


def line_of(row, gbit, costs):
    measured = (row["field"], BOUND_OF_NET) if row["field"] in costs.fields() else nearest(costs, row["ratio"])
    words = [word for word in costs.words(*measured) if not word.startswith("bits")]
    collective = NAMES.get(row["operation"], row["operation"])
    call = [f"collective={collective}", f"ranks={row['ranks']}", f"bytes={row['bytes']}"]
    link = [f"gbit={gbit * TCP_SHARE:.6g}", f"latency_us={LATENCY_US}", f"overhead_us={OVERHEAD_US}"]
    return " ".join([*call, *link, "policy=abs:1,when=always", *words,
                     f"bits={32 / row['ratio']:.6g}"])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--measured", type=Path, default=OVER_A_LINK)
    parser.add_argument("--json", type=Path, default=Path("bench-out/validation.json"))
    parser.add_argument("--gbit", type=float, default=1)
    parser.add_argument("--tolerance", type=float, default=0.15)
    options = parser.parse_args()
    report, costs = json.loads(options.measured.read_text()), Costs()
    rows = calls_of(report, options.gbit)
    lines = [line_of(row, options.gbit, costs) for row in rows]
    burst = burst_of(report, options.gbit) / (options.gbit * 1.25e8)
    program = options.build / "bench/simulation/taut_simulate"
    outcomes = Outcomes(program, options.json.with_name("simulation_outcomes.jsonl")).of(lines)
    compared = []
    print("| call | measured, ms | simulated, ms | off |\n|---|---:|---:|---:|")
    for row, line in zip(rows, lines, strict=True):
        measured, simulated = row["seconds"], outcomes[line]["seconds"] - burst
        off = simulated / measured - 1
        compared.append({"call": row["name"], "measured": measured, "simulated": simulated, "off": off, "scenario": line})
        print(f"| {row['name']} | {measured * 1e3:.1f} | {simulated * 1e3:.1f} | {100 * off:+.1f} % |")
    within = sum(abs(one["off"]) <= options.tolerance for one in compared)
    print(f"\n{within} of {len(compared)} calls within {100 * options.tolerance:.0f} %")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"measured": options.measured.name, "calls": compared}, indent=1) + "\n")
    return 0 if compared and 10 * within >= 9 * len(compared) else 1


if __name__ == "__main__":
    sys.exit(main())

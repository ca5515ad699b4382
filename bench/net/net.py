#!/usr/bin/env python3
"""Measures collectives over links of several rates, between network namespaces that the run makes itself.

  net.py [--quick] [--data FOLDER] [--rates A,B] [--fields A,B] [--hosts 2] [--json FILE] NAME=BUILD_DIR...

One build for each MPI; needs root. FOLDER holds MANIFEST.json and fields, packed by xz or not; without it the data are
smooth waves of two ratios. Rates: 1gbit,2.5gbit,5gbit,10gbit; for the many fields of FOLDER the lowest and the highest.
Before each job plain MPI is checked against the link, in three tries (tools/rig/gate.c): where it does not reach 0.9 of
the rate, the rows are marked `reaches_link: false`, and their gains say little. On two cores that is so from 2.5 Gbit/s
on, and on a busy machine at any rate.

FILE, which grows with each job, is bench-out/net.json, or bench-out/net_fields.json for a FOLDER. Copies in the folder
of bench/machine.py's RESULTS are what `make papers` prints.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("bench", "bench/codec", "bench/collective")]
import machine  # noqa: E402
from fields import TYPES, raw_file  # noqa: E402
from link_acceptance import SHARE_OF_LINK, launcher  # noqa: E402
from spread import quartiles  # noqa: E402

OPERATIONS = "allreduce,allgather,bcast"
BOUND_OF_RANGE = 1e-4
RATES, RATES_OF_FIELDS = "1gbit,2.5gbit,5gbit,10gbit", "1gbit,10gbit"
TRIES = 3  # of the gate: a job takes about 15 s, of which a failed try takes 3
GATE = re.compile(r"gate: one way (\d+), both ways (\d+) of \d+ Mbit/s: (\w+)")
SMOOTH = {"smooth, ratio near 8": "4.6", "smooth, ratio near 20": "0.4"}  # noise in bounds


def data_of(folder, wanted, temporary):
    """Yields (name, options of taut_bench_collectives). `wanted`: names of fields; none: all."""
    if folder is None:
        for name, roughness in SMOOTH.items():
            yield name, ["--data", "smooth", "--roughness", roughness, "--bound", "1e-4"]
        return
    for field in json.loads((folder / "MANIFEST.json").read_text())["fields"]:
        if field["dtype"] in TYPES and (not wanted or field["name"] in wanted):
            path = raw_file(folder, field, temporary)
            bound = BOUND_OF_RANGE * (field["max"] - field["min"])
            yield field["name"], ["--data", path, "--type", TYPES[field["dtype"]], "--bound", f"{bound:.9g}"]
            if path.parent == temporary:
                path.unlink()


def mbit(rate):
    """Returns a rate such as 2.5gbit in Mbit/s."""
    return float(rate.removesuffix("gbit")) * 1000


def run_job(build, rate, data, options, temporary):
    """Runs one job; returns its rows with the gate's result and the load, or None."""
    result = temporary / "job.json"
    command = [
        ROOT / "tools/rig/on_link.sh", "--mpiexec", launcher(build), "--mbit", round(mbit(rate)), "--hosts", options.hosts,
        "--gate", "warn", "--tries", TRIES, "--seconds", 300, "--", build / "bench/collective/taut_bench_collectives", "--ops", OPERATIONS,
        "-m", f"{options.size}:{options.size}", "-i", options.iterations, "--interface", "eth0", "--link", f"{rate} links",
        *data, "--json", result,
    ]  # fmt: skip
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="", flush=True)
    if done.returncode not in (0, 1) or not result.exists():
        return None
    job = json.loads(result.read_text())
    result.unlink()
    one_way, both_ways, verdict = (GATE.findall(done.stdout) or [(0, 0, "ended")])[-1]
    gate = {"one_way_mbit": int(one_way), "both_ways_mbit": int(both_ways), "passed": verdict == "passed"}
    for row in job["results"]:
        row |= {"mpi": job["mpi"], "load": job["load"], "gate": gate}
    return job["results"]


def rows_of(results, rate, field):
    """Yields one row for each operation: plain MPI, Taut, and Taut's algorithm without compression."""
    for operation in OPERATIONS.split(","):
        of = {row["variant"]: row for row in results if row["operation"] == operation}
        plain, taut = of["plain"], of["taut"]
        ideal_us = plain["ideal_bytes"] * 8 / mbit(rate)
        yield {
            "operation": operation, "mpi": plain["mpi"], "rate": rate, "field": field, "load": plain["load"],
            "bytes": plain["bytes"], "gate": plain["gate"],
            "plain_ms": plain["median_us"] / 1e3, "plain_quartiles_ms": [us / 1e3 for us in quartiles(plain["us"])],
            "taut_ms": taut["median_us"] / 1e3, "taut_quartiles_ms": [us / 1e3 for us in quartiles(taut["us"])],
            "taut_raw_ms": of["taut-raw"]["median_us"] / 1e3, "ideal_ms": ideal_us / 1e3, "ratio": taut["ratio"],
            "gain": plain["median_us"] / taut["median_us"], "compressed": taut["compressed"],
            "reaches_link": plain["gate"]["passed"] and ideal_us / plain["median_us"] >= SHARE_OF_LINK,
            "within_bound": taut["within_bound"], "identical": taut["identical"],
        }  # fmt: skip


def measured(options):
    """Measures all jobs, keeps their rows in the file, and returns the rows."""
    report = machine.record() | {"hosts": options.hosts, "size": options.size, "iterations": options.iterations, "rows": []}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in options.fields.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        for field, data in data_of(options.data, wanted, Path(folder)):
            for build, rate in itertools.product(options.builds, options.rates.split(",")):
                job = run_job(Path(build.partition("=")[2]), rate, data, options, Path(folder))
                if job is None:
                    print(f"net.py: no result of {build} at {rate} with {field}", file=sys.stderr)
                    continue
                report["rows"] += rows_of(job, rate, field)
                options.json.write_text(json.dumps(report, indent=1) + "\n")
    return report["rows"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="NAME=BUILD_DIR")
    parser.add_argument("--quick", action="store_true", help="one rate, three calls of each kind")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--fields", default="", help="names, separated by commas; default: all")
    parser.add_argument("--rates")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--size", default="16M")
    parser.add_argument("--iterations", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.json = options.json or Path("bench-out") / ("net_fields.json" if options.data else "net.json")
    options.rates = options.rates or (RATES_OF_FIELDS if options.data else RATES)
    if options.quick:
        options.rates, options.iterations = "1gbit", 3
    rows = measured(options)
    print("\n| call | MPI | link | data | plain, ms | Taut, ms | gain | ratio | plain at 0.9 of the link |")
    print("|---|---|---|---|---:|---:|---:|---:|---|")
    for row in rows:
        print(f"| {row['operation']} | {row['mpi']} | {row['rate']} | {row['field']} | {row['plain_ms']:.1f} |"
              f" {row['taut_ms']:.1f} | {row['gain']:.2f} | {row['ratio']:.1f} | {'yes' if row['reaches_link'] else 'NO'} |")  # fmt: skip
    good = bool(rows) and all(row["within_bound"] and row["identical"] for row in rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

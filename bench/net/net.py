"""Measures collectives over links of several rates (`make bench-net`), between network namespaces that the run makes itself.
Needs root.

--data names a folder as fields.py takes it; without it the data are smooth waves of two ratios. For the many fields of a folder
the rates are the lowest and the highest. Before each job plain MPI is checked against the link, in three tries
(tools/rig/gate.c): where it does not reach 0.9 of the rate, the rows are marked `reaches_link: false`, and their gains say
little. On two cores that is so from 2.5 Gbit/s on, and on a busy machine at any rate. Copies of the report in the folder of
bench/report.py's RESULTS, net.json and net_fields.json, are what `make papers` prints.
"""

import itertools
import re
from argparse import Namespace

import latency
from fields import TYPES, fields_of
from link_acceptance import BUILDS, SHARE_OF_LINK
from spread import quartiles
from suite import Suite, mbit_of, passed_on

OPERATIONS = "allreduce,allgather,bcast"
BOUND_OF_RANGE = 1e-4
RATES, RATES_OF_FIELDS = "1gbit,2.5gbit,5gbit,10gbit", "1gbit,10gbit"
TRIES = 3  # of the gate: a job takes about 15 s, of which a failed try takes 3
GATE = re.compile(r"gate: one way (\d+), both ways (\d+) of \d+ Mbit/s: (\w+)")
SMOOTH = {"smooth, ratio near 8": "4.6", "smooth, ratio near 20": "0.4"}  # noise in bounds


def data_of(options):
    """Yields (name, arguments of taut_bench_collectives)."""
    if not options.data:
        for name, roughness in SMOOTH.items():
            yield name, ["--data", "smooth", "--roughness", roughness, "--bound", "1e-4"]
        return
    for field, path in fields_of(Namespace(taut_fields=options.data, fields=options.fields)):
        bound = BOUND_OF_RANGE * (field["max"] - field["min"])
        yield field["name"], ["--data", path, "--type", TYPES[field["dtype"]], "--bound", f"{bound:.9g}"]


def run_job(build, rate, data, options):
    """Runs one job; returns its rows with the gate's result, or None."""
    said = []

    def heard(line):
        said.append(line)
        passed_on(line)

    words = ["--ops", OPERATIONS, "-m", f"{options.size}:{options.size}", "-i", options.iterations, *data]
    try:
        gate = ["--gate", "warn", "--tries", TRIES]
        settings, rows = latency.job(build, words, options.hosts, rate, seconds=300, gate=gate, other=heard)
    except (SystemExit, ValueError) as failure:
        print(f"no result of {build} at {rate}: {failure}")
        return None
    one_way, both_ways, verdict = (GATE.findall("".join(said)) or [(0, 0, "ended")])[-1]
    gate = {"one_way_mbit": int(one_way), "both_ways_mbit": int(both_ways), "passed": verdict == "passed"}
    return [row | {"mpi": settings["mpi"], "load": settings["load"], "gate": gate} for row in rows]


def rows_of(results, rate, field):
    """Yields one row for each operation: plain MPI, Taut, and Taut's algorithm without compression."""
    for operation in OPERATIONS.split(","):
        of = {row["variant"]: row for row in results if row["operation"] == operation}
        plain, taut = of["plain"], of["taut"]
        ideal_us = plain["ideal_bytes"] * 8 / mbit_of(rate)
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
    options.settings |= {"hosts": options.hosts, "size": options.size, "iterations": options.iterations}
    rates = options.rates or (RATES_OF_FIELDS if options.data else RATES)
    for field, data in data_of(options):
        for build, rate in itertools.product(options.builds, rates.split(",")):
            job = run_job(build, rate, data, options)
            yield from rows_of(job, rate, field) if job else ()


SUITE = Suite(
    about=__doc__, rows=measured, needs="bench_net", builds=BUILDS, quick={"rates": "1gbit", "iterations": 3},
    options={"data": ("", "folder of fields"), "fields": ("", "names, separated by commas; none: all"), "rates": ("", "of the links"),
             "hosts": (2, "emulated hosts"), "size": ("16M", "bytes"), "iterations": (7, "calls")},
    columns={"call": "{operation}", "MPI": "{mpi}", "link": "{rate}", "data": "{field}", "plain, ms": "{plain_ms:.1f}",
             "Taut, ms": "{taut_ms:.1f}", "gain": "{gain:.2f}", "ratio": "{ratio:.1f}", "identical": "{identical}",
             "plain at 0.9 of the link": "{reaches_link}"},
)  # fmt: skip

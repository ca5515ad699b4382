"""Measures the gain of each optimisation, from compression inside point-to-point calls to Taut's own choice, in one job.

The order is that of C-Coll (Huang et al., IPDPS 2024, "step-wise optimizations") and hZCCL (Huang et al., SC 2024): a codec
at every hop; each value coded once and moved as a frame; coding and transfer of segments overlapped; then the codec, and sums
of frames. All keep the same bound on the result.
"""

import latency
from report import write
from spread import quartiles
from suite import Suite

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


def step_rows(operation, rows):
    """Yields the rows of the steps in their order, each with its description, gain and quartiles."""
    variants = {row["variant"]: row for row in rows}
    named = [("plain MPI", "plain"), *((what, f"policy-{k}") for k, (what, _) in enumerate(steps_of(operation), start=1))]
    before = None
    for what, variant in [*named, ("Taut's own choice", "taut")]:
        row = variants[variant]
        low, high = quartiles(row["us"])
        over = before["median_us"] / row["median_us"] if before else None
        yield row | {"step": what, "lower_us": low, "upper_us": high, "gain": variants["plain"]["median_us"] / row["median_us"], "over": over}
        before = row


def measured(options):
    options.runs = []
    for operation in options.ops.split(","):
        if operation not in MOVES:
            raise SystemExit(f"--ops: no steps for {operation}; there are {', '.join(MOVES)}")
        words = ["--ops", operation, "-m", f"{options.size}:{options.size}", "-x", 20, "-i", options.iterations, "--data", options.data]
        words += ["--bound", options.bound, *options.rest]
        for _, policy in steps_of(operation):
            words += ["--policy", f"abs:{options.bound},when=always,{policy}"]
        settings, rows = latency.job(options.builds[0], words, options.ranks, options.link, options.ranks // options.per_host)
        options.runs.append({"operation": operation} | settings | {"rows": rows})
        yield from step_rows(operation, rows)


def write_runs(run, options):
    """Writes a run for each operation, of which `make papers` makes its tables."""
    head = {key: value for key, value in run.items() if key != "rows"}
    write(options.out / "steps.json", *(head | one for one in options.runs))


SUITE = Suite(
    about=__doc__, rows=measured, finish=write_runs, needs="bench", builds=latency.BUILDS, quick={"iterations": 3, "size": "1M"},
    options=latency.SUITE.options | {
        "ops": (",".join(MOVES), "collectives"), "size": ("16M", "bytes"), "bound": ("1e-4", "of the result"),
        "data": ("smooth", "smooth, random or a file"), "iterations": (9, "calls")},
    columns={"call": "{operation}", "step": "{step}", "us": "{median_us:.0f}", "quartiles": "{lower_us:.0f} to {upper_us:.0f}",
             "gain": "{gain:.2f}", "over the step before": "{over:.2f}", "coding, us": "{coding_us:.0f}", "ratio": "{ratio:.2f}",
             "sent, B": "{sent_bytes:.0f}"},
)  # fmt: skip

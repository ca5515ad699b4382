"""Simulates collectives on 16 to 512 nodes at 10 to 400 Gbit/s, in the configurations of the papers (`make bench-sim`).

Every row has the fastest uncompressed call at line rate, the same in whole messages with time for sums (as MPICH runs
it), and compressed calls: coded at every hop (CPR-P2P; by szx, and where it was measured by zfp within the bound and at
a fixed rate), C-Coll (szx, by values), hZCCL (planes, by frames) and Taut's own choice. Coding takes the times that
were measured on one machine (costs.py); the network is that of taut_simulate. All rows are simulated: they are the same
on any machine.

Outcomes are kept in simulation_outcomes.jsonl beside the report. A sweep that was interrupted, or that --minutes ended, goes on
there (exit status 3 while something is left). Outcomes of other sources of the simulation are not used.
"""

import itertools
import math
import os
import sys

from costs import RATE, Costs
from outcomes import Incomplete, Outcomes
from suite import RELEASE, Suite

# The data classes of the rows, as (field, bound in units of the range). They stand for the papers' ratios near 8 and
# near 50; each row states the ratio that was measured. The fields are float32, as the messages are.
CLASSES = {"ratio8": ("nbody_density", 1e-4), "ratio50": ("spitzer_image", 1e-2)}
C_COLL_SIZES = (28, 128, 278, 678)  # MB; C-Coll has 28 to 678
LATENCY_US, OVERHEAD_US = 1.5, 0.4
MB = 1_000_000
CPR_P2P = ",codec=szx,algorithm=cpr_p2p,segments=1"  # zfp's variants use their own costs instead of szx's
VARIANTS = {  # name: (codec whose measured costs are used, options of the policy)
    "zfp": ("zfp", CPR_P2P),
    "zfp_rate": (RATE, CPR_P2P),
    "cpr_p2p": ("szx", CPR_P2P),
    "once": ("szx", ",codec=szx,algorithm=ring,reduction=values,segments=1"),
    "ccoll": ("szx", ",codec=szx,algorithm=ring,reduction=values"),
    "values": ("planes", ",codec=planes,algorithm=ring,reduction=values"),
    "hzccl": ("planes", ",codec=planes,algorithm=ring,reduction=frames"),
    "taut": ("planes", ""),
}
# Axes of the map of break-even.
RATES, THREADS, RATIOS = (1, 10, 25, 50, 100, 200, 400), (1, 4, 16), (1.5, 2, 4, 8, 16, 32, 64)
# Ways to forward frames of unequal sizes, as further words of a scenario.
FORWARDING = {
    "whole frames": "policy=abs:1,when=always{algorithm},segments=1 packets=0",
    "segments": "policy=abs:1,when=always{algorithm} packets=0",
    "packets": "policy=abs:1,when=always{algorithm}",
}
UNEQUAL_CALLS = (("allgather", ",algorithm=ring"), ("bcast", ",algorithm=chain"))
UNEQUAL_BITS = "bits=16 last_bits=0.32"  # ratios from 2 to 100
IDEAL_THREADS = "ideal_threads"  # the set whose speeds grow in proportion to the threads
# Full nodes: block placement, one link a node, memory of 300 GB/s a node. A row of 512 ranks takes minutes and some GB to
# simulate, so that larger clusters have the times of the cost model, except halos: the model knows no bricks, and a halo
# has few messages.
MEMORY_OF_NODE = 300
NODES = {  # of set "nodes": numbers of nodes and ranks a node, calls, MB and Gbit/s
    "clusters": ((16, 1), (64, 1), (16, 8), (4, 32), (16, 32), (64, 128)),
    "calls": ("allreduce", "reduce_scatter", "allgather", "bcast", "reduce", "alltoall", "gather", "scatter"),
    "sizes": (1, 8, 64), "rates": (100,),
}  # fmt: skip
HALO = "neighbor_alltoall"
FULL_NODES = {  # of set "full_nodes", a table of docs/results
    "clusters": ((4, 1), (4, 8), (4, 32), (4, 128)),
    "calls": ("allreduce", "alltoall", "allgather", "bcast", "gather", "scatter", HALO),
    "sizes": (8,), "rates": (10, 100, 200, 400),
}  # fmt: skip
MOST_SIMULATED_RANKS, MOST_WORK_OF_NODES = 256, 4096  # ranks; ranks times MB
MOVES = {"bcast": "binomial", "scatter": "binomial"}
REDUCTIONS = ("allreduce", "reduce_scatter")
# On more ranks a simulation takes long. Rows then have only the variants that the papers have, and Taut's choice is its
# first one, before the engine has tried other algorithms.
MOST_RANKS_OF_STEPS = 64
BASELINES_OF_ZFP = ("zfp", "zfp_rate")  # by one thread, as the codec has no more


def variants_of(row, costs):
    """Returns the variants that differ for a row and whose codecs were measured on its field: codec and options."""
    collective, ranks, _, _, threads, field, bound = row
    if collective in REDUCTIONS and ranks > MOST_RANKS_OF_STEPS:
        return {name: VARIANTS[name] for name in ("ccoll", "hzccl", "taut")}
    absent = [name for name in BASELINES_OF_ZFP if threads > 1 or not costs.row(field, bound, VARIANTS[name][0])]
    chosen = {name: one for name, one in VARIANTS.items() if name not in absent}
    if collective in REDUCTIONS:
        return chosen
    moves = {name: chosen[name] for name in (*BASELINES_OF_ZFP, "cpr_p2p", "once", "taut") if name in chosen}
    if collective in MOVES:
        moves["once"] = ("szx", f",codec=szx,algorithm={MOVES[collective]},segments=1")
    return moves


def sets(costs, quick):
    """Yields (set, rows); a row is (collective, ranks, bytes, gbit, threads, field, bound)."""
    nodes = (16, 64) if quick else (2, 8, 32, 128, 512)
    sizes = (64,) if quick else (4, 28, 64, 256)
    rates = (10, 100, 400) if quick else (10, 25, 50, 100, 200, 400)
    bounds = (1e-4,) if quick else (1e-2, 1e-3, 1e-4)
    both = list(CLASSES.values())
    for collective in REDUCTIONS:
        yield f"{collective}_sizes", [
            (collective, 64, size * MB, 100, threads, *one) for size in sizes for threads in (1, 16) for one in both
        ]
    yield "links", [
        ("allreduce", 64, 64 * MB, gbit, threads, *one)
        for gbit in rates for threads in ((1, 16) if quick else (1, 4, 16)) for one in both
    ]  # fmt: skip
    yield "fields", [
        ("allreduce", 64, 64 * MB, 100, threads, field, bound)
        for field in costs.floats() for bound in bounds for threads in (1, 16)
    ]  # fmt: skip
    yield "moves", [
        (collective, ranks, size * MB, 100, 1, *one)
        for collective in ("bcast", "scatter", "allgather") for ranks in (16, 64) for size in (28, 128) for one in both
    ]  # fmt: skip
    yield "stacking", [
        ("allreduce", 16, 128 * MB, 100, threads, field, 1e-4)
        for field in ("seismic_wave_early", "seismic_wave_late") for threads in (1, 16)
    ]  # fmt: skip
    yield IDEAL_THREADS, [("allreduce", 64, 64 * MB, 100, 16, *one) for one in both]
    for ranks, threads in ((16, (1, 16)), (128, (1,))):  # C-Coll's numbers of nodes
        yield f"allreduce_sizes_{ranks}", [
            ("allreduce", ranks, size * MB, 100, count, *one) for size in C_COLL_SIZES for count in threads for one in both
        ]
    for collective in REDUCTIONS:  # last, as 512 nodes take longest
        yield f"{collective}_nodes", [
            (collective, ranks, 646 * MB, 100, threads, *one) for ranks in nodes for threads in (1, 16) for one in both
        ]


def lines_of(row, costs):
    """Yields (variant, line of taut_simulate) for a row."""
    collective, ranks, size, gbit, threads, field, bound = row
    call = [f"collective={collective}", f"ranks={ranks}", f"bytes={size // (4 * ranks) * 4 * ranks}", f"gbit={gbit}"]
    call += [f"latency_us={LATENCY_US}", f"overhead_us={OVERHEAD_US}"]
    yield "plain", " ".join([*call, "plain=1"])
    in_mpi = f"sum={costs.sum_speed(field, bound):.6g}" if collective in REDUCTIONS else "whole=1"
    yield "mpi", " ".join([*call, "plain=1", in_mpi])
    for name, (codec, options) in variants_of(row, costs).items():
        words = costs.words(field, bound, codec, threads) if options else costs.words_of_both(field, bound, threads)
        settled = ["settled=1"] if not options and ranks <= MOST_RANKS_OF_STEPS else []
        roof = [f"memory={MEMORY_OF_NODE}"] if threads > 1 else []
        yield name, " ".join([*call, f"policy=abs:1,when=always{options}", *settled, *words, *roof])


def described(row, outcomes, costs):
    collective, ranks, size, gbit, threads, field, bound = row
    plain = outcomes["plain"]["seconds"]
    return {
        "collective": collective, "ranks": ranks, "bytes": size, "gbit": gbit, "threads": threads, "field": field,
        "bound_of_range": bound, "ratio": costs.ratio(field, bound),
        "gains": {name: plain / one["seconds"] for name, one in outcomes.items()}, "outcomes": outcomes,
    }  # fmt: skip


def break_even(outcomes, costs):
    """Returns rows of {gbit, threads, ratio, gain} of an allreduce of 16 MB on 16 nodes, at the median speeds of the fields."""
    call = f"collective=allreduce ranks=16 bytes={16 * MB} latency_us={LATENCY_US} overhead_us={OVERHEAD_US}"
    lines = {}
    for gbit, threads, ratio in itertools.product(RATES, THREADS, RATIOS):
        words = " ".join(costs.typical_words(ratio, threads))
        lines[gbit, threads, ratio] = f"{call} gbit={gbit} policy=abs:1,when=always {words}"
    plain = {gbit: f"{call} gbit={gbit} plain=1" for gbit in RATES}
    found = outcomes.of([*lines.values(), *plain.values()])
    return [
        {
            "gbit": gbit, "threads": threads, "ratio": ratio,
            "gain": found[plain[gbit]]["seconds"] / found[line]["seconds"],
        }
        for (gbit, threads, ratio), line in lines.items()
    ]  # fmt: skip


def unequal(outcomes, costs):
    """Returns rows of {collective, ranks, threads, seconds: {way}} of messages whose ratio goes from 2 to 100.

    Threads 0 means that coding takes no time.
    """
    lines = {}
    for (collective, algorithm), ranks, threads in itertools.product(UNEQUAL_CALLS, (16, 64), (0, 16)):
        speeds = "encode=1e6 decode=1e6 call_us=0" if threads == 0 else " ".join(costs.typical_words(8, threads))
        for way, words in FORWARDING.items():
            lines[collective, ranks, threads, way] = (
                f"collective={collective} ranks={ranks} bytes={64 * MB} gbit=100 latency_us={LATENCY_US}"
                f" overhead_us={OVERHEAD_US} {words.format(algorithm=algorithm)} {speeds} {UNEQUAL_BITS}"
            )
    found = outcomes.of(lines.values())
    rows = {}
    for (*key, way), line in lines.items():
        row = rows.setdefault(tuple(key), dict(zip(("collective", "ranks", "threads"), key)) | {"seconds": {}})
        row["seconds"][way] = found[line]["seconds"]
    return list(rows.values())


def tuned(outcomes, costs, grid):
    """Returns rows of calls as the tuner serves them from the first one on, with a case for each size and rate: `gain` is that of the fastest
    of plain MPI, flat and by nodes, `first_100` is in units of 100 plain calls, `after_10` in units of the fastest.
    """
    words = " ".join(costs.words_of_both(*CLASSES["ratio8"]))
    lines = {}
    for cluster, call, size, gbit in itertools.product(*grid.values()):
        ranks = math.prod(cluster)
        modelled = is_modelled(ranks, call)
        if not modelled and ranks * size > MOST_WORK_OF_NODES:
            continue
        shared = f" ranks_a_host={cluster[1]}" if cluster[1] > 1 else ""
        shared += " modelled=1" if modelled else ""
        lines[(*cluster, call, size * MB, gbit)] = (
            f"collective={call} ranks={ranks} bytes={size * MB // (4 * ranks) * 4 * ranks} gbit={gbit} memory={MEMORY_OF_NODE}"
            f" latency_us={LATENCY_US} overhead_us={OVERHEAD_US} policy=abs:1 tuned=1{shared} {words}"
        )
    found = outcomes.of(lines.values())
    rows = {}
    for (count, a_node, call, size, gbit), line in lines.items():
        row = rows.setdefault((count, a_node, call), {
            "ranks": count * a_node, "ranks_a_node": a_node, "collective": call, "ratio": costs.ratio(*CLASSES["ratio8"]),
            "modelled": is_modelled(count * a_node, call), "cases": [],
        })  # fmt: skip
        row["cases"].append({"bytes": size, "gbit": gbit} | {name: rounded(value) for name, value in relative(found[line]).items()})
    return list(rows.values())


def is_modelled(ranks, call):
    return ranks > MOST_SIMULATED_RANKS and call != HALO


def relative(one):
    """Returns the outcome of a tuned call in units of plain MPI, of 100 plain calls and of the fastest way; None: there is no such way."""
    best = min(one[way] for way in ("plain", "flat", "by_nodes") if one[way] > 0)
    ways = {way: one["plain"] / one[way] if one[way] else None for way in ("flat", "by_nodes")}
    return {
        "plain_ms": 1e3 * one["plain"], "gain": one["plain"] / best, **ways, "first": one["first"], "first_plain": one["first_plain"],
        "first_100": one["first_100"] / (100 * one["plain"]), "after_10": one["after_10"] / best,
    }  # fmt: skip


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def swept(options):
    """Yields the rows of the wanted sets."""
    wanted, costs = [name for name in options.sets.split(",") if name], Costs()
    program = options.builds[0] / "bench/simulation/taut_simulate"
    outcomes = Outcomes(program, options.out / "simulation_outcomes.jsonl", options.jobs, options.minutes or None)
    options.settings |= {
        "simulated": True, "latency_us": LATENCY_US, "overhead_us": OVERHEAD_US, "speeds_of": costs.context,
        "thread_exponents": costs.exponents, "quick": options.quick, "sources": outcomes.sources,
    }  # fmt: skip
    try:
        for name, rows in sets(costs, options.quick):
            if wanted and name not in wanted:
                continue
            of_set = costs.with_ideal_threads() if name == IDEAL_THREADS else costs
            lines = [dict(lines_of(row, of_set)) for row in rows]
            found = outcomes.of([line for one in lines for line in one.values()])
            for row, one in zip(rows, lines, strict=True):
                yield {"set": name} | described(row, {variant: found[line] for variant, line in one.items()}, costs)
        for name, rows in (("break_even", break_even), ("unequal", unequal)):
            if not wanted or name in wanted:
                yield from ({"set": name} | row for row in rows(outcomes, costs))
        for name, grid in (("nodes", NODES), ("full_nodes", FULL_NODES)):
            if not wanted or name in wanted:
                yield from ({"set": name} | row for row in tuned(outcomes, costs, grid))
    except Incomplete as left:
        print(f"\n{left}")
        sys.exit(3)


def mean_gain(run, options):
    gains = [row["gains"]["taut"] for row in run["rows"] if "gains" in row]
    if gains:
        print(f"{len(gains)} rows; Taut's gain: geometric mean {math.exp(sum(map(math.log, gains)) / len(gains)):.2f}x")


SUITE = Suite(
    about=__doc__, rows=swept, finish=mean_gain, needs="bench_sim", builds={"release": f"taut_simulate {RELEASE}"},
    options={"sets": ("", "names, separated by commas; none: all"), "minutes": (0.0, "begin no simulation after that time; 0: no limit"),
             "jobs": (len(os.sched_getaffinity(0)), "simulations at a time")},
    columns={"set": "{set}", "call": "{collective}", "nodes": "{ranks}", "bytes": "{bytes}", "Gbit/s": "{gbit}", "threads": "{threads}",
             "field": "{field}", "ratio": "{ratio:.1f}"}
    | {name: f"{{gains[{name}]:.2f}}" for name in ("mpi", *VARIANTS)} | {"gain": "{gain:.2f}", "seconds": "{seconds}"},
)  # fmt: skip

#!/usr/bin/env python3
"""Writes docs/results, how Taut compares with the four papers, and the tables of the comparison in bench/results/papers.

  papers.py [--simulation bench-out/sim.json] [--out docs/results] [--tables bench/results/papers]

The simulated rows are those of bench/simulation/sweep.py; `make papers` runs both.
"""

import argparse
import os
import sys
import textwrap
from pathlib import Path

import tables
import targets
from break_even_map import NODES, write_break_even
from claims import CLAIMS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import Panel, Series, chart  # noqa: E402
from report import ROOT, only_run, rows, runs, write  # noqa: E402

GPUS = ROOT / "bench/results/simulation/gpus.json"
OF_NODES = ("nodes", "full_nodes")  # sets with several ranks a node

INTRODUCTION = """# Taut beside the papers

Written by `make papers`; not to be edited. For each result table and figure of the four papers [a
table](../../bench/results/papers/README.md#claims) names Taut's counterpart, or says why there is none. Where the papers
gain more, [another](../../bench/results/papers/README.md#targets) says how much more, and why.

**Losses first.** {losses} Nothing was measured on a cluster: measurements ran on at most 4 hosts, emulated on two cores,
at up to 5 Gbit/s, and on single GPUs. A simulated host has one rank; where it has several threads, its memory carries
300 GB/s, in compressed calls alone.

**Simulated** rows come from [simulation.json](simulation.json), {size}. The engine's own plans and
algorithms run on simulated hosts, joined by one switch that never blocks
([how](../howto/simulate_collectives.md)). Coding takes the times that were measured on one machine
({processor}, {date}, commit {commit}), by one thread; {threads}. Kernels that became faster after that commit are
not in these times.
A gain is the time of the *fastest uncompressed algorithm at the full rate of the link* over that of
the compressed call. `mpi` is the uncompressed call as MPICH runs it: messages are whole, and blocks of a
reduction are added after their arrival, by one thread. The papers divide by such a call. The other
variants compress. `cpr_p2p` codes at every hop by szx. `zfp` and `zfp_rate` code at every hop by zfp,
within the bound and at 8 bits a value, where the speeds of zfp were measured. `once` codes each value
once (szx, sums by values). `ccoll` is `once` with segments, so that coding and transfer overlap.
`values` is `ccoll` by planes. `hzccl` adds frames (planes). `taut` is the engine's own choice, on up
to 64 nodes after trials of the algorithms that give the same bits. The bound is that of each rank's
values, as in the papers. All fields are float32; those near ratios of 8 and 50 are nbody_density at 1e-4 and spitzer_image at 1e-2.

Extrapolated are: the speeds of more than two threads, as said; the bits of sums of more than two frames, which grow
with the logarithm of their number as they did from one to two; and `taut advise --calc` beyond 64 nodes, up to which its
model was compared with the simulation ([checks](../howto/simulate_collectives.md#checks)).

"""

def selected(rows, chosen):
    """Returns the rows that have the chosen values."""
    return [row for row in rows if all(row[key] == value for key, value in chosen.items() if key in row)]


def baseline(row, chosen):
    """Returns the variant that a claim compares with: that of the papers, unless it names another."""
    return chosen.get("over", "mpi" if "mpi" in row["gains"] else "plain")


def quotient(row, chosen):
    """Returns the gain of the variant `of` over the variant `over`."""
    gains = row["gains"]
    return gains[chosen.get("of", "taut")] / gains[baseline(row, chosen)]


def span(values):
    least, most = min(values), max(values)
    return f"{least:.2f}x to {most:.2f}x" if most - least > 0.005 else f"{most:.2f}x"


def shares(row, variant):
    """Returns the share of a call that one rank's processor spends on coding."""
    return targets.coding(row["outcomes"][variant]) / row["outcomes"][variant]["seconds"]


def summary(rows, chosen):
    """Returns one line on the simulated rows: the span of the gains for each number of threads and collective."""
    parts = []
    for collective in sorted({row["collective"] for row in rows}):
        if collective not in chosen.get("collectives", (collective,)):
            continue
        for threads in sorted({row["threads"] for row in rows}):
            some = selected(rows, chosen | {"collective": collective, "threads": threads})
            if not some or chosen.get("threads", threads) != threads:
                continue
            label = f"{collective}, {threads} thread{'s' * (threads > 1)}"
            if "shares" in chosen:
                coding = [100 * shares(row, chosen["shares"]) for row in some]
                parts.append(f"{label}: coding {min(coding):.0f} to {max(coding):.0f} % of the call")
            else:
                variants = f"{chosen.get('of', 'taut')} over {baseline(some[0], chosen)}"
                parts.append(f"{label}: {variants} {span([quotient(row, chosen) for row in some])}")
    return "; ".join([*parts, extent(selected(rows, chosen))])


def extent(rows):
    """Returns the numbers of nodes and the sizes of rows."""
    nodes, sizes = sorted({row["ranks"] for row in rows}), sorted({row["bytes"] / 1e6 for row in rows})
    return f"{' to '.join(f'{n}' for n in ends(nodes))} nodes, {' to '.join(f'{size:g}' for size in ends(sizes))} MB"


def ends(values):
    return values[:1] + values[-1:] if len(values) > 1 else values


def of_gpus(what):
    """Returns one line on a row of bench/simulation/gpus.py: gains over NCCL's ring at line rate, or over plain calls."""
    row = next(row for row in rows(GPUS) if row["what"] == what)
    if "collective" not in row:
        return "over plain, GPUs: " + "; ".join(f"{one['call']}, {one['codec']} {one['gain']:.2f}x" for one in row["cases"])
    ways = {"its doubling": "lcc_doubling", "Taut flat": "flat", "by nodes": "by_nodes"}
    gains = ("ratio {}: ".format(one["ratio"]) + ", ".join(f"{name} {one[f'{key}_over_ring']:.1f}x" for name, key in ways.items()) for one in row["cases"])
    return f"allreduce of {row['cases'][0]['bytes'] / 1e6:.0f} MB over NCCL's ring at line rate, {row['nodes']} nodes of {row['gpus']} GPUs; " + "; ".join(gains)


def counterpart(claim, sets):
    kind, where, *more = claim
    if kind == "none":
        return "-", where
    if kind == "page":
        path, _, anchor = where.partition("#")
        target = os.path.relpath(path, "bench/results/papers") + (f"#{anchor}" if anchor else "")
        return "measured", f"[{more[0]}]({target})"
    if kind == "gpus":
        return "simulated", f"{of_gpus(where)} ([rows](../simulation/README.md#gpus-in-nodes))"
    if where not in sets:
        return "-", "this set was not simulated"
    return "simulated", f"{summary(sets[where], more[0])} ([rows](#{where.replace('_', '-')}))"


def table_of_claims(sets):
    lines = ["## claims", "", "| paper | | its result | there | how | Taut |", "|---|---|---|---|---|---|"]
    for paper, name, result, where, claim in CLAIMS:
        how, ours = counterpart(claim, sets)
        lines.append(f"| {paper} | {name} | {result} | {where} | {how} | {ours} |")
    return "\n".join(lines)


def wrapped(text):
    paragraphs = text.rstrip().split("\n\n")
    return "\n\n".join(textwrap.fill(each, 100, break_long_words=False, break_on_hyphens=False) for each in paragraphs) + "\n\n"


def curves(rows, axis):
    """Returns the curves of the gain over plain MPI: solid dots for a ratio near 8, hollow ones for the high ratio."""
    threads = sorted({row["threads"] for row in rows})
    series = {}
    for row in rows:
        series.setdefault((row["ratio"], row["threads"]), []).append((row[axis], row["gains"]["taut"]))
    least = min(ratio for ratio, _ in series)
    return [
        Series(f"ratio {ratio:.0f}, {n} thread{'s' * (n > 1)}", sorted(points), threads.index(n), hollow=ratio > least)
        for (ratio, n), points in series.items()
    ]


def charts(sets):
    """Yields a chart of each set with an axis: (what it shows, file name, picture)."""
    axes = {"allreduce_nodes": "ranks", "reduce_scatter_nodes": "ranks", "links": "gbit"}
    for name, axis in axes.items():
        if name not in sets:
            continue
        rows, by_rate = sets[name], axis == "gbit"
        call = f"{rows[0]['collective'].replace('_', '-').capitalize()} of {rows[0]['bytes'] / 1e6:.0f} MB, simulated"
        title = f"{call}, {rows[0]['ranks']} nodes" if by_rate else f"{call}, links of {rows[0]['gbit']} Gbit/s"
        panel = Panel(title, "rate of the links, Gbit/s" if by_rate else "nodes", "times as fast as plain", curves(rows, axis),
                      level=(1.0, "fastest plain call"), x_ticks=tuple(sorted({row[axis] for row in rows})))  # fmt: skip
        words = f"{title}: times as fast as plain MPI by {'rate of the links' if by_rate else 'number of nodes'}"
        yield words, f"{name}.svg", chart(title, [panel])


def simulated(path):
    """Returns what bench/simulation/sweep.py wrote, with the rows of each set apart."""
    report = only_run(path)
    sets = {}
    for row in report["rows"]:
        sets.setdefault(row["set"], []).append(row)
    return report | {name: sets.pop(name) for name in ("break_even", "unequal", *OF_NODES) if name in sets} | {"sets": sets}


def keep(path, folder):
    """Writes the rows of the sweep where the pages name them: those with several ranks a node to NODES, all others to the folder."""
    run = only_run(path)
    of_nodes = [row for row in run["rows"] if row["set"] in OF_NODES]
    write(folder / "simulation.json", run | {"rows": [row for row in run["rows"] if row["set"] not in OF_NODES]})
    if of_nodes:
        write(NODES, run | {"rows": of_nodes})


def page(report, made):
    context = report["speeds_of"]
    exponents = ", ".join(f"{name} {value:.2f}" for name, value in report["thread_exponents"].items())
    threads = f"for more threads these speeds grow by threads ** p, with p from one to two threads as measured ({exponents})"
    size = "a quick run (`QUICK=1`): 16 and 64 nodes" if report["quick"] else "a full run"
    introduction = wrapped(INTRODUCTION.format(losses=targets.forced(report), size=size, processor=context["machine"]["processor"], date=context["date"][:10], commit=context["commit"], threads=threads))
    return "\n\n".join([introduction.rstrip(), *(f"![{words}]({file})" for words, file, _ in made)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulation", type=Path, default=Path("bench-out/sim.json"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results")
    parser.add_argument("--tables", type=Path, default=tables.FOLDER)
    options = parser.parse_args()
    report = simulated(options.simulation)
    options.out.mkdir(parents=True, exist_ok=True)
    keep(options.simulation, options.out)
    if "break_even" in report:
        write_break_even(report["break_even"], options.out)
    validation = options.simulation.with_name("validate.json")
    validated = rows(validation) if validation.exists() else None
    drawn = list(charts(report["sets"]))
    for _, file, picture in drawn:
        (options.out / file).write_text(picture)
    (options.out / "papers.md").write_text(page(report, drawn))
    options.tables.mkdir(parents=True, exist_ok=True)
    measured = only_run(tables.FIELDS), runs(tables.STACKS)[0]
    first = [table_of_claims(report["sets"]), targets.section(report, measured, validated, wrapped)]
    (options.tables / "README.md").write_text(tables.page(report, first, wrapped))


if __name__ == "__main__":
    sys.exit(main())

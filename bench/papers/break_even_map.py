"""The page of break-even: which link, ratio and number of threads pay."""

import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import svg, text  # noqa: E402
from report import RESULTS, rows  # noqa: E402

CELL, LEFT, TOP = 50, 60, 74
DARK = ' style="fill: #222"'  # on the light colours of the cells, in both themes
INTRODUCTION = """# Which link, ratio and number of threads pay?

Written by `make papers`; not to be edited. Each cell of the map is the time of the fastest
uncompressed allreduce over that of the compressed one: 16 MB on 16 nodes, one rank each, simulated
([how](../howto/simulate_collectives.md)) with the median speeds of the 16 fields at 1e-3 of their
ranges. Above 1 compression pays. More threads than two are extrapolated. For another machine, link,
call or field [`taut advise --calc`](../cli.md#forecasts-of-one-call) forecasts gain and break-even
from speeds that it measures, and `mpiexec ... taut calibrate` times whole calls. In a run calls
that do not gain go to plain MPI by themselves.

"""

NODES = RESULTS.parent / "nodes/simulated.json"  # of `make bench-sim ARGS="--sets nodes,full_nodes"`
FULL_NODES = """Ranks that share a node share its link, and each codes its own values. **Expect little of an allreduce,
broadcast, allgather, gather or scatter, up to {others:.1f} times as fast at 100 Gbit/s and more; up to {halos:.1f} of halos
and up to {transforms:.1f} of transforms (alltoall).** Cells are gains at {rates} Gbit/s over plain MPI that knows nodes, after the first ten calls, by
ranks a node: {nodes} nodes, {size:g} MB a rank at a ratio of {ratio:.0f}, one thread, one link and memory of
300 GB/s a node; halos are those of a grid in three dimensions, of which each node has a brick.{star} For another
number of ranks: [`taut advise --ranks-per-node`](../cli.md#taut-advise).
"""
MODELLED = " Cells with * are forecast: to simulate 512 ranks takes minutes a call. The forecast is kinder to calls that are not by nodes."
NAMES = {"neighbor_alltoall": "halo"}


def colour(gain):
    """Returns grey-red below 1, green above, deeper with the distance."""
    if gain < 1:
        depth = min(1.0, (1 - gain) / 0.8)
        return f"#{235 - int(20 * depth):02x}{225 - int(110 * depth):02x}{220 - int(120 * depth):02x}"
    depth = min(1.0, (gain - 1) / 5)
    return f"#{225 - int(170 * depth):02x}{240 - int(80 * depth):02x}{225 - int(150 * depth):02x}"


def least_ratio(rows, gbit, threads):
    """Returns the least ratio of the map from which on compression pays; None if it never does."""
    least = None
    for row in sorted(rows, key=lambda row: -row["ratio"]):
        if (row["gbit"], row["threads"]) != (gbit, threads):
            continue
        if row["gain"] <= 1:
            break
        least = row["ratio"]
    return least


def table(rows):
    rates, threads = (sorted({row[key] for row in rows}) for key in ("gbit", "threads"))
    lines = ["| threads | " + " | ".join(f"{gbit} Gbit/s" for gbit in rates) + " |", "|---:|" + "---:|" * len(rates)]
    for n in threads:
        cells = [least_ratio(rows, gbit, n) for gbit in rates]
        lines.append(f"| {n} | " + " | ".join("never" if cell is None else f"{cell:g}" for cell in cells) + " |")
    return "\n".join(lines)


def panel(rows, threads, top):
    """Returns the elements of the map of one number of threads."""
    rates, ratios = (sorted({row[key] for row in rows}) for key in ("gbit", "ratio"))
    made = [text(LEFT, top - 26, f"{threads} thread{'s' * (threads > 1)} a rank", classes="title")]
    for column, ratio in enumerate(ratios):
        made.append(text(LEFT + CELL * (column + 0.5), top - 7, f"{ratio:g}", "middle"))
    made += [text(LEFT + CELL * len(ratios) + 6, top - 7, "ratio"), text(LEFT - 8, top - 7, "Gbit/s", "end")]
    for row in rows:
        if row["threads"] != threads:
            continue
        x, y = LEFT + CELL * ratios.index(row["ratio"]), top + 22 * rates.index(row["gbit"])
        made.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="22" fill="{colour(row["gain"])}" stroke="#fff"/>')
        made.append(text(x + CELL / 2, y + 16, f"{row['gain']:.2f}", "middle", more=DARK))
    for line, gbit in enumerate(rates):
        made.append(text(LEFT - 8, top + 22 * line + 16, f"{gbit}", "end"))
    return made


def picture(rows):
    threads = [n for n in sorted({row["threads"] for row in rows}) if n in (1, 4, 16)]
    rates = len({row["gbit"] for row in rows})
    title = "Gain of a compressed allreduce by link and ratio, simulated"
    made = [text(LEFT, 22, title, classes="title")]
    for place, n in enumerate(threads):
        made += panel(rows, n, TOP + place * (22 * rates + 60))
    return svg(title, TOP + len(threads) * (22 * rates + 60) - 40, made)


def full_nodes(rows):
    """Returns the table of gains by call, ranks a node and rate of the link, and what it says in words."""
    gains = {(row["collective"], row["ranks_a_node"], case["gbit"]): case["gain"] for row in rows for case in row["cases"]}
    modelled = {(row["collective"], row["ranks_a_node"]) for row in rows if row["modelled"]}
    calls, ranks, rates = (list(dict.fromkeys(one)) for one in zip(*gains))
    lines = ["| call | " + " | ".join(f"{count} rank{'s' * (count > 1)}" for count in ranks) + " |", "|---|" + "---:|" * len(ranks)]
    for call in calls:
        cells = ["/".join(f"{gains[call, count, gbit]:.1f}" if (call, count, gbit) in gains else "-" for gbit in rates) for count in ranks]
        marks = ["*" * ((call, count) in modelled) for count in ranks]
        lines.append(f"| {NAMES.get(call, call)} | " + " | ".join(map("".join, zip(cells, marks))) + " |")
    kinds = {"neighbor_alltoall": "halos", "alltoall": "transforms"}
    greatest = dict.fromkeys(["others", *kinds.values()], 0)
    for (call, count, gbit), gain in gains.items():
        kind = kinds.get(call, "others")
        if count > 1 and gbit >= 100 and (call, count) not in modelled:
            greatest[kind] = max(greatest[kind], gain)
    first = rows[0]
    nodes = {"nodes": first["ranks"] // first["ranks_a_node"], "size": first["cases"][0]["bytes"] / 1e6, "ratio": first["ratio"]}
    star = MODELLED if modelled else ""
    words = FULL_NODES.format(star=star, rates="/".join(map(str, rates)), **greatest, **nodes)
    return textwrap.fill(" ".join(words.split()), 100, break_on_hyphens=False) + "\n\n" + "\n".join(lines)


def write_break_even(rows_of_map, out):
    (out / "break_even.svg").write_text(picture(rows_of_map))
    text = INTRODUCTION + "![Gain by link, ratio and threads](break_even.svg)\n\n## The least ratio that pays\n\n"
    text += "Of the ratios of the map; from it on every higher one pays.\n\n" + table(rows_of_map) + "\n"
    text += "\n## Full nodes\n\n" + full_nodes([row for row in rows(NODES) if row["set"] == "full_nodes"]) + "\n"
    (out / "break_even.md").write_text(text)

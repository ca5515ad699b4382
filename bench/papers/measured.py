"""The sections on calls that were measured between emulated hosts: steps (bench/collective/steps.py), and links, MPIs and
fields (bench/net/net.py)."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("", "collective")]
from spread import MOST_LOSS, beyond_noise, exceeds  # noqa: E402
from steps import steps_of  # noqa: E402

OWN = "Taut's own choice"
STEPS = """Times of 16 MiB; medians of calls in alternation within one job, by `bench/collective/steps.py`. Each rank is on an
emulated host. Two hosts have a core each; four share two cores, so that ranks wait for each other's coding. A simpler step *beats* Taut's own choice if its median is
lower by more than 3 % and the quartiles do not overlap. *Choice / step*: the time of the choice over that of the step;
above 1 the step is faster.
"""
LINKS = """Allreduce, allgather and bcast between network namespaces, by `make bench-net`: plain MPI and Taut in alternation within
one job, medians. *Gate*: before each job plain messages of 16 MB are sent one way and both ways at a time; it passes at
0.9 of the link. Where the gate does not pass, the processor limits plain MPI and Taut
alike, and the gain says little about the link. A cell is the gain, marked where it is even or a loss; the times are in
`net.json` and `net_fields.json` of bench/results. A call counts as a win or a loss where the medians differ by more than 3 % and the quartiles do not overlap;
else it is even.
"""


def origin(report):
    """Returns the machine, commit, date and load of a measurement."""
    load = "unknown" if report["load"] == "unknown" else f"{report['load']:.1f}"
    return f"{report['machine']['processor']}, commit {report['commit']}, {report['date'][:10]}, load {load}"


def name_of(row, operation):
    """Returns the name of the step that a row measured; None for a row that is no step."""
    names = {"plain": "plain MPI", "taut": OWN}
    for name, policy in steps_of(operation):
        if row["policy"].endswith(f"when=always,{policy}"):
            return name
    return names.get(row["variant"])


def verdict(step, own):
    """Returns what a step's times mean beside those of Taut's own choice."""
    if not exceeds(own, step):
        return ""
    return "beats it" if beyond_noise(own, step) else "in the noise"


def table_of_steps(jobs, wrapped):
    """Returns the table of the runs of one report, one for each operation, and what it shows."""
    lines = ["| call | step | ms | choice / step | |", "|---|---|---:|---:|---|"]
    verdicts = []
    for job in jobs:
        operation = job["operation"]
        rows = [(name_of(row, operation), row) for row in job["rows"]]
        own = next(row for name, row in rows if name == OWN)
        for name, row in rows:
            if name is None:
                continue
            over = "" if row is own else f"{own['median_us'] / row['median_us']:.2f}"
            verdicts += [] if row is own else [verdict(row["us"], own["us"])]
            line = f"| {operation} | {name} | {row['median_us'] / 1e3:.1f} | {over} |"
            lines.append(f"{line} {verdict(row['us'], own['us'])} |")
    first = jobs[0]
    said = "{ranks} ranks over {link}, {mpi}, {data}; {iterations} calls".format_map(first)
    beaten, noisy = verdicts.count("beats it"), verdicts.count("in the noise")
    text = f"**{said}** ({origin(first)}). {beaten} of {len(verdicts)} steps beat Taut's own choice. "
    text += f"{noisy} more are faster by more than 3 % within the noise."
    return [wrapped(text).rstrip(), "\n".join(lines)]


def section_of_steps(reports, wrapped):
    """Returns the section on measured steps. `reports`: the runs that steps.py wrote, for each number of hosts."""
    parts = ["## measured steps", wrapped(STEPS).rstrip()]
    return "\n\n".join(parts + [part for jobs in reports for part in table_of_steps(jobs, wrapped)])


def outcome(row):
    """Returns win, even or loss of one call."""
    gain, (plain_low, plain_high), (taut_low, taut_high) = row["gain"], row["plain_quartiles_ms"], row["taut_quartiles_ms"]
    if gain > MOST_LOSS and taut_high < plain_low:
        return "win"
    return "loss" if gain < 1 / MOST_LOSS and plain_high < taut_low else "even"


def span(values):
    return f"{min(values):.0f} to {max(values):.0f}"


def kinds(rows):
    """Returns {(MPI, rate): rows}."""
    found = {}
    for row in rows:
        found.setdefault((row["mpi"], row["rate"]), []).append(row)
    return found


def table_of_gates(rows):
    lines = ["| MPI | link | gate: one way, Mbit/s | both ways | passed | calls | wins | even | losses | least gain | greatest |",
             "|---|---|---|---|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for (mpi, rate), some in kinds(rows).items():
        of_jobs = list({row["field"]: row["gate"] for row in some}.values())
        one_way, both = (span([gate[key] for gate in of_jobs]) for key in ("one_way_mbit", "both_ways_mbit"))
        passed = f"{sum(gate['passed'] for gate in of_jobs)} of {len(of_jobs)}"
        outcomes = [outcome(row) for row in some]
        counts = " | ".join(str(outcomes.count(one)) for one in ("win", "even", "loss"))
        gains = [row["gain"] for row in some]
        lines.append(f"| {mpi} | {rate} | {one_way} | {both} | {passed} | {len(some)} | {counts} | {min(gains):.2f} | {max(gains):.2f} |")
    return "\n".join(lines)


def table_of_calls(rows):
    """Returns the table of gains: a line for each call on some data, a column for each MPI and link."""
    columns = list(kinds(rows))
    lines = ["| data | call | ratio | " + " | ".join(f"{mpi}, {rate}" for mpi, rate in columns) + " |", "|---|---|---:|" + "---:|" * len(columns)]
    calls = {}
    for row in rows:
        calls.setdefault((row["field"], row["operation"]), {})[row["mpi"], row["rate"]] = row
    for (field, operation), found in calls.items():
        ratios = [row["ratio"] for row in found.values() if row["compressed"]]
        marks = {"win": "", "even": " even", "loss": " loss"}
        cells = [f"{found[key]['gain']:.2f}{marks[outcome(found[key])]}" if key in found else "-" for key in columns]
        lines.append(f"| {field} | {operation} | {f'{max(ratios):.1f}' if ratios else 'plain'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def section_of_links(reports, folder, wrapped):
    """Returns the section on links, MPIs and data. `reports`: {what the data are: report of net.py}."""
    parts = ["## measured on emulated links", wrapped(LINKS).rstrip()]
    for data, report in reports.items():
        text = f"**{data}**: {report['size'][:-1]} {report['size'][-1]}iB, {report['hosts']} hosts, {report['iterations']} calls"
        parts.append(wrapped(f"{text} ({origin(report)}).").rstrip())
        parts += [table_of_gates(report["rows"]), table_of_calls(report["rows"])]
    if not reports:
        parts.append(wrapped(f"No report of `make bench-net` is kept in bench/results/{folder}.").rstrip())
    return "\n\n".join(parts)

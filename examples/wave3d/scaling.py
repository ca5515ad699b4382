#!/usr/bin/env python3
"""Runs wave3d on 1, 2 and 4 hosts: weak scaling (the same cells on each host) and strong scaling (the same cells in all).

  scaling.py [--hosts 1,2,4] [--cells 64x64x64] [--steps 600] [--variants 'lossless;abs:5e-5'] [--out wave3d-out/scaling]

--cells: of each host, and of each of the most hosts in strong scaling. LINK, BUILD and PYTHON are those of
tools/example.sh, which makes every run. OUT gets a folder for each run, and scaling.json with all figures.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "tools/example.sh"
sys.path.append(str(ROOT / "bench"))
from report import only_run, write  # noqa: E402


def by(cells, separator="x"):
    return separator.join(map(str, cells))


def ranks_on(hosts):
    """Returns the ranks along x, y and z: twice as many along z, then along y, and so on."""
    ranks, axis = [1, 1, 1], 2
    while hosts > 1:
        if hosts % 2:
            raise SystemExit("scaling.py: --hosts takes powers of two")
        ranks[axis] *= 2
        hosts, axis = hosts // 2, 3 - axis
    return ranks


def runs(hosts, cells):
    """Returns, for each series, the number of hosts and the cells of a rank of each run."""
    whole = [n * ranks for n, ranks in zip(cells, ranks_on(max(hosts)), strict=True)]
    return {
        "weak": [(n, cells) for n in hosts],
        "strong": [(n, [all_cells // ranks for all_cells, ranks in zip(whole, ranks_on(n), strict=True)]) for n in hosts],
    }


def report_of(hosts, cells, asked):
    """Runs wave3d and returns its report."""
    out = asked.out / f"{hosts}-hosts-{by(cells)}"
    words = ["--cells", by(cells), "--ranks", by(ranks_on(hosts)), "--steps", str(asked.steps), "--variants", asked.variants]
    subprocess.run([EXAMPLE, "wave3d", *words], check=True, env=os.environ | {"HOSTS": str(hosts), "OUT": str(out)})
    return only_run(out / "report.json")


def reports_of(asked):
    """Returns, for each series, pairs of hosts and report. A run that both series have is made once."""
    made, every = {}, {}
    for series, each in runs(asked.hosts, asked.cells).items():
        for hosts, cells in each:
            if (hosts, by(cells)) not in made:
                made[hosts, by(cells)] = report_of(hosts, cells, asked)
        every[series] = [(hosts, made[hosts, by(cells)]) for hosts, cells in each]
    return every


def lines_of(series, reports):
    """Returns the rows of a table. `reports`: a pair of hosts and report for each run, the one with fewest hosts first."""
    one = reports[0][1]["rows"][0]["step_ms"] * (1 if series == "weak" else reports[0][0])
    for hosts, report in reports:
        for row in report["rows"]:
            gained = one / row["step_ms"]
            yield (
                f"| {hosts} | {by(report['cells'], ' x ')} | {row['name']} | {row['step_ms']:.2f} | {gained:.2f}"
                f" | {row['halo_ms']:.2f} | {row['halo_without_core_ms']:.2f} | {row['ratio']:.2f} |"
            )


def table(series, reports):
    gained = {"weak": "efficiency", "strong": "speed-up"}[series]
    title = f"{series.capitalize()} scaling, {reports[-1][1]['link'] or 'network as it is'}, {reports[0][1]['steps']} steps:"
    head = f"| hosts | cells | variant | step, ms | {gained} | halo, ms | without a core, ms | ratio |"
    return "\n".join([title, "", head, "|---:|---|---|---:|---:|---:|---:|---:|", *lines_of(series, reports), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="1,2,4", type=lambda text: sorted(map(int, text.split(","))))
    parser.add_argument("--cells", default="64x64x64", type=lambda text: list(map(int, text.split("x"))))
    parser.add_argument("--steps", default=600, type=int)
    parser.add_argument("--variants", default="lossless;abs:5e-5")
    parser.add_argument("--out", default=Path("wave3d-out/scaling"), type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    every = reports_of(asked)
    for series, reports in every.items():
        print(table(series, reports))
    print("Efficiency and speed-up: to plain MPI on the fewest hosts, by the median step.")
    cores = every["weak"][0][1]["machine"]["cores"]
    if cores < max(asked.hosts):
        print(f"More hosts than cores ({cores}) share them: their steps wait for cores, whatever the link does.")
    write(asked.out / "scaling.json", *(run | {"series": series, "hosts": n} for series, made in every.items() for n, run in made))
    return 0


if __name__ == "__main__":
    sys.exit(main())

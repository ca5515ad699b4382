#!/usr/bin/env python3
"""Compares forecasts of `taut advise` with measurements, for programs that none of the tests has.

  compare.py BUILD [--link 1gbit] [--bound rel:1e-4] [--repeats 5] [--programs late,nonblocking,messages,sites,short]
             [--json FILE]

BUILD: a folder of tools/build.sh with the drop-in. --link: emulated hosts joined by such a link, with a rank of Debian's Open
MPI on each (needs root). Each program of programs.c runs bare, then observed, then with the settings that `taut advise` prints,
bare runs and runs with the settings in turn. The forecast of a run is the time of the bare run less the seconds that advise
promises. Programs without a blocking collective call do nothing but their calls, which are not timed: their forecast is the time
of the calls for the rate of the link (--link of advise).
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "applications"), str(ROOT / "bench")]
import machine  # noqa: E402
from job import emulated_hosts, launch, mbit_of  # noqa: E402

PROGRAMS = ("late", "nonblocking", "messages", "sites", "short")
WITHOUT_LINK = ("nonblocking", "messages")  # their calls are not timed
AIM = 0.25


class Case:
    def __init__(self, build, folder, hosts, link, bound):
        self.taut, self.preload = build / "bin/taut", build / "lib/taut/libtaut_preload.so"
        self.folder, self.hosts, self.link, self.bound = Path(folder), hosts, link, bound
        self.program = self.folder / "programs"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", self.program, ROOT / "bench/advise/programs.c", "-lm"], check=True)

    def seconds(self, name, settings=(), options=()):
        """Returns the time of the program's calls. `settings`: variables, with which it runs under Taut."""
        command = [str(self.program), name]
        if settings or options:
            command = [str(self.taut), "run", *options, "--", *command]
        command = ["env", f"TAUT_PRELOAD={self.preload}", *settings, *command]
        printed = launch(command, self.folder, hosts=self.hosts, timeout=120)
        return float(re.search(r"seconds (\S+)", printed)[1])

    def advice(self, name):
        """Returns the settings that advise prints, and the seconds of plain calls and of calls with the settings."""
        options = ["--link", self.link] if name in WITHOUT_LINK else []
        command = [self.taut, "advise", f"{name}.json", "--bound", self.bound, *options]
        printed = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
        settings = [line.removeprefix("export ").replace('"', "") for line in printed.splitlines() if line.startswith("export ")]
        found = re.search(r"(\S+) s of plain MPI would become (\S+) s", printed)
        return settings, *(map(float, found.groups()) if found else (0.0, 0.0))


def row_of(case, name, repeats):
    case.seconds(name, options=["--report", f"{name}.json"])
    settings, plain, coded = case.advice(name)
    bare, with_settings = [], []
    for _ in range(repeats):
        bare.append(case.seconds(name))
        if settings:
            with_settings.append(case.seconds(name, settings=settings, options=["--summary"]))
    before = statistics.median(bare)
    after = statistics.median(with_settings) if settings else before
    forecast = coded if name in WITHOUT_LINK and settings else before - (plain - coded)
    return {"program": name, "bare_s": before, "forecast_s": forecast, "measured_s": after, "plain_calls_s": plain,
            "coded_calls_s": coded, "error": forecast / after - 1, "settings": settings, "all_bare_s": bare,
            "all_with_settings_s": with_settings}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--link", default="1gbit")
    parser.add_argument("--bound", default="rel:1e-4")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--json", type=Path, default=ROOT / "bench-out/advise.json")
    arguments = parser.parse_args()
    result = machine.record() | {"link": arguments.link, "bound": arguments.bound, "rows": []}
    print(f"{'program':<12} {'bare, s':>9} {'forecast':>9} {'measured':>9} {'error':>8}")
    with tempfile.TemporaryDirectory() as folder, emulated_hosts(mbit_of(arguments.link)) as hosts:
        case = Case(arguments.build.resolve(), folder, hosts, arguments.link, arguments.bound)
        for name in arguments.programs.split(","):
            row = row_of(case, name, arguments.repeats)
            result["rows"].append(row)
            times = f"{row['bare_s']:9.3f} {row['forecast_s']:9.3f} {row['measured_s']:9.3f} {100 * row['error']:6.0f} %"
            print(f"{name:<12} {times}", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    within = sum(abs(row["error"]) <= AIM for row in result["rows"])
    print(f"{within} of {len(result['rows'])} forecasts are within {100 * AIM:.0f} %")


if __name__ == "__main__":
    main()

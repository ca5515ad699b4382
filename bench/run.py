#!/usr/bin/env python3
"""Runs a suite of measurements: builds what it needs, measures, prints a table, and writes OUT/SUITE.json.

  run.py SUITE [--quick] [--build DIR,..] [--out bench-out] [options of the suite]     run.py SUITE --help names them

`make bench SUITE=..` and `make bench-SUITE` call it. An option is also taken from the environment variable of its name in
capitals. With --build nothing is installed or built. Further words go to the suite's program.
"""

import argparse
import importlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import report
import suite as suites

SUITES = {  # name: module
    "codec": "cells", "fields": "fields", "pipelines": "pipelines", "peers": "codec_peers", "grids": "grids", "collectives": "latency",
    "steps": "steps", "acceptance": "link_acceptance", "net": "net", "messages": "messages", "history": "history", "overhead": "overhead",
    "instructions": "instructions", "training": "training", "dask": "dask_sums", "fft": "libraries", "advise": "forecasts",
    "applications": "applications", "weights": "weights", "sim": "sweep", "gpus": "gpus", "validate": "validate", "smpi": "smpi",
    "formats": "number_formats",
}  # fmt: skip


def parse(name, suite, words):
    parser = argparse.ArgumentParser(f"run.py {name}", description=suite.about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")), help="a trial, whose figures say little")
    parser.add_argument("--build", default=os.environ.get("BUILD", ""), help="folders of tools/build.sh, separated by commas")
    parser.add_argument("--out", type=Path, default=os.environ.get("OUT", "bench-out"))
    for option, (value, text) in suite.options.items():
        kind = {"nargs": "?", "const": True} if isinstance(value, bool) else {"type": type(value)}
        parser.add_argument(f"--{option}", default=None, help=f"{text} ({value})".replace("%", "%%"), **kind)
    options, options.rest = parser.parse_known_args(words)
    for option, (value, _) in suite.options.items():
        if getattr(options, option) is None:
            usual = suite.quick.get(option, value) if options.quick else value
            asked = os.environ.get(option.upper())
            setattr(options, option, usual if asked is None else type(value)(asked))
    return options


def prepare(suite, options):
    """Installs and builds, unless builds were named; returns their folders."""
    if options.build:
        return [Path(one).resolve() for one in options.build.split(",")]
    environment = os.environ | {name.upper(): str(getattr(options, name)) for name in ("link", "app") if hasattr(options, name)}
    if suite.needs:
        subprocess.run([report.ROOT / "tools/setup.sh", *suite.needs.split()], check=True, env=environment)
    for folder, words in suite.builds.items():
        target, _, more = words.partition(" ")
        preset = "aarch64" if folder.startswith("aarch64") else "release"
        command = ["bash", "-c", f"tools/build.sh {preset} {more}"]
        subprocess.run(command, cwd=report.ROOT, check=True, env=environment | {"NAME": folder, "TARGET": target})
    return [report.ROOT / "build" / folder for folder in suite.builds]


def measure(suite, options, run):
    """Adds the rows to the run, and prints their table as it grows."""
    for row in suite.rows(options):
        if not run["rows"]:
            print("\n| " + " | ".join(suite.columns) + " |\n" + "|---" * len(suite.columns) + "|")
        run["rows"].append(row)
        bad = "" if row.get(suite.within, True) else f" not {suite.within}!"
        print("| " + " | ".join(suites.cell(form, row) for form in suite.columns.values()) + f" |{bad}", flush=True)


def main(words):
    if not words or words[0] not in SUITES:
        sys.exit(f"{__doc__}\nSuites: {', '.join(SUITES)}")
    name, suite = words[0], importlib.import_module(SUITES[words[0]]).SUITE
    options = parse(name, suite, words[1:])
    options.builds = prepare(suite, options)
    if suite.python != "python3" and not sys.executable.endswith(suite.python):
        folders = ",".join(map(str, options.builds))
        os.execv(report.ROOT / suite.python, [suite.python, *sys.argv, f"--build={folders}"])
    options.out.mkdir(parents=True, exist_ok=True)
    asked = {key: getattr(options, key) for key in suite.options}
    command = ["bench/run.py", name, *(["--quick"] if options.quick else []), *(f"--{k}={v}" for k, v in asked.items()), *options.rest]
    run = report.record(shlex.join(command))
    if options.builds:
        run["compiler"] = suites.compiler(options.builds[0])
    run["rows"], options.settings = [], {}
    file = options.out / f"{name}.json"
    print("#", report.sentence(run), flush=True)
    try:
        measure(suite, options, run)
    finally:  # what was measured before an interruption stays
        run |= options.settings
        run["rows"] = run.pop("rows")
        if run["rows"]:
            report.write(file, run)
            print(f"\n{file}: {len(run['rows'])} rows")
    if not run["rows"]:
        return 1
    good = all(row.get(suite.within, True) for row in run["rows"])
    return suite.finish(run, options) or (0 if good else 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

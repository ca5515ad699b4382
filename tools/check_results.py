#!/usr/bin/env python3
"""Checks the committed results of measurements (bench/report.py): every run says by which command, on which machine, when, at
which commit and under what load it was made; a row stands on a line; all results together are short enough to read.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench"))
import report  # noqa: E402

FOLDERS = ("bench/results", "docs/results")
MOST_LINES = 8000  # of all results


def faults_of_run(run):
    for name in report.RECORD:
        if run.get(name) in (None, ""):
            yield f"has no {name}"
    machine = run.get("machine")
    for name in report.OF_MACHINE if machine else ():
        if not isinstance(machine, dict) or machine.get(name) in (None, ""):
            yield f"its machine has no {name}"
    if not run.get("rows") or not all(isinstance(row, dict) for row in run["rows"]):
        yield "has no rows"


def faults_of(written):
    """Yields what is wrong with the text of a report."""
    try:
        made = json.loads(written)
    except json.JSONDecodeError as error:
        yield f"is no JSON: {error}"
        return
    if not isinstance(made, dict) or not made.get("runs"):
        yield 'has no "runs"'
        return
    found = [f"run {number}: {fault}" for number, run in enumerate(made["runs"]) for fault in faults_of_run(run)]
    yield from found
    if not found and written != report.text(made):
        yield "has other lines than one for each row: bench/report.py's write() makes them"


def main(folders):
    listed = subprocess.run(["git", "ls-files", "--", *folders], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines, faults = 0, []
    for name in filter(lambda name: name.endswith(".json"), listed.splitlines()):
        written = (ROOT / name).read_text()
        lines += len(written.splitlines())
        faults += [f"{name}: {fault}" for fault in faults_of(written)]
    if lines > MOST_LINES:
        faults.append(f"{' and '.join(folders)}: {lines} lines of results; at most {MOST_LINES} are allowed: keep what a page names")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(FOLDERS))

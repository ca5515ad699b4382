#!/usr/bin/env python3
"""Reports of measurements: their one shape, the record of the machine, and where the committed ones lie.

  report.py FILE COMMAND...    runs the command, which writes rows to FILE, and makes a report of them
  report.py - COMMAND...       prints the record as a line, and runs the command, which prints its figures

A report is {"runs": [run, ..]}. A run has the fields of RECORD, settings of its own, and "rows": objects of one line each. In a
committed report "unknown" stands for what was not recorded, and "recorded": "git" for a commit or a date from the history.
FILE holds, after the command, an object with "rows", or a row a line. The load is that before the command.
"""

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The measurements that simulations and docs/results are made of: codec_fields.json, collectives_link_1gbit.json,
# steps_1gbit.json, steps_1gbit_4_hosts.json, and where they exist codec_baselines.json, net.json, net_fields.json.
RESULTS = ROOT / "bench/results/emerald-rapids-2-core"
RECORD = ("command", "machine", "date", "commit", "load")
OF_MACHINE = ("processor", "cores", "os")


def commit():
    """Returns the commit of the working tree, marked if tracked files differ from it."""
    described = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(described, capture_output=True, text=True).stdout.strip() or "unknown"


def processor():
    """Returns the processor's name, and the numbers that tell its generation."""
    text = Path("/proc/cpuinfo").read_text()
    words = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)", text, flags=re.M))
    if "cpu family" not in words:
        return words.get("model name", os.uname().machine)
    return f"{words['model name']}, family {words['cpu family']}, model {words['model']}"


def record(command):
    """Returns the fields that every run has. To be called before the measurement."""
    system = os.uname()
    return {
        "command": command.replace(f"{ROOT}/", ""),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "os": f"{system.sysname} {system.release}, {system.machine}"},
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "load": round(os.getloadavg()[0], 2),
    }


def sentence(run):
    """Returns the record of a run as a line of text."""
    of = run["machine"]
    return f"{of['cores']} cores of {of['processor']}; commit {run['commit']}; load {run['load']} before; {run['date']}"


def value_text(value):
    """Returns a value of the report as JSON: a list of objects has a line for each of them."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return json.dumps(value)
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]" if value else "[]"


def run_text(run):
    """Returns a run as JSON: its head in one line, and its rows."""
    members = (f"{json.dumps(key)}: {value_text(value) if key == 'rows' else json.dumps(value)}" for key, value in run.items())
    return "{" + ", ".join(members) + "}"


def text(report):
    """Returns the one text that a report has: a line for each row and for each member of the file."""
    members = {key: value_text(value) for key, value in report.items() if key != "runs"}
    members["runs"] = "[\n" + ",\n".join(map(run_text, report["runs"])) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {value}" for key, value in members.items()) + "\n}\n"


def write(path, *runs):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text({"runs": runs}))


def runs(path):
    return json.loads(Path(path).read_text())["runs"]


def only_run(path):
    """Returns the run of a report that has one."""
    (run,) = runs(path)
    return run


def rows(path):
    """Returns the rows of all runs."""
    return [row for run in runs(path) for row in run["rows"]]


def run_of(before, written):
    """Returns the run of a record and what a command wrote: an object with "rows", or a row a line."""
    try:
        made = json.loads(written)
        return before | (made if "rows" in made else {"rows": [made]}) | before
    except json.JSONDecodeError:
        return before | {"rows": [json.loads(line) for line in written.splitlines()]}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, command, before = Path(sys.argv[1]), sys.argv[2:], record(shlex.join(sys.argv[2:]))
    if str(path) == "-":
        print("#", sentence(before), flush=True)
        os.execvp(command[0], command)
    path.unlink(missing_ok=True)
    status = subprocess.run(command).returncode
    if path.exists():
        write(path, run_of(before, path.read_text()))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())

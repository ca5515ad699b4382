#!/usr/bin/env python3
"""The machine of a measurement, for its record, and the committed results that pages are made of.

  machine.py FILE COMMAND...    runs the command, which writes the JSON object FILE, and adds the record to FILE
  machine.py - COMMAND...       prints the record as a line, and runs the command, which prints its figures

The load is that before the command.
"""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The measurements that simulations and docs/results are made of: codec_fields.json, collectives_link_1gbit.json,
# steps_1gbit.json, steps_1gbit_4_hosts.json, and where they exist codec_baselines.json, net.json, net_fields.json.
RESULTS = ROOT / "bench/results/emerald-rapids-2-core"


def commit():
    """Returns the commit of the working tree, marked if tracked files differ from it."""
    described = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(described, capture_output=True, text=True).stdout.strip()


def processor():
    """Returns the processor's name, and the numbers that tell its generation."""
    text = Path("/proc/cpuinfo").read_text()
    words = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)", text, flags=re.M))
    if "cpu family" not in words:
        return words.get("model name", os.uname().machine)
    return f"{words['model name']}, family {words['cpu family']}, model {words['model']}"


def record():
    """Returns the fields that every report of a measurement has. To be called before the measurement."""
    return {
        "machine": f"{os.cpu_count()} cores, {os.uname().machine}",
        "processor": processor(),
        "processors": os.cpu_count(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "load": round(os.getloadavg()[0], 2),
    }


def sentence(of):
    """Returns a record as a line of text."""
    return f"{of['processors']} cores of {of['processor']}; commit {of['commit']}; load {of['load']} before; {of['date']}"


def main():
    path, command, before = Path(sys.argv[1]), sys.argv[2:], record()
    if str(path) == "-":
        print("#", sentence(before), flush=True)
        os.execvp(command[0], command)
    path.unlink(missing_ok=True)
    status = subprocess.run(command).returncode
    if path.exists():
        path.write_text(json.dumps({**before, **json.loads(path.read_text()), "load": before["load"]}, indent=1) + "\n")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())

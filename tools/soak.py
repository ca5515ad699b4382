#!/usr/bin/env python3
"""Runs fuzzing, random configurations and random faults for some hours, and counts them.

The counts, the seeds and the findings are in a journal, with which the next run goes on. A finding ends the run: its
command repeats it. Usage: soak.py HOURS [JOURNAL]
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RANDOM = "build/test/tests/robustness/random/taut_random"
KINDS = {"configurations": (20000, []), "faults": (5000, ["--faults"])}  # how many at a time, options
FUZZ_MINUTES = 10


class Journal:
    """Counts by kind, kept in a file that is written after each piece of work."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.told = json.loads(path.read_text()) if path.exists() else {}
        for kind in ("executions", *KINDS):
            self.told.setdefault(kind, {} if kind == "executions" else 0)
        self.told.setdefault("commits", [])
        self.told.setdefault("hours", 0)
        self.told.setdefault("findings", [])

    def save(self):
        with self.lock:
            written = self.path.with_suffix(".new")
            written.write_text(json.dumps(self.told, indent=1) + "\n")
            written.replace(self.path)

    def found(self, what):
        self.told["findings"].append(what)
        self.save()


def random_calls(journal, kind):
    """Draws the next configurations of a kind. Returns false after a finding."""
    count, options = KINDS[kind]
    first = journal.told[kind]
    command = ["nice", RANDOM, "--seed", "1", "--first", str(first), "--count", str(count), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        journal.found(f"{kind} from {first}: {(done.stdout + done.stderr).strip()[-2000:]}")
        return False
    journal.told[kind] = first + count
    journal.save()
    return True


def fuzzing(journal, minutes):
    """Fuzzes every target. Returns false after a finding."""
    environment = {**os.environ, "MINUTES": str(minutes), "SEED": str(1 + sum(journal.told["executions"].values()) % 2**31)}
    done = subprocess.run(["tools/fuzz.sh"], capture_output=True, text=True, check=False, env=environment)
    for target, executions in re.findall(r"^(\w+): (\d+) executions", done.stdout, flags=re.M):
        journal.told["executions"][target] = journal.told["executions"].get(target, 0) + int(executions)
    if done.returncode != 0:
        journal.found(f"fuzzing: {(done.stdout + done.stderr).strip()[-2000:]}")
        return False
    journal.save()
    return True


def until(end, work):
    """Repeats work() until the time `end`, or until it returns false."""
    while time.monotonic() < end:
        if not work():
            return False
    return True


def main(hours, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(path)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True).stdout.strip()
    if commit not in journal.told["commits"]:
        journal.told["commits"].append(commit)
    before, begin = journal.told["hours"], time.monotonic()
    end = begin + hours * 3600

    def draw():
        good = all(random_calls(journal, kind) for kind in KINDS)
        journal.told["hours"] = round(before + (time.monotonic() - begin) / 3600, 3)
        return good

    minutes = max(1, min(FUZZ_MINUTES, int(hours * 60)))
    with ThreadPoolExecutor(2) as pool:
        fuzzed = pool.submit(until, end, lambda: fuzzing(journal, minutes))
        good = until(end, draw)
        good = fuzzed.result() and good
    journal.save()
    print(json.dumps(journal.told, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    os.chdir(ROOT)
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else "bench-out/soak.json")))

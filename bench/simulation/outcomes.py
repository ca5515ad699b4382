"""Outcomes of scenarios of taut_simulate, kept in a file, so that an interrupted sweep goes on where it stopped.

The file holds one line of JSON for each outcome, after a line with the fingerprint of the sources that decide
outcomes. Outcomes of other sources are dropped.
"""

import hashlib
import json
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src/compressor/values", "src/compressor/frame", "src/communication/team", "src/communication/algorithms", "src/communication/policy", "bench/simulation")


def fingerprint(root=ROOT):
    """Returns a hash of the code that a simulated call runs, without comments and layout."""
    files = sorted(path for folder in SOURCES for path in (root / folder).rglob("*.[ch]pp"))
    files += sorted((root / "src/communication/comm").glob("agree.[ch]pp"))  # the rest of src/communication/comm is not simulated
    code = "".join(re.sub(r"//.*", "", path.read_text()) for path in files if not path.name.endswith("_test.cpp"))
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:16]


class Incomplete(Exception):
    """The time is up before all outcomes are known."""


class Outcomes:
    """Outcomes by scenario. `minutes`: begin no simulation after that time."""

    def __init__(self, program, file, jobs=1, minutes=None):
        self.program, self.file, self.jobs = program, Path(file), jobs
        self.end = None if minutes is None else time.monotonic() + 60 * minutes
        self.sources = fingerprint()
        self.known = self.read()
        self.writing = threading.Lock()

    def read(self):
        if not self.file.exists():
            return {}
        head, *lines = self.file.read_text().splitlines() or ["{}"]
        if json.loads(head).get("sources") != self.sources:
            return {}
        whole = (json.loads(line) for line in lines if line.endswith("}"))  # the last one may have been cut off
        return {one["scenario"]: one["outcome"] for one in whole}

    def of(self, scenarios):
        """Returns {scenario: outcome}; simulates what is not known. Throws Incomplete."""
        missing = sorted(set(scenarios) - set(self.known))
        if missing:
            self.begin_file()
            with ThreadPoolExecutor(self.jobs) as workers:
                list(workers.map(self.simulate, missing))
        left = [one for one in missing if one not in self.known]
        if left:
            raise Incomplete(f"{len(left)} of {len(missing)} scenarios are left: the same command goes on")
        return {one: self.known[one] for one in scenarios}

    def begin_file(self):
        """Writes the file with the known outcomes alone."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"sources": self.sources})]
        lines += [json.dumps({"scenario": one, "outcome": outcome}) for one, outcome in self.known.items()]
        self.file.write_text("\n".join(lines) + "\n")

    def simulate(self, scenario):
        if self.end is not None and time.monotonic() > self.end:
            return
        done = subprocess.run([self.program], input=scenario + "\n", stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            self.end = 0  # no further simulation begins
            raise SystemExit(f"taut_simulate failed (status {done.returncode}): {scenario}")
        with self.writing, self.file.open("a") as file:
            self.known[scenario] = json.loads(done.stdout)
            file.write(json.dumps({"scenario": scenario, "outcome": self.known[scenario]}) + "\n")
        if sys.stderr.isatty():
            print(f"\r{len(self.known)} outcomes known", end="", file=sys.stderr, flush=True)

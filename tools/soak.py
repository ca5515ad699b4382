#!/usr/bin/env python3
"""Runs fuzzing, random configurations and random faults for some hours, and counts them by commit.

The counts are in a journal, bench/results/soak.json, with which the next run goes on, at whatever commit and machine. A finding
ends the run: its command repeats it. A kind that has reached its aim (WANTED) is left out, so that the others get its time. JOBS=1
in the environment does one thing after the other, for machines that have other work. Usage: soak.py HOURS [JOURNAL]
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench"))
import report  # noqa: E402

RANDOM = "build/test/tests/robustness/random/taut_random"
DRIVERS = "build/test/fuzz/fuzz_"
PIECES = {"configurations": (10000, []), "faults": (2500, ["--faults"])}  # how many at a time, options
WANTED = {"executions": 10**9, "configurations": 10**7, "faults": 10**6}
FUZZ_MINUTES = 10
UNCHECKED = "without sanitizers"  # executions by fuzz/driver.cpp, whose frames and values end at inaccessible pages


class Journal:
    """Counts, and the seconds of processor time they took, of each commit and kind; saved after each piece of work.

    Kinds are configurations, faults, "executions TARGET" for each fuzz target, and "executions TARGET without sanitizers".
    """

    def __init__(self, path, commit, machine):
        self.path, self.lock = path, threading.Lock()
        self.record = json.loads(path.read_text()) if path.exists() else {"findings": [], "runs": []}
        self.record["wanted"] = WANTED
        for run in self.record["runs"]:
            run["counts"] = {row.pop("kind"): row for row in run.pop("rows")}
        self.run = next((run for run in self.record["runs"] if (run["commit"], run["machine"]) == (commit, machine)), None)
        if self.run is None:
            self.run = report.record("make soak") | {"machine": machine, "commit": commit, "counts": {}}
            self.record["runs"].append(self.run)

    def add(self, kind, count, seconds):
        with self.lock:
            self.run["date"] = datetime.date.today().isoformat()
            counted = self.run["counts"].setdefault(kind, {"count": 0, "seconds": 0.0})
            counted["count"] += count
            counted["seconds"] = round(counted["seconds"] + seconds, 1)
            self.save()

    def found(self, what, output):
        with self.lock:
            self.record["findings"].append({"commit": self.run["commit"], "what": f"{what}: {output.strip()[-2000:]}"})
            self.save()

    def next_seed(self):
        """Returns a seed for fuzzing that the executions so far have not had."""
        return 1 + self.total("executions")[0] % 2**31

    def open_findings(self):
        """Returns the findings that lack the member "fixed", which says how a finding was fixed."""
        return [finding for finding in self.record["findings"] if "fixed" not in finding]

    def save(self):
        self.record["totals"] = {kind: self.total(kind)[0] for kind in WANTED}
        self.record["totals"]["executions under sanitizers"] = self.total("executions", under_sanitizers=True)[0]
        written = self.path.with_suffix(".new")
        written.write_text(report.text(self.record | {"runs": [self.run_of(run) for run in self.record["runs"]]}))
        written.replace(self.path)

    @staticmethod
    def run_of(run):
        """Returns a run as reports have it."""
        rows = [{"kind": kind} | counted for kind, counted in run["counts"].items()]
        return {key: value for key, value in run.items() if key != "counts"} | {"rows": rows}

    def total(self, kind, under_sanitizers=False):
        """Returns (count, seconds) of all runs."""
        counts = [counted for run in self.record["runs"] for counted in run["counts"].items()]
        chosen = [
            counted for name, counted in counts if name.split()[0] == kind and not (under_sanitizers and name.endswith(UNCHECKED))
        ]
        return sum(counted["count"] for counted in chosen), sum(counted["seconds"] for counted in chosen)

    def reached(self, kind):
        """Returns whether the runs have reached the aim of a kind."""
        return self.total(kind)[0] >= WANTED[kind]

    def left(self):
        """Says for each kind how far it is, and how long the rest takes."""
        for kind, wanted in WANTED.items():
            count, seconds = self.total(kind)
            rest = max(0, wanted - count) * seconds / count / 3600 if count else float("nan")
            speed = count / seconds if seconds else 0
            yield f"{kind}: {count} of {wanted}, {speed:.0f} a second; the rest takes {rest:.1f} hours of one core"


def timed(command):
    """Runs a command. Returns (exit status, output, seconds of processor time)."""
    with tempfile.TemporaryFile("w+") as output:
        started = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return started.returncode, output.read(), usage.ru_utime + usage.ru_stime


def random_calls(journal, kind, run=timed):
    """Draws the next configurations of a kind. Returns false after a finding."""
    count, options = PIECES[kind]
    first = journal.total(kind)[0]
    passive = ["env", "OMP_WAIT_POLICY=passive"]  # threads of the codecs that wait take no processor time
    status, output, seconds = run([*passive, "nice", RANDOM, "--seed", "1", "--first", str(first), "--count", str(count), *options])
    if status != 0:
        journal.found(f"{kind} from {first}", output)
        return False
    journal.add(kind, count, seconds)
    return True


def fuzzing(journal, minutes, run=timed):
    """Fuzzes every target. Returns false after a finding."""
    status, output, _ = run(["env", f"MINUTES={minutes}", f"SEED={journal.next_seed()}", "tools/fuzz.sh"])
    for target, count, seconds in re.findall(r"^(\w+): (\d+) executions in ([\d.]+) s", output, flags=re.M):
        journal.add(f"executions {target}", int(count), float(seconds))
    if status != 0:
        journal.found("fuzzing", output)
    return status == 0


def bulk_fuzzing(journal, minutes, targets, run=timed):
    """Mutates the inputs that fuzzing has kept, in builds without sanitizers. Returns false after a finding."""
    for target in targets:
        found = Path("build/fuzz-findings") / target
        found.mkdir(parents=True, exist_ok=True)
        folders = ["build/fuzz-corpus", "build/fuzz-seeds", "tests/robustness/fuzz_regressions"]
        inputs = [f"{folder}/{target}" for folder in folders]
        seconds = max(1, 60 * minutes // len(targets))
        limits = [f"-max_total_time={seconds}", "-timeout=20", f"-seed={journal.next_seed()}", f"-artifact_prefix={found}/"]
        status, output, used = run(["nice", f"{DRIVERS}{target}", *limits, *filter(os.path.isdir, inputs)])
        count = re.search(r"^stat::number_of_executed_units: (\d+)", output, flags=re.M)
        if status != 0 or not count:
            journal.found(f"fuzzing {target}", output)
            return False
        journal.add(f"executions {target} {UNCHECKED}", int(count[1]), used)
    return True


class Turns:
    """The order of work: of the kinds that are wanted still and not at work, the one that ended longest ago is next."""

    def __init__(self, journal, works):
        """Takes for each kind a function that does one piece of work, and returns false after a finding."""
        self.journal, self.works, self.lock = journal, dict(works), threading.Lock()
        self.waiting, self.good = list(works), True

    def take(self):
        """Returns a kind, or None if no kind is left, or after a finding."""
        with self.lock:
            kind = next((kind for kind in self.waiting if self.good and not self.journal.reached(kind)), None)
            if kind is not None:
                self.waiting.remove(kind)
            return kind

    def work_until(self, end):
        """Works until the time `end`, until nothing is left, or until a finding of any worker."""
        while time.monotonic() < end and (kind := self.take()) is not None:
            good = self.works[kind]()
            with self.lock:
                self.waiting.append(kind)
                self.good = self.good and good


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit_of(journal):
    """Returns the commit, marked if files other than the journal were changed since."""
    changed = output_of("git", "status", "--porcelain", "--", ".", f":!{journal}")
    return output_of("git", "rev-parse", "--short=10", "HEAD") + ("-dirty" if changed else "")


def main(hours, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(path, commit_of(path), report.record("")["machine"])
    end = time.monotonic() + hours * 3600
    minutes = max(1, min(FUZZ_MINUTES, int(hours * 6)))
    targets = sorted(path.name.removeprefix("fuzz_") for path in Path(DRIVERS).parent.glob("fuzz_*") if os.access(path, os.X_OK))
    works = {kind: lambda kind=kind: random_calls(journal, kind) for kind in PIECES}
    works["executions"] = lambda: fuzzing(journal, minutes) and bulk_fuzzing(journal, minutes, targets)
    turns = Turns(journal, works)
    workers = 1 if os.environ.get("JOBS") == "1" else 2
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(turns.work_until, [end] * workers))
    print(*journal.left(), sep="\n")
    for finding in journal.open_findings():
        print(f"FINDING at {finding['commit']}: {finding['what']}")
    return 0 if turns.good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    os.chdir(ROOT)
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else "bench/results/soak.json")))

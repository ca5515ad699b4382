#!/usr/bin/env python3
"""Runs fuzzing, random configurations and random faults for some hours, and counts them by commit.

The counts are in a journal, bench/results/MACHINE/soak.json, with which the next run goes on, at whatever commit. A
finding ends the run: its command repeats it. Usage: soak.py HOURS [JOURNAL]
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
RANDOM = "build/test/tests/robustness/random/taut_random"
PIECES = {"configurations": (10000, []), "faults": (2500, ["--faults"])}  # how many at a time, options
WANTED = {"executions": 10**9, "configurations": 10**7, "faults": 10**6}
FUZZ_MINUTES = 10


class Journal:
    """Counts, and the seconds of processor time they took, of each commit and kind; saved after each piece of work.

    Kinds are configurations, faults and "executions TARGET" for each fuzz target.
    """

    def __init__(self, path, commit, machine):
        self.path, self.lock = path, threading.Lock()
        self.told = json.loads(path.read_text()) if path.exists() else {"wanted": WANTED, "findings": [], "runs": []}
        self.run = next((run for run in self.told["runs"] if (run["commit"], run["machine"]) == (commit, machine)), None)
        if self.run is None:
            self.run = {"commit": commit, "machine": machine, "counts": {}}
            self.told["runs"].append(self.run)

    def add(self, kind, count, seconds):
        with self.lock:
            self.run["until"] = datetime.date.today().isoformat()
            counted = self.run["counts"].setdefault(kind, {"count": 0, "seconds": 0.0})
            counted["count"] += count
            counted["seconds"] = round(counted["seconds"] + seconds, 1)
            self.save()

    def found(self, what):
        with self.lock:
            self.told["findings"].append({"commit": self.run["commit"], "what": what})
            self.save()

    def save(self):
        self.told["totals"] = {kind: self.total(kind)[0] for kind in WANTED}
        written = self.path.with_suffix(".new")
        written.write_text(json.dumps(self.told, indent=1) + "\n")
        written.replace(self.path)

    def total(self, kind):
        """Returns (count, seconds) of all runs."""
        chosen = [counted for run in self.told["runs"] for name, counted in run["counts"].items() if name.split()[0] == kind]
        return sum(counted["count"] for counted in chosen), sum(counted["seconds"] for counted in chosen)

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
        journal.found(f"{kind} from {first}: {output.strip()[-2000:]}")
        return False
    journal.add(kind, count, seconds)
    return True


def fuzzing(journal, minutes, run=timed):
    """Fuzzes every target. Returns false after a finding."""
    seed = 1 + journal.total("executions")[0] % 2**31
    status, output, _ = run(["env", f"MINUTES={minutes}", f"SEED={seed}", "tools/fuzz.sh"])
    for target, count, seconds in re.findall(r"^(\w+): (\d+) executions in ([\d.]+) s", output, flags=re.M):
        journal.add(f"executions {target}", int(count), float(seconds))
    if status != 0:
        journal.found(f"fuzzing: {output.strip()[-2000:]}")
    return status == 0


def until(end, work):
    """Repeats work() until the time `end`, or until it returns false."""
    while time.monotonic() < end:
        if not work():
            return False
    return True


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit_of(journal):
    """Returns the commit, marked if files other than the journal were changed since."""
    changed = output_of("git", "status", "--porcelain", "--", ".", f":!{journal}")
    return output_of("git", "rev-parse", "--short=10", "HEAD") + ("-dirty" if changed else "")


def machine():
    """Returns the processor's name and the number of its cores, in words."""
    names = re.findall(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), flags=re.M)
    return f"{(names or [os.uname().machine])[0]}, {os.cpu_count()} cores"


def main(hours, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(path, commit_of(path), machine())
    end = time.monotonic() + hours * 3600
    minutes = max(1, min(FUZZ_MINUTES, int(hours * 60)))
    with ThreadPoolExecutor(2) as pool:
        fuzzed = pool.submit(until, end, lambda: fuzzing(journal, minutes))
        good = until(end, lambda: all(random_calls(journal, kind) for kind in PIECES))
        good = fuzzed.result() and good
    print(*journal.left(), sep="\n")
    for finding in journal.told["findings"]:
        print(f"FINDING at {finding['commit']}: {finding['what']}")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    os.chdir(ROOT)
    folder = f"{machine().split(',')[0].lower().replace(' ', '-')}-{os.cpu_count()}-core"
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else f"bench/results/{folder}/soak.json")))

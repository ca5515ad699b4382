#!/usr/bin/env python3
"""Runs an application from Debian bare, observed, without loss and within bounds, and compares what it prints.

  compare.py BUILD APP [--link 1gbit] [--size N] [--rounds 1] [--bounds rel=1e-4,rel=1e-6] [--json FILE]

BUILD: a folder of tools/build.sh with the drop-in. APP: lammps, espresso or meep. --link: two emulated hosts joined by
such links, a rank on each (needs root); without it the ranks share memory. Times are the program's own. They are
medians over the rounds, in each of which all variants run one after the other.
"""

import argparse
import importlib
import json
import statistics
import sys
import tempfile
from pathlib import Path

from application import greatest_difference
from job import Job, emulated_hosts, mbit_of, traffic, what_is_missing

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("app", choices=("lammps", "espresso", "meep"))
    parser.add_argument("--link", default="")
    parser.add_argument("--size", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--bounds", default="")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


class Comparison:
    def __init__(self, application, job):
        self.application, self.job = application, job
        self.outputs, self.failures, self.seconds, self.kinds = {}, {}, {}, {}

    def run(self, name, policy):
        """Runs a variant. `policy`: of the application's calls; None: bare; "": observed."""
        report = f"{name.replace('=', '')}.json"
        try:
            if policy is None:
                text = self.job.bare()
            else:
                rules = self.application.rules(policy) if policy else ""
                text = self.job.observed(report, rules, self.application.messages and bool(policy))
                self.kinds[name] = self.job.kinds(report)
        except RuntimeError as failure:  # of the application: a bound may be more than it tolerates
            self.failures[name] = str(failure)
            return
        self.outputs[name] = text
        self.seconds.setdefault(name, []).append(self.application.seconds(text))

    def differences(self, name):
        bare = self.application.observables(self.outputs["bare"])
        ours = self.application.observables(self.outputs[name])
        return {what: greatest_difference(ours[what], bare[what]) for what in bare}

    def same_digits(self, name):
        return self.application.printed(self.outputs[name]) == self.application.printed(self.outputs["bare"])

    def figures(self, name):
        """Returns what is known of a variant."""
        compressed, carried, sent = traffic(self.kinds.get(name, []))
        gains = [bare / own for bare, own in zip(self.seconds["bare"], self.seconds[name], strict=True)]
        return {
            "name": name, "same_digits": self.same_digits(name), "differences": self.differences(name),
            "compressed_calls": compressed, "carried_bytes": carried, "sent_bytes": sent,
            "seconds": statistics.median(self.seconds[name]), "gain": statistics.median(gains),
        }  # fmt: skip

    def row(self, name):
        own = self.figures(name)
        cells = [
            f"`{name}`",
            "yes" if own["same_digits"] else "no",
            *(f"{difference:.2g}" for difference in own["differences"].values()),
            f"{own['compressed_calls']}",
            f"{own['carried_bytes'] / 1e6:.4g}",
            f"{own['sent_bytes'] / 1e6:.4g}",
            f"{own['carried_bytes'] / own['sent_bytes']:.3g}" if own["sent_bytes"] else "-",
            f"{own['seconds']:.4g}",
            f"{own['gain']:.3g}",
        ]
        return "| " + " | ".join(cells) + " |"

    def table(self):
        what = list(self.differences("bare"))
        head = ["run", "same digits", *what, "compressed calls", "values, MB", "sent, MB", "ratio", "time, s", "gain"]
        return "\n".join(["| " + " | ".join(head) + " |", "|---|---" + "|---:" * (len(head) - 2) + "|",
                          *(self.row(name) for name in self.outputs)])  # fmt: skip

    def write(self, file, about):
        """Writes the figures of all variants, which picture.py draws. `about`: fields that stand before them."""
        rows = [self.figures(name) for name in self.outputs if name != "bare"]
        failed = {name: text[-1500:] for name, text in self.failures.items()}
        file.write_text(json.dumps({**about, "program": self.application.program, "rows": rows, "failed": failed}, indent=1) + "\n")


def main():
    asked = parse()
    application = importlib.import_module(asked.app).APPLICATION
    if reason := what_is_missing(application):
        sys.exit(f"compare.py: {reason}")
    bounds = [bound for bound in asked.bounds.split(",") if bound] or application.bounds
    build, before = asked.build.resolve(), machine.record()
    print(machine.sentence(before), "\n", sep="")
    with tempfile.TemporaryDirectory() as folder, emulated_hosts(mbit_of(asked.link)) as hosts:
        job = Job(application, asked.size or application.size, folder, build / "bin" / "taut",
                  build / "lib" / "taut" / "libtaut_preload.so", hosts)  # fmt: skip
        comparison = Comparison(application, job)
        policies = {"bare": None, "observed": ""}
        policies |= {policy: f"{policy} when=always" for policy in ("lossless", *bounds)}
        for _ in range(asked.rounds):
            for name, policy in policies.items():
                comparison.run(name, policy)
            if asked.json:  # after each round, for a run that is stopped
                comparison.write(asked.json, before)
        for bound in ("lossless", "rel:1e-6"):
            print(f"taut advise --bound {bound} --link {asked.link or '1gbit'}\n")
            print(job.advice("observed.json", "--bound", bound, "--link", asked.link or "1gbit"))
        print("differences: the greatest one to the bare run, relative to the greatest value\n")
        print(comparison.table())
        for name, failure in comparison.failures.items():
            print(f"\n{name} failed:\n{failure[-1500:]}")


if __name__ == "__main__":
    main()

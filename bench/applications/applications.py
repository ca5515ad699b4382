"""Runs an application from Debian (lammps, espresso or meep) bare, observed, without loss and within bounds, and compares what
it prints.

With a link, two emulated hosts are joined by it, a rank on each (needs root); without it the ranks share memory. Times are the
program's own. They are medians over the rounds, in each of which all variants run one after the other. Differences are the
greatest ones to the bare run, relative to the greatest value.
"""

import importlib
import statistics
import tempfile

from application import greatest_difference
from job import BUILDS, Job, traffic, what_is_missing
from suite import Suite, emulated_hosts


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


def advise(job, link):
    for bound in ("lossless", "rel:1e-6"):
        print(f"taut advise --bound {bound} --link {link}\n")
        print(job.advice("observed.json", "--bound", bound, "--link", link))


def measured(options):
    application = importlib.import_module(options.app).APPLICATION
    if reason := what_is_missing(application):
        raise SystemExit(reason)
    bounds = [bound for bound in options.bounds.split(",") if bound] or application.bounds
    policies = {"bare": None, "observed": ""} | {policy: f"{policy} when=always" for policy in ("lossless", *bounds)}
    taut, preload = (options.builds[0] / name for name in ("bin/taut", "lib/taut/libtaut_preload.so"))
    with tempfile.TemporaryDirectory() as folder, emulated_hosts(options.link) as hosts:
        job = Job(application, options.size or application.size, folder, taut, preload, hosts)
        comparison = Comparison(application, job)
        for _ in range(options.rounds):
            for name, policy in policies.items():
                comparison.run(name, policy)
        advise(job, options.link or "1gbit")
    failed = {name: text[-1500:] for name, text in comparison.failures.items()}
    for name, text in failed.items():
        print(f"\n{name} failed:\n{text}")
    options.settings |= {"program": application.program, "link": options.link, "failed": failed}
    return [comparison.figures(name) for name in comparison.outputs]


SUITE = Suite(
    about=__doc__, rows=measured, needs="application", builds=BUILDS,
    options={"app": ("lammps", "lammps, espresso or meep"), "link": ("", "rate of the link; none: shared memory"),
             "size": (0, "of the problem; 0: that of a measurement"), "rounds": (1, "rounds"), "bounds": ("", "as rel=1e-4,rel=1e-6")},
    columns={"run": "`{name}`", "same digits": "{same_digits}", "differences": "{differences}", "compressed calls": "{compressed_calls}",
             "values, B": "{carried_bytes}", "sent, B": "{sent_bytes}", "time, s": "{seconds:.4g}", "gain": "{gain:.3g}"},
)  # fmt: skip

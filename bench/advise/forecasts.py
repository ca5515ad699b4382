"""Compares forecasts of `taut advise` with measurements, for programs that none of the tests has.

On emulated hosts joined by a link, with a rank of Debian's Open MPI on each (needs root), each program of programs.c runs bare,
observed, and with the settings that `taut advise` prints, in turn; medians count. On a busy machine (see the load) ranks wait
for a core, and the error says little. The forecast of a run is the time of the bare run less the seconds that advise promises. Programs without a blocking collective call do nothing but
their calls, which are not timed: their forecast is the time of the calls for the rate of the link (--link of advise).
"""

import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from job import BUILDS, launch
from suite import ROOT, Suite, emulated_hosts

PROGRAMS = ("late", "nonblocking", "messages", "sites", "short")
WITHOUT_LINK = ("nonblocking", "messages")  # their calls are not timed
AIM = 0.25


class Case:
    def __init__(self, build, folder, hosts, link, bound):
        self.taut, self.preload = build / "bin/taut", build / "lib/taut/libtaut_preload.so"
        self.folder, self.hosts, self.link, self.bound = Path(folder), hosts, link, bound
        self.program = self.folder / "programs"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", self.program, ROOT / "bench/advise/programs.c", "-lm"], check=True)

    def seconds(self, name, settings=(), options=()):
        """Returns the time of the program's calls. `settings`: variables, with which it runs under Taut."""
        command = [str(self.program), name]
        if settings or options:
            command = [str(self.taut), "run", *options, "--", *command]
        command = ["env", f"TAUT_PRELOAD={self.preload}", *settings, *command]
        printed = launch(command, self.folder, hosts=self.hosts, timeout=120)
        return float(re.search(r"seconds (\S+)", printed)[1])

    def advice(self, name):
        """Returns the settings that advise prints, and the seconds of plain calls and of calls with the settings."""
        options = ["--link", self.link] if name in WITHOUT_LINK else []
        command = [self.taut, "advise", f"{name}.json", "--bound", self.bound, *options]
        printed = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
        for report in self.folder.glob(f"{name}.json*"):
            report.unlink()  # the next run has another identity
        settings = [line.removeprefix("export ").replace('"', "") for line in printed.splitlines() if line.startswith("export ")]
        found = re.search(r"(\S+) s of plain MPI would become (\S+) s", printed)
        return settings, *(map(float, found.groups()) if found else (0.0, 0.0))


def row_of(case, name, repeats):
    """Returns the medians of runs in turn: bare, observed, and with the settings of the first advice."""
    settings, bare, after, saved, coded = None, [], [], [], []
    for _ in range(repeats):
        bare.append(case.seconds(name))
        case.seconds(name, options=["--report", f"{name}.json"])
        advised, plain, with_rules = case.advice(name)
        settings = settings if settings is not None else advised
        after.append(case.seconds(name, settings=settings, options=["--summary"]) if settings else bare[-1])
        saved.append(plain - with_rules)
        coded.append(with_rules)
    before, measured = statistics.median(bare), statistics.median(after)
    forecast = statistics.median(coded) if name in WITHOUT_LINK and settings else before - statistics.median(saved)
    return {"program": name, "bare_s": before, "forecast_s": forecast, "measured_s": measured, "error": forecast / measured - 1,
            "settings": settings, "all_bare_s": bare, "all_saved_s": saved, "all_coded_s": coded, "all_with_settings_s": after}  # fmt: skip


def measured(options):
    options.settings |= {"link": options.link, "bound": options.bound}
    with tempfile.TemporaryDirectory() as folder, emulated_hosts(options.link) as hosts:
        case = Case(options.builds[0], folder, hosts, options.link, options.bound)
        for name in options.programs.split(","):
            yield row_of(case, name, options.repeats)


def judge(run, options):
    within = sum(abs(row["error"]) <= AIM for row in run["rows"])
    print(f"{within} of {len(run['rows'])} forecasts are within {100 * AIM:.0f} %")


SUITE = Suite(
    about=__doc__, rows=measured, finish=judge, needs="bench_advise", builds=BUILDS, quick={"repeats": 1},
    options={"link": ("1gbit", "rate of the links"), "bound": ("rel:1e-4", "of advise"), "repeats": (7, "runs of each kind"),
             "programs": (",".join(PROGRAMS), "names")},
    columns={"program": "{program}", "bare, s": "{bare_s:.3f}", "forecast, s": "{forecast_s:.3f}", "measured, s": "{measured_s:.3f}",
             "error": "{error:.0%}"},
)  # fmt: skip

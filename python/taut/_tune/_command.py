"""`taut tune`: finds the loosest bounds that a program's own check accepts, and writes them as rules."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Optional

from .._errors import Error
from ..report._read import ReportError
from ._page import Result, page
from ._runs import OUTPUT, Job, Run, Runs
from ._search import Factors, Search
from ._sites import Seen, look, rules

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size(text: str) -> int:
    """Parses 64KiB."""
    digits = text.rstrip("BKMGi")
    if not digits.isdigit() or text[len(digits) :] not in UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 64KiB or 1MiB")
    return int(digits) * UNITS[text[len(digits) :]]


def read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="taut tune",
        usage="taut tune (--check CMD | --output FILE --tolerance T) [options] -- COMMAND...",
        allow_abbrev=False,
        description="finds the loosest error bound that the program's own check accepts, for each of its call sites, and writes rules",
        epilog="The program runs plainly twice, so that its own noise is known, then under bounds. An interrupted search goes on from its folder.",
    )
    parser.add_argument("--check", metavar="CMD", help="a shell command that ends with status 0 if the results of a run are good")
    parser.add_argument("--output", action="append", default=[], metavar="FILE",
                        help="a file that the program writes, to be compared with that of the plain run: text, .npy, .npz, .h5, .f32, .f64")  # fmt: skip
    parser.add_argument("--tolerance", type=float, metavar="T", help="greatest accepted |output - plain| / |plain|, by sums of squares")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="most runs of the program, all of them; default: 20")
    parser.add_argument("--confirm", metavar="CMD", help="run the found rules with this command, of another number of ranks")
    parser.add_argument("--min-bytes", type=size, default=64 << 10, metavar="SIZE", help="leave smaller messages alone; default: 64KiB")
    parser.add_argument("-o", "--rules", default="tuned.toml", metavar="FILE", help="rules to write; default: tuned.toml")
    parser.add_argument("--page", default="tuned.html", help="page to write; default: tuned.html")
    parser.add_argument("--folder", default="taut-tune", help="state, reports and outputs of all runs; default: taut-tune")
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    options.command = words[at + 1 :]
    if not options.command:
        parser.error("the command is missing; put it behind --, as in taut tune --check ./good -- mpiexec -n 4 ./app")
    if not options.check and not options.output:
        parser.error("nothing judges the runs; give --check CMD, or --output FILE with --tolerance T")
    if options.output and not (options.tolerance and options.tolerance > 0 and isfinite(options.tolerance)):
        parser.error("--output needs --tolerance above 0")
    if options.tolerance is not None and not options.output:
        parser.error("--tolerance is that of --output; a check has its own")
    if options.runs < 4:
        parser.error("--runs: 4 are the least: two plain ones, one under a bound, one that confirms it")
    return options


def say(number: int, run: Run) -> None:
    told = " ".join(f"{factor:.2e}" for factor in sorted(set(run.factors.values()))) or "plain"
    value = "" if run.value is None else f", {run.value:.3g}"
    what = "accepted" if run.accepted else f"refused: {run.why}"
    print(f"run {number + 1:2}: {told}{value}; {what}; {run.seconds:.1f} s", flush=True)


def messages_of_taut(report: Path) -> list[str]:
    """Returns the lines that Taut itself wrote in a run, such as the one on a launcher of another MPI."""
    lines = (report.parent / OUTPUT).read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if line.startswith(("taut:", "taut run:"))]


def learn(runs: Runs, least_bytes: int) -> tuple[Seen, Optional[float]]:
    """Runs the program plainly twice. Returns what it does, and the distance of its two outputs."""
    first = runs.plain()
    seen = look(runs.report(0), least_bytes)
    if not first.accepted:
        raise Error(f"the check refuses the plain program: {first.why}; see {runs.report(0).parent}")
    runs.job.flags = ["--messages"] * ("TAUT_MESSAGES=1" in seen.needs) + ["--nonblocking"] * ("TAUT_NONBLOCKING=1" in seen.needs)
    runs.job.sites = seen.sites
    second = runs.plain()
    if not second.accepted:
        raise Error(f"two plain runs differ by more than the check accepts: {second.why}; loosen it, or make the program repeat itself")
    if not seen.sites:
        reasons = "; ".join(seen.left_out) or "it makes no calls that Taut serves"
        raise Error("\n".join([f"no call of the program can be tuned: {reasons}", *messages_of_taut(runs.report(0))]))
    return seen, second.value if runs.job.outputs else None


def confirmed(runs: Runs, factors: Factors, command: Optional[list[str]]) -> Factors:
    """Runs the found rules once more, and returns them; tightens them once if that run is refused. Returns nothing if the
    check refuses both."""
    if command and runs.job.outputs:
        runs.plain(command)
    for tightened in (1.0, 0.5):
        kept = {site: factor * tightened for site, factor in factors.items()}
        if runs.left() == 0:
            return {}
        if runs.confirm(kept, command).accepted:
            return kept
    return {}


def tune(options: argparse.Namespace, taut: list[str]) -> Result:
    job = Job(options.command, taut, Path(options.folder), options.check, options.output, options.tolerance, options.runs)
    runs = Runs(job, say)
    seen, noise = learn(runs, options.min_bytes)
    command = shlex.split(options.confirm) if options.confirm else None
    reserved = 1 + (1 if command and job.outputs else 0)
    by_bytes = sorted(seen.sites, key=lambda name: -seen.sites[name].message_bytes)
    search = Search(by_bytes, lambda factors: runs.measure(factors, reserved), lambda: runs.left(reserved))
    found = search.run()
    kept = confirmed(runs, found, command) if found else {}
    return Result(job, seen, runs.made, noise, found, kept, search.notes, command)


def main(arguments: Sequence[str], program: Path) -> int:
    """Runs the command and returns its exit code."""
    options = read(arguments)
    try:
        result = tune(options, [str(program)])
        Path(options.page).write_text(page(result), encoding="utf-8")
        if result.kept:
            text = "".join(f"# {line}\n" for line in result.told()) + "\n" + rules(result.seen.sites, result.kept, always=False)
            Path(options.rules).write_text(text, encoding="utf-8")
    except (Error, ReportError, OSError) as error:
        print(f"taut tune: {error}", file=sys.stderr)
        return 1
    print(*result.told(), f"{options.page}: the page with pictures", sep="\n")
    if not result.kept:
        return 1
    print(f"{options.rules}: the rules; taut run {' '.join([*result.job.flags, '--config', options.rules])} -- {shlex.join(options.command)}")
    return 0

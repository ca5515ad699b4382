"""Runs of the program under `taut run`, the answers of its check, and the state file that holds them."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from .._errors import Error
from ..report._read import ReportError
from ._outputs import NUMBER, distance, numbers_of
from ._search import Factors, Outcome, RunsSpent
from ._sites import Site, rules, traffic

SLOWEST = 20  # a run may take so many times as long as the plain one, and a minute
OUTPUT = "output.txt"  # what the program and Taut print in a run, in the folder of its report


@dataclass
class Run:
    """One run, as the state file keeps it."""

    factors: Factors  # empty: plain
    accepted: bool
    value: Optional[float]  # distance to the plain output, or the last number that the check printed
    why: str = ""  # it was not accepted
    seconds: float = 0.0
    value_bytes: int = 0
    frame_bytes: int = 0
    confirms: bool = False  # a run of the confirming command

    @property
    def ratio(self) -> float:
        return self.value_bytes / self.frame_bytes if self.frame_bytes else 1.0


@dataclass
class Job:
    """Command under test, and the check that judges its results."""

    command: list[str]
    taut: list[str]  # the program `taut`
    folder: Path
    check: Optional[str] = None
    outputs: list[str] = field(default_factory=list)
    tolerance: Optional[float] = None
    most_runs: int = 20
    flags: list[str] = field(default_factory=list)  # of taut run
    sites: dict[str, Site] = field(default_factory=dict)

    def identity(self) -> str:
        """Returns a text that is the same for jobs whose runs may be taken from one state file."""
        told: list[Any] = [self.command, self.check, self.outputs, self.tolerance]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def written_at(name: str) -> int:
    """Returns the time at which a file was last written, in nanoseconds; 0 if there is no such file. Compare only such times
    with each other: the clock of a file system may be behind."""
    return Path(name).stat().st_mtime_ns if Path(name).exists() else 0


class Runs:
    """The runs of a job. Those of an interrupted search are read from the state file instead of made again."""

    def __init__(self, job: Job, say: Any) -> None:
        self.job, self.say = job, say
        self.made: list[Run] = []
        self._earlier: list[Run] = []
        self._references: dict[str, Any] = {}
        self._slowest = 0.0
        self._state = job.folder / "state.json"
        job.folder.mkdir(parents=True, exist_ok=True)
        if self._state.exists():
            self._resume()

    def _resume(self) -> None:
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            if state["job"] == self.job.identity():
                self._earlier = [Run(**run) for run in state["runs"]]
        except (ValueError, KeyError, TypeError) as error:
            raise Error(f"{self._state}: is no state of taut tune ({error!r}); remove it") from None
        if not self._earlier:
            raise Error(f"{self._state}: is of another command or check; name another folder with --folder, or remove it")

    def left(self, reserved: int = 0) -> int:
        return max(0, self.job.most_runs - len(self.made) - reserved)

    def report(self, number: int) -> Path:
        return self.job.folder / f"run-{number}" / "report.json"

    def plain(self, command: Optional[Sequence[str]] = None) -> Run:
        """Runs a command without rules. The first such run of a command is the reference of later ones."""
        return self._run({}, command)

    def measure(self, factors: Factors, reserved: int) -> Outcome:
        """Runs the program under rules, unless the same run was made before."""
        for run in self.made:
            if run.factors == factors and not run.confirms:
                return self._outcome(run)
        if self.left(reserved) == 0:
            raise RunsSpent
        return self._outcome(self._run(factors, None))

    def confirm(self, factors: Factors, command: Optional[Sequence[str]]) -> Run:
        return self._run(factors, command, True)

    def _outcome(self, run: Run) -> Outcome:
        tolerance = self.job.tolerance
        share = None if tolerance is None or run.value is None else run.value / tolerance
        return Outcome(run.accepted, share)

    def _run(self, factors: Factors, command: Optional[Sequence[str]], confirms: bool = False) -> Run:
        number = len(self.made)
        expected = self._earlier[number] if number < len(self._earlier) else None
        if expected is not None and (expected.factors, expected.confirms) == (factors, confirms) and self._restore(number):
            self.made.append(expected)
            return expected
        self._earlier = self._earlier[:number]
        run = self._start(number, factors, list(command or self.job.command), confirms)
        self.made.append(run)
        state = {"job": self.job.identity(), "runs": [asdict(run) for run in self.made]}
        waiting = self._state.with_suffix(".part")
        waiting.write_text(json.dumps(state, indent=1), encoding="utf-8")
        waiting.replace(self._state)
        self.say(number, run)
        return run

    def _restore(self, number: int) -> bool:
        """Returns True if the files of an earlier run are still there, and reads its reference."""
        kept = self.report(number).parent / "numbers.npy"
        if kept.exists():
            self._references.setdefault(self._key(self.job.command), np.load(kept))
        return self.report(number).parent.is_dir()

    def _key(self, command: Sequence[str]) -> str:
        return json.dumps(list(command))

    def _start(self, number: int, factors: Factors, command: list[str], confirms: bool) -> Run:
        report = self.report(number)
        shutil.rmtree(report.parent, ignore_errors=True)
        report.parent.mkdir()
        flags = ["--report", str(report), *self.job.flags]
        if factors:
            config = report.parent / "rules.toml"
            config.write_text(rules(self.job.sites, factors, always=True), encoding="utf-8")
            flags += ["--config", str(config)]
        clean = {name: value for name, value in os.environ.items() if name not in ("TAUT_RULES", "TAUT_CONFIG")}
        written = {name: written_at(name) for name in self.job.outputs}
        began = time.time()
        limit = 60 + SLOWEST * self._slowest if factors else None
        with open(report.parent / OUTPUT, "wb") as log:
            try:
                done = subprocess.run([*self.job.taut, "run", *flags, "--", *command], env=clean, stdout=log,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=limit, check=False)  # fmt: skip
                failure = f"the program ended with status {done.returncode}" if done.returncode else ""
            except subprocess.TimeoutExpired:
                failure = f"the program took more than {limit:.0f} s"
        run = Run(factors, not failure, None, failure, time.time() - began, confirms=confirms)
        if not factors:
            self._slowest = max(self._slowest, run.seconds)
        if failure and not factors:
            raise Error(f"the plain program fails: {failure}; its output is in {log.name}")
        if not failure:
            self._judge(run, report, self._key(command), written)
            self._count(run, report)
        return run

    def _count(self, run: Run, report: Path) -> None:
        if not run.factors:
            return
        with contextlib.suppress(ReportError):  # a program that ends without MPI_Finalize may leave no report
            seen = traffic(report)
            run.value_bytes, run.frame_bytes = seen.value_bytes, seen.frame_bytes

    def _judge(self, run: Run, report: Path, command: str, written: dict[str, int]) -> None:
        if self.job.check is not None:
            done = subprocess.run(self.job.check, shell=True, capture_output=True, check=False)
            (report.parent / "check.txt").write_bytes(done.stdout + done.stderr)
            found = NUMBER.findall(done.stdout)
            run.value = float(found[-1].lower().replace(b"d", b"e")) if found else None
            if done.returncode:
                run.accepted, run.why = False, f"the check ended with status {done.returncode}"
        for name in self.job.outputs:
            if written[name] and written_at(name) == written[name]:
                raise Error(f"{name}: the program did not write it in this run; name a file that each run writes")
        if self.job.outputs:
            self._compare(run, report, command)

    def _compare(self, run: Run, report: Path, command: str) -> None:
        tolerance = self.job.tolerance or 0.0
        numbers = [numbers_of(Path(name)) for name in self.job.outputs]
        whole = np.concatenate(numbers)
        if command not in self._references:
            if run.factors:
                raise Error("the confirming command has no plain run")
            self._references[command] = numbers
            np.save(report.parent / "numbers.npy", whole)
        reference = self._references[command]
        parts = reference if isinstance(reference, list) else [reference]
        pairs = zip(parts, numbers) if len(parts) == len(numbers) else [(np.concatenate(parts), whole)]
        run.value = max(distance(plain, other) for plain, other in pairs)
        if not run.value <= tolerance:
            run.accepted, run.why = False, f"the output is {run.value:.3g} away, the tolerance is {tolerance:.3g}"

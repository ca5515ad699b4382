"""Reader of reports, added up over all ranks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ._traces import of_ranks

PHASES = ("encode", "combine", "decode", "wait", "agree", "plain")
COUNTS = (
    "calls compressed_calls failed_calls message_bytes value_bytes frame_bytes carried_bytes sent_bytes sent_messages".split()
)


class ReportError(ValueError):
    """A file is not a report, or there is no file."""


@dataclass
class Sums:
    """Counters of `docs/observe.md`, added over ranks; times in nanoseconds."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    plain_calls: dict[str, int] = field(default_factory=dict)
    nanoseconds: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*PHASES, "call"), 0))
    packed_calls: int = 0
    referring_calls: int = 0

    def add(self, report: dict[str, Any]) -> None:
        for name in COUNTS:
            self.counts[name] += report[name]
        self.packed_calls += report.get("packed_calls", 0)
        self.referring_calls += report.get("referring_calls", 0)
        for reason, calls in report["plain_calls"].items():
            self.plain_calls[reason] = self.plain_calls.get(reason, 0) + calls
        for phase in self.nanoseconds:
            self.nanoseconds[phase] += report["nanoseconds"][phase]

    @property
    def seconds(self) -> float:
        return self.nanoseconds["call"] * 1e-9

    @property
    def ratio(self) -> Optional[float]:
        """Ratio of value bytes to frame bytes; None if nothing was encoded."""
        return self.counts["value_bytes"] / self.counts["frame_bytes"] if self.counts["frame_bytes"] else None


@dataclass
class Worst:
    """The greatest error that checks have found, measured by its share of the bound."""

    error: float  # infinite: one of the two results alone was finite
    bound: float  # infinite: none
    rank: int
    element: int

    @property
    def share(self) -> float:
        if self.error == 0 or self.bound == float("inf"):
            return 0.0
        return self.error / self.bound if self.bound else float("inf")


@dataclass
class Kind:
    """A kind of calls that are counted together, over all ranks."""

    name: str  # "allreduce f32 sum 4MiB"
    site: str
    communicator: "Communicator"
    sums: Sums = field(default_factory=Sums)
    decision: Optional[dict[str, Any]] = None
    compressibility: dict[str, tuple[int, int]] = field(default_factory=dict)  # by bound: bytes of values, bytes of frames
    history: dict[str, tuple[int, int]] = field(default_factory=dict)  # by bound: bytes of frames alone, and behind earlier calls
    period: int = 0  # calls back to one that was alike; 0: none was
    least: float = float("inf")  # of the finite values among the samples
    greatest: float = float("-inf")
    samples: int = 0
    constant: int = 0  # samples whose values were all equal
    pickles: int = 0  # samples of objects that Python had pickled
    checked: int = 0  # calls whose results were compared with those of plain MPI
    over_bound: int = 0
    worst: Optional["Worst"] = None


@dataclass
class Communicator:
    """Communicators of one name and policy, over all ranks."""

    name: str
    policy: str
    ranks: int
    sums: Sums = field(default_factory=Sums)
    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)


@dataclass
class Report:
    """The report of a job, added up over its ranks."""

    ranks: int  # ranks in the files
    of_ranks: int  # ranks of the job
    communicators: list[Communicator]
    by_rank: dict[int, Sums]
    unserved_calls: dict[str, int] = field(default_factory=dict)  # calls that Taut does not serve, by name
    summed_chunks: dict[str, int] = field(default_factory=dict)  # chunks of sums of frames, by the way they took
    command: str = ""  # of rank 0, as are the following ones; "": an earlier version did not write it
    mpi: str = ""
    rules: str = ""
    began: float = 0.0  # seconds since 1970
    seconds: float = 0.0  # run time of the rank that ran longest
    finished: int = 0  # ranks that reached MPI_Finalize
    nccl_calls: dict[str, dict[str, int]] = field(default_factory=dict)  # counts by function of NCCL

    @property
    def kinds(self) -> list[Kind]:
        """All kinds of calls, the kind that took the longest first."""
        return sorted((k for c in self.communicators for k in c.kinds.values()), key=lambda kind: -kind.sums.seconds)

    @property
    def total(self) -> Sums:
        total = Sums()
        for one in self.by_rank.values():
            total.add({**one.counts, **{name: getattr(one, name) for name in ("packed_calls", "referring_calls", "plain_calls", "nanoseconds")}})
        return total

    @property
    def worst(self) -> Optional[Worst]:
        """The greatest error of all kinds; None if nothing was checked."""
        return max((kind.worst for kind in self.kinds if kind.worst), key=lambda one: one.share, default=None)


def files_of(names: Sequence[str]) -> list[Path]:
    """Returns the files of the names: `report.json` stands for report.json.0, ..., report.json.torch.0, ... as well."""
    found: list[Path] = []
    for name in names:
        files = of_ranks(name)
        if not files:
            raise ReportError(f"{name}: no such file, nor {name}.0; TAUT_REPORT={name} makes a run write it")
        found += files
    return found


def _library_of(report: dict[str, Any]) -> str:
    """Returns the library whose calls a file counts: each has files of its own in a job that uses several."""
    return report.get("library") or ("nccl" if "nccl_calls" in report else "mpi")


def read(names: Sequence[str]) -> Report:
    """Reads the files of one job, one for each rank and library."""
    communicators: dict[tuple[str, str, int], Communicator] = {}
    by_rank: dict[int, Sums] = {}
    counted: dict[str, dict[str, int]] = {"unserved_calls": {}, "summed_chunks": {}}
    nccl_calls: dict[str, dict[str, int]] = {}
    head: dict[str, Any] = {}
    runs: dict[str, tuple[int, Optional[str]]] = {}  # by library
    seen: set[tuple[str, int]] = set()
    unfinished: set[int] = set()
    longest = 0.0
    for path in files_of(names):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
            if report.get("format") != "taut-report":
                raise ReportError(f"{path}: is no report of Taut's")
            library, rank, run = _library_of(report), report["rank"], (report["ranks"], report.get("run"))
            if runs.setdefault(library, run) != run:
                raise ReportError(f"{path}: is not of the same run as the files before; remove those of older runs")
            if (library, rank) in seen:
                raise ReportError(f"{path}: rank {rank} stands in another file too; give the files of one run")
            seen.add((library, rank))
            if rank == 0 or not head:
                head = {**report, **{name: value for name, value in head.items() if value}} if head.get("rank") == rank else report
            longest = max(longest, report.get("seconds", 0.0))
            unfinished |= set() if report.get("finished", True) else {rank}
            total = by_rank.setdefault(rank, Sums())
            for communicator in report["communicators"]:
                _add(communicators, communicator, rank)
                total.add(communicator)
            for member, counts in counted.items():
                _add_counts(counts, report.get(member, {}))
            for name, calls in report.get("nccl_calls", {}).items():
                _add_counts(nccl_calls.setdefault(name, {}), calls)
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ReportError(f"{path}: is no report, or a damaged one ({error!r})") from None
    told = {name: head.get(name) or "" for name in ("command", "mpi", "rules")}
    told["command"] = told["command"] or head.get("program") or ""
    return Report(len(by_rank), max(ranks for ranks, _ in runs.values()), list(communicators.values()), by_rank, **counted, nccl_calls=nccl_calls,
                  **told, began=head.get("began") or 0.0, seconds=longest, finished=len(by_rank) - len(unfinished))  # fmt: skip


def _add_counts(to: dict[str, int], counts: dict[str, int]) -> None:
    for name, count in counts.items():
        to[name] = to.get(name, 0) + count


def _add(communicators: dict[tuple[str, str, int], Communicator], communicator_report: dict[str, Any], rank: int) -> None:
    key = (communicator_report["name"], communicator_report["policy"], communicator_report["ranks"])
    communicator = communicators.setdefault(key, Communicator(*key))
    communicator.sums.add(communicator_report)
    for row in communicator_report["kinds"]:
        name = _name_of(row)
        site = row["site"] or ""
        kind = communicator.kinds.setdefault((name, site), Kind(name, site, communicator))
        kind.sums.add(row)
        kind.decision = row["decision"] or kind.decision
        _add_check(kind, row.get("check"), rank)
        sampled = row.get("compressibility") or {}
        kind.samples += sampled.get("samples", 0)
        kind.constant += sampled.get("constant", 0)
        kind.pickles += sampled.get("pickles", 0)
        for bound in sampled.get("bounds", []):
            values, frames = kind.compressibility.get(bound["bound"], (0, 0))
            kind.compressibility[bound["bound"]] = (values + bound["value_bytes"], frames + bound["frame_bytes"])
        if sampled.get("least") is not None and sampled.get("greatest") is not None:
            kind.least, kind.greatest = min(kind.least, sampled["least"]), max(kind.greatest, sampled["greatest"])
        _add_history(kind, row.get("history_would_give") or {})


def _add_history(kind: Kind, row: dict[str, Any]) -> None:
    kind.period = max(kind.period, row.get("period", 0))
    for bound in row.get("bounds", []):
        alone, behind = kind.history.get(bound["bound"], (0, 0))
        kind.history[bound["bound"]] = (alone + bound["alone_bytes"], behind + bound["referring_bytes"])


def _add_check(kind: Kind, check: Optional[dict[str, Any]], rank: int) -> None:
    if not check:
        return
    kind.checked += check["calls"]
    kind.over_bound += check["calls_over_bound"]
    error, bound = (float("inf") if check[name] is None else check[name] for name in ("error", "bound"))
    worst = Worst(error, bound, rank, check["element"])
    if kind.worst is None or worst.share > kind.worst.share:
        kind.worst = worst


def _name_of(row: dict[str, Any]) -> str:
    if row["collective"] is None:
        return "all other kinds"
    size = None if row["least_bytes"] is None else bytes_text(row["least_bytes"])
    words = [row["collective"], row["type"], row["operator"], size]
    return " ".join(word for word in words if word)


def bytes_text(count: float) -> str:
    """Returns a size in words: 4194304 is 4MiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f}{unit}" if count == int(count) else f"{count:.3g}{unit}"

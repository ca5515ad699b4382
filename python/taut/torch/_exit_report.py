"""Report at the end of the process: what taut.torch has coded, in a file beside those of TAUT_REPORT (docs/observe.md)."""

import atexit
import json
import os
import shlex
import sys
from collections.abc import Iterable
from typing import Any

import torch.distributed as dist

from ..report._read import COUNTS, PHASES
from ._statistics import CallStatistics, Table, merged


class _Report:
    """Statistics of the groups of this process, also of those that are gone, and its rank in the job."""

    def __init__(self) -> None:
        self.groups: list[tuple[str, dict[str, CallStatistics]]] = []
        self.sizes: dict[str, int] = {}  # of the groups, by name
        self.rank, self.ranks, self.rules = 0, 0, ""

    def table(self) -> Table:
        return merged({(name, call): row} for name, rows in self.groups for call, row in rows.items())


_REPORT = _Report()


def include(name: str, rows: dict[str, CallStatistics], rank: int, ranks: int, rules: str = "") -> None:
    """Adds a group to the report: its name, what was coded and will be, this process's rank in it, and its rules."""
    if not os.environ.get("TAUT_REPORT"):
        return
    if not _REPORT.groups:
        atexit.register(_write, os.path.abspath(os.environ["TAUT_REPORT"]))
    _REPORT.groups.append((name, rows))
    _REPORT.sizes[name], _REPORT.rules = ranks, rules or _REPORT.rules
    if dist.is_initialized():  # files are those of processes: groups overlap
        rank, ranks = dist.get_rank(), dist.get_world_size()
    if ranks > _REPORT.ranks:
        _REPORT.rank, _REPORT.ranks = rank, ranks


def _counts(rows: Iterable[CallStatistics]) -> dict[str, Any]:
    """Returns the counts of a kind of calls or a group. What taut.torch does not count is 0: bytes sent, times of phases."""
    total = CallStatistics()
    for row in rows:
        total.add(row)
    known = {"calls": total.calls, "compressed_calls": total.calls, "value_bytes": total.value_bytes, "frame_bytes": total.frame_bytes}
    nanoseconds = dict.fromkeys(PHASES, 0) | {"call": round(1e9 * total.seconds)}
    return dict.fromkeys(COUNTS, 0) | known | {"ratio": round(total.ratio, 4), "plain_calls": {}, "nanoseconds": nanoseconds}


def _kind(call: str, row: CallStatistics) -> dict[str, Any]:
    bound = f"abs:{row.greatest_bound:g}" if row.greatest_bound else None
    decision = bound and {"codec": None, "predictor": None, "algorithm": None, "bound": bound}
    name = {"collective": call.lower(), "type": None, "operator": None, "least_bytes": None, "site": None}
    return {**name, **_counts([row]), "decision": decision}


def _communicator(name: str, ranks: int, rows: dict[str, CallStatistics]) -> dict[str, Any]:
    kinds = [_kind(call, row) for call, row in rows.items()]
    return {"policy": "", "name": name, "ranks": ranks, **_counts(rows.values()), "kinds": kinds}


def _write(path: str) -> None:
    rank = str(_REPORT.rank)
    name = path.replace("%r", rank) + ".torch" if "%r" in path else f"{path}.torch.{rank}"
    groups: dict[str, dict[str, CallStatistics]] = {}
    for (group, call), row in _REPORT.table().items():
        groups.setdefault(group, {})[call] = row
    content = {"format": "taut-report", "version": 2, "rank": _REPORT.rank, "ranks": _REPORT.ranks, "library": "torch",
               "command": shlex.join(getattr(sys, "orig_argv", sys.argv)), "rules": _REPORT.rules, "finished": True,
               "communicators": [_communicator(group, _REPORT.sizes[group], rows) for group, rows in groups.items()]}  # fmt: skip
    try:
        with open(f"{name}.part", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(f"{name}.part", name)
    except OSError as error:
        print(f"taut: {name} was not written: {error}", file=sys.stderr)

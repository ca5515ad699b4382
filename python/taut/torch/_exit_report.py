"""Report at the end of the process: what taut.torch has coded, in a file beside those of TAUT_REPORT (docs/observe.md)."""

import atexit
import json
import os
import sys
from dataclasses import asdict

from ._statistics import CallStatistics, Table, merged


class _Report:
    """Statistics of the groups of this process, also of those that are gone, and its rank in the largest of them."""

    def __init__(self) -> None:
        self.groups: list[tuple[str, dict[str, CallStatistics]]] = []
        self.rank, self.ranks = 0, 0

    def table(self) -> Table:
        return merged({(name, call): row} for name, rows in self.groups for call, row in rows.items())


_REPORT = _Report()


def include(name: str, rows: dict[str, CallStatistics], rank: int, ranks: int) -> None:
    """Adds a group to the report: its name, what was coded and will be, and this process's rank in it."""
    if not os.environ.get("TAUT_REPORT"):
        return
    if not _REPORT.groups:
        atexit.register(_write, os.path.abspath(os.environ["TAUT_REPORT"]))
    _REPORT.groups.append((name, rows))
    if ranks > _REPORT.ranks:
        _REPORT.rank, _REPORT.ranks = rank, ranks


def _write(path: str) -> None:
    rank = str(_REPORT.rank)
    name = path.replace("%r", rank) + ".torch" if "%r" in path else f"{path}.torch.{rank}"
    calls = [
        {"group": group, "call": call, **asdict(row), "ratio": round(row.ratio, 4)}
        for (group, call), row in _REPORT.table().items()
    ]
    content = {"format": "taut-torch-report", "version": 1, "rank": _REPORT.rank, "ranks": _REPORT.ranks, "torch_calls": calls}
    try:
        with open(f"{name}.part", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(f"{name}.part", name)
    except OSError as error:
        print(f"taut: {name} was not written: {error}", file=sys.stderr)

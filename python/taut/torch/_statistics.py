"""Statistics of coded calls, by group and call: what users see of the gain."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

_LOG = logging.getLogger("taut.torch")


@dataclass
class CallStatistics:
    """Calls of one kind on one group, such as ``Allreduce``: what this rank has coded in them, and their time."""

    calls: int = 0
    value_bytes: int = 0  # of the values that were encoded
    frame_bytes: int = 0  # of their frames
    greatest_bound: float = 0.0  # of the errors of results, in absolute terms; bounds relative to each value are not counted
    seconds: float = 0.0  # in calls, from their turn to their end

    @property
    def ratio(self) -> float:
        """Bytes of values by bytes of frames; 1 if nothing was encoded."""
        return self.value_bytes / self.frame_bytes if self.frame_bytes else 1.0

    def add(self, other: "CallStatistics") -> None:
        self.calls += other.calls
        self.value_bytes += other.value_bytes
        self.frame_bytes += other.frame_bytes
        self.greatest_bound = max(self.greatest_bound, other.greatest_bound)
        self.seconds += other.seconds


Table = dict[tuple[str, str], CallStatistics]  # by the names of group and call


def coded_bound(coding: str) -> float:
    """Returns the absolute bound of one coding; 0 if it has none."""
    kind, _, rest = coding.partition(":")
    return float(rest.split(",")[0]) if kind in ("abs", "snap") else 0.0


def log(table: Table) -> None:
    """Writes a line for each kind of call, at level INFO of the logger ``taut.torch``."""
    for (group, call), row in table.items():
        _LOG.info(
            "taut: group %s, %s: %d calls, %.6g MB in frames of %.6g MB (ratio %.2f), error at most %.3g, %.3f s",
            *(group, call, row.calls, row.value_bytes / 1e6, row.frame_bytes / 1e6, row.ratio, row.greatest_bound, row.seconds),
        )


def write_scalars(table: Table, writer: Any, step: Optional[int]) -> None:
    """Writes the statistics to a ``SummaryWriter`` of TensorBoard, or an object with its ``add_scalar``."""
    for (group, call), row in table.items():
        for name in ("calls", "value_bytes", "frame_bytes", "ratio", "greatest_bound", "seconds"):
            writer.add_scalar(f"taut/{group}/{call}/{name}", getattr(row, name), step)


def merged(tables: Iterable[Table]) -> Table:
    """Returns tables as one: rows of groups with the same name are added up."""
    total: Table = {}
    for table in tables:
        for key, row in table.items():
            total.setdefault(key, CallStatistics()).add(row)
    return total

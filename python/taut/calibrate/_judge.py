"""Evaluation of the times: the least ratio and size at which frames pay, and the speed of the link. Pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Optional

LEAST = 1024  # least bytes of a message: one value for each of 256 ranks
LARGE = 1 << 20  # least bytes of a call whose time shows the link rather than its fixed cost
TYPICAL = 8.0  # ratio of smooth fields at a bound of 1e-3 of their range (docs/notes/codecs.md)


@dataclass(frozen=True, order=True)
class Coded:
    """A measurement of a call with frames: compression ratio and seconds."""

    ratio: float
    seconds: float


@dataclass(frozen=True)
class Row:
    """Measurements of a call of `bytes` on each rank: seconds of plain MPI, and with frames, the lowest ratio first."""

    call: str
    bytes: int
    plain: float
    coded: tuple[Coded, ...]

    def pays_from(self) -> Optional[float]:
        """Returns the least ratio at which frames are faster, interpolated between measured ratios (times linear in 1/ratio).

        Returns None if frames are faster at no ratio. If the lowest measured ratio pays, that ratio is returned.
        """
        before: Optional[Coded] = None
        for point in self.coded:
            if point.seconds < self.plain:
                return point.ratio if before is None else self._between(before, point)
            before = point
        return None

    def _between(self, slower: Coded, faster: Coded) -> float:
        share = (slower.seconds - self.plain) / (slower.seconds - faster.seconds)
        return 1 / (1 / slower.ratio + share * (1 / faster.ratio - 1 / slower.ratio))

    def pays_at(self, ratio: float) -> bool:
        least = self.pays_from()
        return least is not None and least <= ratio


def carried(call: str, ranks: int) -> float:
    """Returns the bytes on the busiest link in one direction, for each byte of the message (src/communication/policy/plan/cost_model.hpp)."""
    return (2 if call in ("allreduce", "bcast") else 1) * (ranks - 1) / ranks


def link(rows: Iterable[Row], ranks: int) -> Optional[float]:
    """Returns the bandwidth of a rank in bytes a second: that of the fastest large plain call, as in `taut advise`."""
    return max((carried(row.call, ranks) * row.bytes / row.plain for row in rows if row.bytes >= LARGE), default=None)


def pays_from_bytes(rows: Sequence[Row], ratio: float) -> Optional[int]:
    """Returns the least size from which on frames of that ratio pay at every measured size; None if there is none."""
    least = None
    for row in sorted(rows, key=lambda row: -row.bytes):
        if not row.pays_at(ratio):
            break
        least = row.bytes
    return least


def summary(rows: Sequence[Row], ranks: int) -> dict[str, object]:
    """Returns the results for JSON and the table."""
    calls = list(dict.fromkeys(row.call for row in rows))
    of_call = {call: [row for row in rows if row.call == call] for call in calls}
    return {
        "link_bytes_a_second": link(rows, ranks),
        "typical_ratio": TYPICAL,
        "pays_from_bytes": {call: pays_from_bytes(of_call[call], TYPICAL) for call in calls},
        "rows": [{**asdict(row), "pays_from": row.pays_from()} for row in rows],
    }

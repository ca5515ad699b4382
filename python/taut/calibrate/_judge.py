"""What the times mean: from which ratio on frames pay, from which size on, and how fast the link is. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Optional

LEAST = 1024  # bytes of a message; one value for each of 256 ranks
LARGE = 1 << 20  # bytes of a call that shows the link rather than what a call costs before it
TYPICAL = 8.0  # ratio of smooth fields at a bound of 1e-3 of their range (docs/notes/codec_tables.md)


@dataclass(frozen=True, order=True)
class Coded:
    """By frames: values over frames, seconds."""

    ratio: float
    seconds: float


@dataclass(frozen=True)
class Row:
    """A call of so many bytes on each rank: seconds of plain MPI, and by frames, the lowest ratio first."""

    call: str
    bytes: int
    plain: float
    coded: tuple[Coded, ...]

    def pays_from(self) -> Optional[float]:
        """The least ratio at which frames are faster; between two that were measured, times being linear in 1/ratio.

        None: at none. Where the lowest ratio pays it is that: lower ones were not measured.
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
    """Bytes that pass the busiest link in one direction, for each byte of the message (src/policy/plan/cost_model.hpp)."""
    return (2 if call in ("allreduce", "bcast") else 1) * (ranks - 1) / ranks


def link(rows: Iterable[Row], ranks: int) -> Optional[float]:
    """Bytes a second of each rank, as `taut advise` takes it from a run: the fastest of the large plain calls."""
    return max((carried(row.call, ranks) * row.bytes / row.plain for row in rows if row.bytes >= LARGE), default=None)


def pays_from_bytes(rows: Sequence[Row], ratio: float) -> Optional[int]:
    """Of one call: the size from which on frames of that ratio pay at every size that was measured; None: there is none."""
    least = None
    for row in sorted(rows, key=lambda row: -row.bytes):
        if not row.pays_at(ratio):
            break
        least = row.bytes
    return least


def summary(rows: Sequence[Row], ranks: int) -> dict[str, object]:
    """All of it, for JSON and the table."""
    calls = list(dict.fromkeys(row.call for row in rows))
    of_call = {call: [row for row in rows if row.call == call] for call in calls}
    return {
        "link_bytes_a_second": link(rows, ranks),
        "typical_ratio": TYPICAL,
        "pays_from_bytes": {call: pays_from_bytes(of_call[call], TYPICAL) for call in calls},
        "rows": [{**asdict(row), "pays_from": row.pays_from()} for row in rows],
    }

"""The search for the loosest bounds: a common one by bisection, then one for each call site by delta debugging
[Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28 (2002)].

A bound is a factor: of the greatest |value| of its call site."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Optional

Factors = dict[str, float]  # by call site; sites that are missing stay plain

START, LOOSEST, TIGHTEST = 1e-3, 0.1, 1e-9
CLOSE = 1.18  # the search ends when a bound that is this much looser is refused
GOAL = 0.93  # part of the tolerance that the next guess aims at
NEAR = 0.85  # part of the tolerance that is near enough
STEP = 10.0


class RunsSpent(Exception):
    """There are no runs left."""


@dataclass(frozen=True)
class Outcome:
    """The answer of the program's check to one run."""

    accepted: bool
    share: Optional[float] = None  # of the tolerance that the run used; None: the check tells no number


Measure = Callable[[Factors], Outcome]


def _guess(low: Optional[tuple[float, Outcome]], high: Optional[tuple[float, Outcome]]) -> Optional[float]:
    """Returns the factor to try between the loosest accepted one and the tightest refused one; None: the search is over."""
    if low and low[1].share is not None and low[1].share >= NEAR:
        return None
    shares = [(factor, one.share) for factor, one in filter(None, (low, high)) if one.share and isfinite(one.share)]
    aimed = shares[0][0] * GOAL / shares[0][1] if shares else None  # errors grow about as bounds do
    if low and high:
        if high[0] / low[0] <= CLOSE:
            return None
        inside = aimed is not None and low[0] * 1.02 < aimed < high[0] / 1.02
        return aimed if inside else sqrt(low[0] * high[0])
    if low:
        return None if low[0] >= LOOSEST else min(LOOSEST, max(aimed or 0, low[0] * 1.2) if aimed else low[0] * STEP)
    assert high is not None
    return None if high[0] <= TIGHTEST else max(TIGHTEST, min(aimed, high[0] / 1.2) if aimed else high[0] / STEP)


class Search:
    """The search over the call sites, those with the most bytes first. `left()` returns the number of runs that are left."""

    def __init__(self, sites: Sequence[str], measure: Measure, left: Callable[[], int]) -> None:
        self.sites, self.measure, self.left = list(sites), measure, left
        self.best: Factors = {}
        self.notes: list[str] = []

    def run(self) -> Factors:
        """Returns the loosest accepted factors; empty if no bound is accepted."""
        try:
            common = self._common(self.sites)
            if common is None and len(self.sites) > 1:
                kept = self._without_culprits(self.sites, START / STEP, [])
                self.notes += [f"{site}: no bound was accepted" for site in self.sites if site not in kept]
                common = self._common(kept) if kept else None
            if common is not None and len(self.best) > 1:
                names = [site for site in self.sites if site in self.best]
                for half in _halves(names):
                    self._loosen(half, STEP)
        except RunsSpent:
            self.notes.append("the runs were spent before the search was over: --runs allows more")
        return self.best

    def _common(self, sites: Sequence[str]) -> Optional[float]:
        low: Optional[tuple[float, Outcome]] = None
        high: Optional[tuple[float, Outcome]] = None
        factor: Optional[float] = START
        while factor is not None:
            outcome = self.measure(dict.fromkeys(sites, factor))
            if outcome.accepted:
                low = (factor, outcome)
                self.best = dict.fromkeys(sites, factor)
            else:
                high = (factor, outcome)
            factor = _guess(low, high)
        return low[0] if low else None

    def _without_culprits(self, sites: Sequence[str], factor: float, kept: list[str]) -> list[str]:
        """Returns `kept` and those of the sites that the check accepts together with them."""
        if self.measure(dict.fromkeys([*kept, *sites], factor)).accepted:
            return [*kept, *sites]
        if len(sites) == 1:
            return kept
        first, second = _halves(sites)
        kept = self._without_culprits(first, factor, kept)
        return self._without_culprits(second, factor, kept)

    def _loosen(self, sites: Sequence[str], step: float) -> None:
        """Makes the bounds of these sites looser, together and then apart, as long as the check accepts it."""
        if all(self.best[site] >= LOOSEST for site in sites):
            return
        trial = self.best | {site: min(LOOSEST, self.best[site] * step) for site in sites}
        if self.measure(trial).accepted:
            self.best = trial
            if step == STEP:  # after a smaller step the next one is known to be refused
                self._loosen(sites, step)
        elif len(sites) > 1:
            for half in _halves(sites):
                self._loosen(half, step)
        elif step == STEP:
            self._loosen(sites, sqrt(STEP))


def _halves(sites: Sequence[str]) -> tuple[list[str], list[str]]:
    middle = (len(sites) + 1) // 2
    return list(sites[:middle]), list(sites[middle:])

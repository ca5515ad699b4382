"""The comparison: two passes over a source, and the conclusions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Optional

from .. import _core
from .._errors import ArgumentError
from ._information import information_of
from ._judge import SEARCHES, candidates, conclude, nearer
from ._measure import sweep
from ._result import Bounds
from ._source import Source
from ._survey import survey

Progress = Callable[[int, int], None]  # of bytes done and all bytes


def check(bounds: list[str], asked: dict[str, Optional[float]]) -> list[str]:
    """Returns the bounds as policies write them; raises if one, or a target, is invalid."""
    checked = [_core.check_coding(bound) for bound in bounds]
    ratio, psnr = asked.get("ratio"), asked.get("psnr")
    if ratio is not None and not 1 <= ratio < 1e9:
        raise ArgumentError(f"ratio {ratio:g}: give a number from 1 on, such as 10")
    if psnr is not None and not 0 < psnr < 1000:
        raise ArgumentError(f"psnr {psnr:g}: give decibels above 0, such as 60")
    return checked


def compare(source: Source, given: list[str], quantities: dict[str, Any], asked: dict[str, Optional[float]],
            progress: Progress = lambda done, of: None) -> Bounds:  # fmt: skip
    """Measures bounds on all values of a source."""
    given = check(given, asked)
    done = 0

    def advance(nbytes: int) -> None:
        nonlocal done
        done += nbytes
        progress(done, 2 * source.nbytes)

    found = survey(source, advance)
    exact = source.dtype.kind in "iu"
    bounds = list(dict.fromkeys(candidates(found, given, exact)))
    information = None if exact else information_of(found.boxes, found.fills)
    rows = sweep(source, found, bounds, quantities, advance)
    for _ in range(SEARCHES):
        more = nearer(found, rows, asked.get("ratio"), asked.get("psnr"))
        if asked.get("information") and information is not None:
            more.append(information.bound)
        known = {row.bound for row in rows}
        more = [one for one in dict.fromkeys(more) if one not in known]
        if not more:
            break
        rows += [replace(row, searched=True) for row in sweep(source, found, more, quantities)]
    rows.sort(key=lambda row: (row.limit is None, row.limit == 0, -(row.limit or 0.0)))
    answered = {answer.bound for answer in conclude(source, found, rows, information, asked).answers}
    answered |= {information.bound} if information is not None else set()
    rows = [row for row in rows if not row.searched or row.bound in answered]  # without the steps of the searches
    return Bounds(source, found, rows, information, conclude(source, found, rows, information, asked))

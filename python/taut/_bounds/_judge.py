"""Conclusions: the knee, the proposed bound, answers to inverse questions, and warnings. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Optional

from ._information import Information
from ._measure import Measured
from ._source import Source
from ._survey import Survey, fill_text

USUAL = tuple(f"rel:{one}" for one in ("1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "3e-5", "1e-5", "1e-6"))
LEAST_BEND = 0.08  # of the curve of bits against bound, below which it has no knee
SIMILAR, DECIBELS = 0.995, 50.0  # that a proposal has at least
FEW_BITS = 3  # of the mantissa; neighbours that share fewer are none in space
MOST_BIAS = 0.01  # mean error, relative to the mean of the absolute values
CLOSE_ENOUGH = 1.03  # ratio of two bounds between which none is searched
SEARCHES = 3


def knee(points: Sequence[tuple[float, float]]) -> Optional[int]:
    """Returns the index of the knee of (bound, bits a value): the point farthest below the chord; None for a straight curve.

    Looser bounds save few bits more; each halving of a tighter one costs about a bit a value.
    """
    if len(points) < 4:
        return None
    points_by_bound = sorted(range(len(points)), key=lambda k: points[k][0])
    (low, most), (high, least) = points[points_by_bound[0]], points[points_by_bound[-1]]
    if low == high or most <= least:
        return None

    def below(k: int) -> float:
        chord = 1 - (log10(points[k][0]) - log10(low)) / (log10(high) - log10(low))
        return chord - (points[k][1] - least) / (most - least)

    best = max(points_by_bound, key=below)
    return best if below(best) >= LEAST_BEND else None


@dataclass(frozen=True)
class Answer:
    """An answer to an inverse question."""

    asked: str
    bound: Optional[str]
    text: str


@dataclass(frozen=True)
class Conclusion:
    """The bound to start with and its reason, the knee, the answers to the questions asked, and the warnings."""

    knee: Optional[str]
    proposed: str
    why: str
    answers: list[Answer]
    warnings: list[str]


def with_fill(bound: str, survey: Survey) -> str:
    """Returns a bound that leaves missing values out of its range."""
    kind = bound.partition(":")[0]
    if len(survey.fills) != 1 or kind not in ("rel", "psnr") or "fill=" in bound:
        return bound
    return f"{bound},fill={fill_text(next(iter(survey.fills)), survey.boxes[0].dtype)}"


def candidates(survey: Survey, given: Sequence[str], exact: bool) -> list[str]:
    """Returns the bounds to compare, the loosest first."""
    if exact or (survey.range == 0 and not given):
        return ["lossless"]
    if not given and len(survey.fills) > 1:
        given = [f"abs:{survey.range * float(one.partition(':')[2]):.2g}" for one in USUAL]
    return [with_fill(one, survey) for one in given or USUAL] + ([] if "lossless" in given else ["lossless"])


def nearer(survey: Survey, rows: Sequence[Measured], ratio: Optional[float], psnr: Optional[float]) -> list[str]:
    """Returns bounds to measure next, interpolated between those whose ratio, or PSNR, lie on both sides of what is asked."""
    by_limit = sorted((row for row in rows if row.limit), key=lambda row: row.limit or 0.0)
    found = []
    for target, effect, nudge in ((ratio and log10(ratio), lambda row: log10(row.ratio), 1.01),
                                  (psnr and -psnr, lambda row: -(row.psnr(survey.range) or 1e3), 0.99)):  # fmt: skip
        sides = [pair for pair in zip(by_limit, by_limit[1:]) if target is not None and effect(pair[0]) < target <= effect(pair[1])]
        if sides and (sides[0][1].limit or 0.0) > CLOSE_ENOUGH * (sides[0][0].limit or 0.0):
            (low, high), (before, after) = (log10(row.limit or 0.0) for row in sides[0]), map(effect, sides[0])
            at = 10 ** (low + (target - before) / (after - before) * (high - low)) * nudge
            found.append(_of_range(at / survey.range, survey))
    return found


def _of_range(part: float, survey: Survey) -> str:
    return f"abs:{survey.range * part:.3g}" if len(survey.fills) > 1 else with_fill(f"rel:{min(part, 1.0):.3g}", survey)


def conclude(source: Source, survey: Survey, rows: Sequence[Measured], information: Optional[Information],
             asked: dict[str, Optional[float]]) -> Conclusion:  # fmt: skip
    """Draws all conclusions."""
    limited = [row for row in rows if row.limit]
    limited.sort(key=lambda row: row.limit or 0.0, reverse=True)
    exact = next((row.ratio for row in rows if row.limit == 0), 1.0)
    useful = [row for row in limited if row.ratio > exact and not row.searched]
    at = knee([(row.limit or 0.0, row.bits(source.dtype.itemsize)) for row in useful])
    bend = useful[at] if at is not None else None
    proposed, why = _proposed(useful, bend, survey)
    answers = _answers(rows, survey, information, asked)
    reached = next((answer for answer in answers if answer.bound), None)
    if reached is not None and reached.bound is not None:
        proposed, why = reached.bound, reached.text
    return Conclusion(bend.bound if bend else None, proposed, why, answers,
                      warnings(source, survey, limited, exact, proposed))


def _proposed(limited: Sequence[Measured], bend: Optional[Measured], survey: Survey) -> tuple[str, str]:
    if not limited:
        return "lossless", "nothing can be gained by a loss here"
    loosest = next((row for row in limited if _close(row, survey)), None)
    if loosest is None:
        return limited[-1].bound, f"it is the only one whose PSNR is near {DECIBELS:g} dB"
    if bend is not None and (bend.limit or 0.0) < (loosest.limit or 0.0):
        return bend.bound, "it is the knee of size against bound: tighter bounds cost ever more, looser ones save ever less"
    looser = ", tighter than the knee," if bend is not None and bend is not loosest else ""
    kept = "the structure of slices is kept (SSIM)" if loosest.detail.mean_ssim() is not None else "rms errors are small"
    return loosest.bound, f"it is the loosest one{looser} with a PSNR of {DECIBELS:g} dB and more and without much bias, and {kept}"


def _close(row: Measured, survey: Survey) -> bool:
    similar, decibels = row.detail.mean_ssim(), row.psnr(survey.range)
    fair = abs(row.mean) <= MOST_BIAS * survey.magnitude
    return (similar is None or similar >= SIMILAR) and (decibels is None or decibels >= DECIBELS) and fair


def _answers(rows: Sequence[Measured], survey: Survey, information: Optional[Information],
             asked: dict[str, Optional[float]]) -> list[Answer]:  # fmt: skip
    answers = []
    by_limit = sorted((row for row in rows if row.limit is not None), key=lambda row: row.limit or 0.0)
    if asked.get("ratio"):
        found = next((row for row in by_limit if row.ratio >= (asked["ratio"] or 0)), None)
        text = "no bound reaches it" if found is None else f"tightest measured bound with a ratio of at least it: {found.ratio:.3g}"
        answers.append(Answer(f"ratio {asked['ratio']:g}", found.bound if found else None, text))
    if asked.get("psnr"):
        good = [row for row in by_limit if (row.psnr(survey.range) or float("inf")) >= (asked["psnr"] or 0)]
        if good:
            decibels = good[-1].psnr(survey.range)
            figure = f"{decibels:.1f} dB" if decibels else "no error"
            answers.append(Answer(f"PSNR {asked['psnr']:g} dB", good[-1].bound,
                                  f"loosest measured bound with at least it: {figure}, ratio {good[-1].ratio:.3g}"))  # fmt: skip
        else:
            answers.append(Answer(f"PSNR {asked['psnr']:g} dB", None, "no bound reaches it"))
    if asked.get("information"):
        if information is None:
            answers.append(Answer("bits of information", None, "values of this type or number have no measure of it"))
        else:
            text = f"{information.kept} of {information.mantissa} bits of the mantissa hold 99 % of the information of neighbours"
            row = next((one for one in rows if one.bound == information.bound), None)
            decibels = row.psnr(survey.range) if row else None
            if information.kept < FEW_BITS and decibels is not None and decibels < DECIBELS:
                text += f", but the PSNR is only {decibels:.1f} dB: neighbours in the file say little of each other, as with particles in any order"
                answers.append(Answer("bits of information", None, text))
            else:
                answers.append(Answer("bits of information", information.bound, text))
    return answers


def warnings(source: Source, survey: Survey, limited: Sequence[Measured], exact: float, proposed: str) -> list[str]:
    """Returns what a user should know of the values, and of bounds that ruin them. `exact` is the ratio without loss."""
    found = list(source.notes)
    for fill, count in survey.fills.items():
        name = fill_text(fill, source.dtype)
        found.append(f"{count} values are {name}, which stands for missing values: they are left out of the range and of all errors")
    if len(survey.fills) > 1:
        found.append("an option names one missing value only: the bounds are absolute here")
    if survey.nan or survey.infinite:
        found.append(f"{survey.nan} values are NaN and {survey.infinite} infinite: they come back unchanged and are left out of errors")
    if source.dtype.kind in "iu":
        found.append("integers are coded without loss under every bound")
    elif survey.least is None:
        found.append("no value is finite: nothing can be lost or gained")
    elif survey.range == 0:
        found.append(f"all values are {survey.least:g}: under rel and psnr they travel exactly; give abs:E if they will vary")
    if source.dtype.kind == "c":
        found.append("complex numbers: the bound holds for each part; SSIM, spectra and pictures show the real part")
    found += [f"{row.bound} exceeds the range of the values, {survey.range:.3g}: it leaves nothing of them"
              for row in limited if survey.range > 0 and (row.limit or 0.0) > survey.range]  # fmt: skip
    return found + _of_structure(survey, limited) + _of_bounds(survey, limited, exact, proposed)


def _of_bounds(survey: Survey, limited: Sequence[Measured], exact: float, proposed: str) -> list[str]:
    found = []
    useless = [row.bound for row in limited if row.ratio <= exact]
    if useless:
        found.append(f"{', '.join(useless)}: no smaller than lossless")
    biased = [row for row in limited if abs(row.mean) > MOST_BIAS * survey.magnitude]
    if biased:
        worst = max(biased, key=lambda row: abs(row.mean))
        found.append(f"{', '.join(row.bound for row in biased)}: biased, up to a mean error of {worst.mean:.2g} where the values are "
                     f"{survey.magnitude:.2g} in the mean; sums and budgets suffer")  # fmt: skip
    limit = next((row.limit or 0.0 for row in limited if row.bound == proposed), 0.0)
    if limit > survey.typical > 0:
        found.append(f"half of the values that are not 0 are below {survey.typical:.2g}, less than the error that {proposed} allows: "
                     f"if small values matter, take pwrel:1e-2 or so")  # fmt: skip
    return found


def _of_structure(survey: Survey, limited: Sequence[Measured]) -> list[str]:
    found = []
    if survey.different is not None and survey.range > 0:
        found.append(f"the sample holds {survey.different} different values only: if they are classes or masks, take lossless")
    if survey.grid is not None:
        found.append(f"the values lie on a grid of step {survey.grid:.4g} (rounded or packed before): bounds below "
                     f"{survey.grid / 2:.3g} keep every step, and tighter ones buy nothing")  # fmt: skip
    if survey.precision:
        found.append(f"the values are those of {survey.precision}: stored as that type they take half the bytes without loss")
    if survey.noise is not None and survey.range > 0:
        part = survey.noise / survey.range
        found.append(f"neighbours differ by noise of standard deviation {survey.noise:.3g} ({part:.1g} of the range): "
                     f"bounds far below it spend their bits on noise")  # fmt: skip
    signed = [row for row in limited if row.detail.values and survey.least is not None and survey.least >= 0 and row.detail.signs]
    if signed:
        found.append(f"the values are never negative, but some become so under {', '.join(row.bound for row in signed)}: "
                     f"mind logarithms and roots")  # fmt: skip
    return found


def rule(bound: str) -> str:
    """Returns a rule as TAUT_RULES takes it."""
    name, *options = bound.split(",")
    return " ".join(["* :", name, *options])

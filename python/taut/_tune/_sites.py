"""The call sites of a program that rules can name, from the reports of a plain run; and rules for them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..report._read import bytes_text, files_of

FLOATS = ("f32", "f64", "f16", "bf16", "c64", "c128")
NAMEABLE = re.compile(r"[A-Za-z0-9_.+:/@-]+")


@dataclass
class Site:
    """Calls that one rule serves: of one collective, type and operator, at one place of the program."""

    collective: str
    type: str
    operator: str
    site: str  # "": calls of all sites
    least_bytes: int = 1 << 62
    message_bytes: int = 0
    calls: int = 0
    magnitude: float = 0.0  # greatest |value| that samples have seen; 0: unknown

    @property
    def name(self) -> str:
        words = [self.collective, self.type, self.operator, f"at {self.site}" if self.site else ""]
        return " ".join(word for word in words if word)

    def bound(self, factor: float) -> str:
        """Returns the absolute bound of `factor` times the magnitude of the values."""
        return f"abs:{factor * (self.magnitude or 1.0):.3g}"

    def rule(self, factor: float, always: bool) -> str:
        lines = ["[[rule]]", f'call = "{self.collective.capitalize()}"', f'dtype = "{self.type}"']
        lines += [f'op = "{self.operator}"'] if self.operator else []
        lines += [f'callsite = "{self.site}"'] if self.site else []
        lines += [f'min_bytes = "{self.least_bytes}B"', f'bound = "{self.bound(factor)}"']
        return "\n".join(lines + (['when = "always"'] if always else [])) + "\n"


def rules(sites: Mapping[str, Site], factors: Mapping[str, float], always: bool) -> str:
    """Returns the rules in TOML. `always`: compression also where plain MPI is faster."""
    return "\n".join(sites[name].rule(factor, always) for name, factor in sorted(factors.items()))


@dataclass
class Seen:
    """Call sites of a program, as its reports list them."""

    sites: dict[str, Site] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)  # calls that are not tuned, with the reason
    ranks: int = 0
    program: str = ""
    needs: set[str] = field(default_factory=set)  # settings without which rules leave calls to MPI


@dataclass(frozen=True)
class Traffic:
    """Bytes and time of a run under rules."""

    value_bytes: int
    frame_bytes: int
    seconds: float  # in calls of MPI, of the slowest rank

    @property
    def ratio(self) -> float:
        return self.value_bytes / self.frame_bytes if self.frame_bytes else 1.0


def _kinds(report: Path) -> list[list[tuple[dict[str, Any], str]]]:
    """Returns, for each rank, its kinds of calls, each with the setting that it needs."""
    all_ranks = []
    for path in files_of([str(report)]):
        one = json.loads(path.read_text(encoding="utf-8"))
        all_ranks.append([(kind, of.get("needs") or "") for of in one["communicators"] for kind in of["kinds"]])
    return all_ranks


def traffic(report: Path) -> Traffic:
    ranks = _kinds(report)
    spent = [sum(kind["nanoseconds"]["call"] for kind, _ in kinds) for kinds in ranks]
    values, frames = (sum(kind[name] for kinds in ranks for kind, _ in kinds) for name in ("value_bytes", "frame_bytes"))
    return Traffic(values, frames, max(spent, default=0) * 1e-9)


def look(report: Path, least_bytes: int) -> Seen:
    """Reads the reports of a plain run. Calls below `least_bytes` are left out."""
    first = json.loads(files_of([str(report)])[0].read_text(encoding="utf-8"))
    seen = Seen(ranks=first["ranks"], program=first["program"])
    ranks = _kinds(report)
    unnamed = _families_without_sites(ranks)
    small = other = 0
    for kinds in ranks:
        for kind, needs in kinds:
            if kind["type"] not in FLOATS or kind["collective"] in (None, "recv") or kind["operator"] in ("min", "max"):
                other += kind["message_bytes"]
            elif kind["least_bytes"] < least_bytes:
                small += kind["message_bytes"]
            else:
                _add(seen, kind, needs, unnamed)
    for name, count in first.get("unserved_calls", {}).items():
        seen.left_out.append(f"{name}: {count} calls that Taut does not serve")
    seen.left_out += [f"{bytes_text(small)} in messages below {bytes_text(least_bytes)} (--min-bytes)"] if small else []
    seen.left_out += [f"{bytes_text(other)} in integers, bytes, minima and maxima"] if other else []
    return seen


def _family(kind: dict[str, Any]) -> tuple[Any, ...]:
    return kind["collective"], kind["type"], kind["operator"]


def _families_without_sites(ranks: Sequence[Sequence[tuple[dict[str, Any], str]]]) -> set[tuple[Any, ...]]:
    """Returns the families of calls whose sites no rule can name, or that are not the same on all ranks."""
    places: dict[tuple[Any, ...], list[set[str]]] = {}
    for rank, kinds in enumerate(ranks):
        for kind, _ in kinds:
            places.setdefault(_family(kind), [set() for _ in ranks])[rank].add(kind["site"] or "")
    return {
        family
        for family, by_rank in places.items()
        if family[0] == "send" or any(one != by_rank[0] for one in by_rank) or not all(map(NAMEABLE.fullmatch, by_rank[0]))
    }


def _add(seen: Seen, kind: dict[str, Any], needs: str, unnamed: set[tuple[Any, ...]]) -> None:
    place = "" if _family(kind) in unnamed else kind["site"]
    made = Site(kind["collective"], kind["type"], kind["operator"] or "", place)
    site = seen.sites.setdefault(made.name, made)
    site.least_bytes = min(site.least_bytes, kind["least_bytes"])
    site.message_bytes += kind["message_bytes"]
    site.calls += kind["calls"]
    values = kind.get("compressibility") or {}
    for edge in ("least", "greatest"):
        if values.get(edge) is not None:
            site.magnitude = max(site.magnitude, abs(values[edge]))
    seen.needs |= {needs} if needs else set()
    seen.needs |= {"TAUT_MESSAGES=1"} if kind["collective"] == "send" else set()

"""An application from Debian that `applications.py` runs under `taut run`, without changing it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Application:
    program: str  # command in PATH
    package: str  # Debian package
    calls: str  # which calls a bound is put on, as rules name them, separated by ";"
    size: int  # of the problem, for a measurement
    small_size: int  # for a test
    arguments: Callable[[Path, int], list[str]]  # writes the input for a size into a folder
    observables: Callable[[str], dict[str, list[float]]]  # what the program prints of physics, by name
    seconds: Callable[[str], float]  # the program's own time, without its start
    bounds: tuple[str, ...] = ("rel=1e-4", "rel=1e-6", "rel=1e-8")  # bounds that are compared
    messages: bool = False  # the calls are messages between two ranks
    skipped_lines: str = "$^"  # pattern of printed lines that differ between equal runs
    variables: dict[str, str] = field(default_factory=dict)

    def printed(self, text: str) -> list[str]:
        """Returns what is the same in two runs with the same numbers."""
        return [line for line in text.splitlines() if not re.search(self.skipped_lines, line)]

    def rules(self, policy: str) -> str:
        return " ; ".join(f"{call.strip()} : {policy}" for call in self.calls.split(";")) + " ; * : off"


def numbers(pattern: str, text: str) -> list[float]:
    """Returns the first group of all matches."""
    return [float(found) for found in re.findall(pattern, text, re.MULTILINE)]


def greatest_difference(ours: list[float], theirs: list[float]) -> float:
    """Returns the greatest difference relative to the greatest magnitude, or infinity if a value is missing."""
    if len(ours) != len(theirs) or not theirs:
        return float("inf")
    scale = max(abs(value) for value in theirs) or 1.0
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / scale

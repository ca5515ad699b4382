#!/usr/bin/env python3
"""Checks the handwritten parts of each collective against the list, src/communication/team/collectives.txt: declarations in
taut.h in all forms, an algorithm for each collective, its rows in documents, the names that benchmarks and
tools use.

Usage: check_collectives.py [ROOT]
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/communication/team"))
from collectives import collectives


def undeclared(header):
    for function in collectives():
        for name in (function.name, function.immediate, f"{function.name}_init"):
            if not re.search(rf"\bTAUT_{name}\(", header):
                yield f"include/taut/taut.h does not declare TAUT_{name}"


def without_algorithm(algorithms):
    for name in {function.served_as for function in collectives()}:
        if not re.search(rf"\bCollective::{name}\b", algorithms):
            yield f"src/communication/algorithms has none for {name}"


def undocumented(algorithms, rules):
    """Yields a sentence for each collective that docs/algorithms.md or docs/configuration.md lacks."""
    for name in {function.served_as for function in collectives()}:
        if f"| {name} |" not in algorithms:
            yield f"docs/algorithms.md has no row for {name}"
        if name.capitalize() not in rules:
            yield f"docs/configuration.md does not name {name.capitalize()}"


def unknown(bench, calibrate):
    """Yields a sentence for each collective that benchmarks or tools name and the list lacks."""
    known = {function.name.lower() for function in collectives()}
    named = re.findall(r'^ *\{"(\w+)", (?:true|false)', bench, re.M)
    named += re.findall(r'"(\w+)"', re.search(r"CALLS = \((.*)\)", calibrate)[1])
    for name in set(named) - known:
        yield f"a bench or tool names {name}, which is no collective function"


def main(root):
    def text(name):
        return (root / name).read_text()

    algorithms = "".join(path.read_text() for path in (root / "src/communication/algorithms").glob("*.cpp"))
    faults = [*undeclared(text("include/taut/taut.h")), *without_algorithm(algorithms)]
    faults += undocumented(text("docs/algorithms.md"), text("docs/configuration.md"))
    faults += unknown(text("bench/collective/collectives.cpp"), text("python/taut/calibrate/__init__.py"))
    print("\n".join([*faults, f"check_collectives: {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])))

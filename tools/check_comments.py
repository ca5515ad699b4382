#!/usr/bin/env python3
"""Checks that no comment block of a C or C++ file begins with a word that leaves its subject open, such as "Whether" or "Of".

The first sentence of a comment says what the thing is: subject, verb, object. Usage: check_comments.py [ROOT]
"""

import re
import sys
from pathlib import Path

from check_layers import sources

OPENINGS = "Of|Whether|What|Where|Which|So|Such|That|Those|All that|Some of|As for"


def faults(text):
    """(line, first words) of each comment block on lines of its own that begins with one of the openings."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        opened = re.match(r"\s*(?://+|/\*+)!?<?\s*(.*)", line)
        if opened and not (inside and line.lstrip().startswith("//")):
            found = re.match(rf"(?:{OPENINGS})\b.*", opened[1])
            if found:
                yield number, found[0][:30]
        inside = bool(re.match(r"\s*//", line))


def files(root):
    extensions = (root / "python").rglob("*.cpp") if (root / "python").exists() else []
    return [*sources(root), *sorted(extensions)]


def main(root):
    found = [
        f"{path.relative_to(root)}:{line}: comment begins with {words!r}; its first sentence says what the thing is"
        for path in files(root)
        for line, words in faults(path.read_text())
    ]
    print("\n".join([*found, f"check_comments: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))

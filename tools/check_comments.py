#!/usr/bin/env python3
"""Checks the comments of C and C++ files. No comment block begins with a word that leaves its subject open, such as "Whether"
or "Of": its first sentence says what the thing is, as subject, verb, object. A source that a comment names exists.
Usage: check_comments.py [ROOT]
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


def absent(text, known):
    """(line, name) of each source that a comment names and that is not among the known names of files."""
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"(?://|^\s*/?\*)(.*)", line)
        for path in re.findall(r"(?<![\w<.*/-])[\w/]+\.(?:cpp|hpp|cuh?)\b", comment[1] if comment else ""):
            if path.split("/")[-1] not in known:
                yield number, path


def files(root):
    extensions = (root / "python").rglob("*.cpp") if (root / "python").exists() else []
    return [*sources(root), *sorted(extensions)]


def main(root):
    known = {path.name for path in files(root)}
    found = [
        f"{path.relative_to(root)}:{line}: comment begins with {words!r}; its first sentence says what the thing is"
        for path in files(root)
        for line, words in faults(path.read_text())
    ]
    found += [
        f"{path.relative_to(root)}:{line}: comment names {name}, and there is no such file"
        for path in files(root)
        for line, name in absent(path.read_text(), known)
    ]
    print("\n".join([*found, f"check_comments: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))

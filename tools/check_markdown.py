#!/usr/bin/env python3
"""Checks that the text of *.md files is wrapped at 100 columns, and that the pages together are short enough to read.
Usage: check_markdown.py [ROOT]

Tables, headings, code blocks and the targets of links may be longer, and so may a word or `code` that cannot be broken.
"""

import re
import sys
from pathlib import Path

from check_links import files

COLUMNS = 100
WORDS = 95_000  # of docs/ and the pages beside it at the top; measurements are in bench/results, formats beside the codecs
GENERATED = ("docs/results/papers.md", "bench/results/papers/README.md")  # written as a whole by a script
EXEMPT = re.compile(r"\s*(\||#|<|\[[^\]]+\]: )")  # tables, headings, HTML, definitions of links


def without_blocks(text):
    """Returns the text with its code blocks emptied; the number of lines stays."""
    return re.sub(r"^( *)(```+).*?^\1\2", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)


def length(line):
    """Returns the columns of a line, without the targets of its links."""
    return len(re.sub(r"\]\([^)\s]*\)", "]", line))


def breakable(line):
    """Returns true if a line could be broken: it has a blank after its first word, outside of `code`."""
    words = re.sub(r"^\s*([-*+]|\d+[.)])?\s*", "", re.sub(r"`[^`]*`", "code", line))
    return " " in words.strip()


def faults(path):
    for number, line in enumerate(without_blocks(path.read_text()).split("\n"), 1):
        if length(line) > COLUMNS and not EXEMPT.match(line) and breakable(line):
            yield number, f"{length(line)} columns; text is wrapped at {COLUMNS}"


def words(root):
    """Returns the number of words of docs/ and of the top level."""
    pages = [path for path in files(root) if path.parent == root or (root / "docs") in path.parents]
    return sum(len(path.read_text().split()) for path in pages)


def main(root):
    paths = [path for path in files(root) if path.relative_to(root).as_posix() not in GENERATED]
    found = [f"{path.relative_to(root)}:{line}: {message}" for path in paths for line, message in faults(path)]
    if words(root) > WORDS:
        found.append(f"docs/ and the top level: {words(root)} words; at most {WORDS}: evidence belongs in bench/results/<topic>/README.md")
    print("\n".join([*found, f"check_markdown: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))

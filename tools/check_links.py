#!/usr/bin/env python3
"""Checks that relative links in *.md files lead to a file, and their #anchors to a heading. Usage: check_links.py [ROOT]"""

import re
import subprocess
import sys
from pathlib import Path


def prose(text):
    """Returns the text without code, line by line; the number of lines stays."""
    text = re.sub(r"^( *)(```+).*?^\1\2", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """Returns the anchors that a forge makes from a file's headings."""
    text = re.sub(r"^( *)(```+).*?^\1\2", "", path.read_text(), flags=re.S | re.M)
    headings = re.findall(r"^#+ +(.+?) *$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(path):
    for number, line in enumerate(prose(path.read_text()).splitlines(), 1):
        for link in re.findall(r"\]\(<?([^)\s>]+)", line):
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            if not target.exists():
                yield number, f"{link}: no such file"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield number, f"{link}: no such heading"


def files(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, capture_output=True, text=True)
    return [root / name for name in listed.stdout.splitlines()] or sorted(root.rglob("*.md"))


def main(root):
    found = [f"{path.relative_to(root)}:{line}: {message}" for path in files(root) for line, message in faults(path)]
    print("\n".join([*found, f"check_links: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))

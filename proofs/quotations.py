#!/usr/bin/env python3
"""Checks that the code still reads as it was when it was modelled.

A model quotes the code that it stands for: a line `source: FILE`, then lines that begin with a bar. Each quoted line
has to be in the file, in this order; white space and comments do not count. Usage: quotations.py [ROOT]
"""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def bare(text):
    """Returns C++ code without comments and white space."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\s+", "", text, flags=re.S)


def quotations(text):
    """Yields (source, quoted lines) of each quotation in a model."""
    source, lines = None, []
    for line in text.splitlines():
        line = re.sub(r"^\s*(#|//|\*)?\s*", "", line)
        found = re.search(r'(?:^|""")source: (\S+)', line)
        if found:
            if source:
                yield source, lines
            source, lines = found[1], []
        elif source and line.startswith("|"):
            lines.append(line[1:])
        elif source and lines:
            yield source, lines
            source, lines = None, []
    if source:
        yield source, lines


def faults(root, model):
    """Yields what the model quotes and the code does not say."""
    for source, lines in quotations(model.read_text()):
        code = bare((root / source).read_text()) if (root / source).exists() else ""
        at = 0
        for line in lines:
            found = code.find(bare(line), at)
            if found < 0:
                yield f"{model.relative_to(root)}: {source} no longer says (or not in this order): {line.strip()}"
                break
            at = found + len(bare(line))
        if not lines:
            yield f"{model.relative_to(root)}: quotes nothing of {source}"


def main(root):
    models = [p for p in sorted((root / "proofs").rglob("*")) if p.suffix in (".py", ".pml", ".gappa") and p.name != "quotations.py"]
    found = [fault for model in models for fault in faults(root, model)]
    quoted = sum(1 for model in models for _ in quotations(model.read_text()))
    print("\n".join([*found, f"quotations: {quoted} checked, {len(found)} faults"]))
    if found:
        print("Compare the model with the new code, correct both model and quotation, and run `make prove`.")
    return 1 if found or quoted == 0 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else FOLDER.parent))

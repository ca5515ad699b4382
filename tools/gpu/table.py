#!/usr/bin/env python3
"""table.py OUT: prints the results of `check.sh kernels` as a Markdown table: GB/s of values by size."""

import json
import sys


def text_of(size):
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:g} {unit}"
    return f"{size} B"


def table(lines):
    rows, ratios, remarks = {}, {}, []
    for row in (json.loads(line) for line in lines if line.startswith("{")):
        name, size = row.get("bench"), row.get("bytes")
        if row.get("GB/s") is not None:
            rows.setdefault(name, {})[size] = row["GB/s"]
            ratios[name] = row["ratio"]  # ratio at the longest size
        elif name and "why" in row:
            remarks.append(f"{name}: {row['why']}")
    sizes = sorted({size for row in rows.values() for size in row})
    text = ["| GB/s | ratio | " + " | ".join(map(text_of, sizes)) + " |", "|---" * (2 + len(sizes)) + "|"]
    for name, row in rows.items():
        cells = [str(row.get(size, "")) for size in sizes]
        text.append("| " + " | ".join([name, str(ratios[name]), *cells]) + " |")
    return text * bool(rows) + list(dict.fromkeys(remarks))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        print("\n".join(table(file)))

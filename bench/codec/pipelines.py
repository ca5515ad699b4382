#!/usr/bin/env python3
"""Counts the ways that chunks of sums of frames take, on real fields:
pipelines.py [--folder DIR] [--build BUILD_DIR] [--json FILE]

DIR is that of fields.py. Each field is added to itself, shifted by half of its slowest extent. The counts depend on
the values alone, so that they are the same on any machine; `make papers` publishes those of the committed file.
FILE has the machine and commit, and the rows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fields import ROOT, TYPES, machine, raw_file


def counted(program, folder, field, temporary):
    """Returns the rows of a field, one for each bound."""
    plain = raw_file(folder, field, temporary)
    dims = "x".join(map(str, field["dims"])) if len(field["dims"]) <= 4 else "-"
    fill = "-" if field.get("fill_value") is None else repr(field["fill_value"])
    done = subprocess.run([program, plain, TYPES[field["dtype"]], dims, fill], stdout=subprocess.PIPE, text=True, check=True)
    if plain.parent == temporary:
        plain.unlink()
    return [{"name": field["name"]} | json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=os.environ.get("TAUT_FIELDS", "fields"), help="or TAUT_FIELDS")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--json", type=Path, default=ROOT / "bench/results/sum_pipelines.json")
    arguments = parser.parse_args()
    manifest = arguments.folder / "MANIFEST.json"
    if not manifest.exists():
        print(f"pipelines.py: skipped, as there is no {manifest}; name a folder with --folder or TAUT_FIELDS")
        return 0
    before, rows = machine.record(), []
    with tempfile.TemporaryDirectory() as temporary:
        for field in json.loads(manifest.read_text())["fields"]:
            if field["dtype"] in TYPES:
                rows += counted(arguments.build / "bench/codec/taut_bench_pipelines", arguments.folder, field, Path(temporary))
    text = ",\n  ".join(json.dumps(row) for row in rows)
    arguments.json.write_text(json.dumps(before)[:-1] + f',\n "rows": [\n  {text}]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())

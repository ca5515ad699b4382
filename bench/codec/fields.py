#!/usr/bin/env python3
"""Measures the codecs on real fields:
fields.py [--folder DIR] [--build BUILD_DIR] [--json FILE] [OPTIONS OF taut_bench_fields]

DIR holds MANIFEST.json and the fields that it describes (raw_file, or file, which is that packed by xz:
unpacked to a temporary folder). Each goes through taut_bench_fields; all rows together go to FILE, for
tables.py.
Exit status: 0, also where there is no such folder; 1 if a bound was violated.
"""

import argparse
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import machine  # noqa: E402

TYPES = {"float32": "f32", "float64": "f64"}


def raw_file(folder, field, temporary):
    """Returns the path of the field's uncompressed values, unpacked to `temporary` if needed."""
    plain = folder / field["raw_file"]
    if plain.exists():
        return plain
    unpacked = temporary / field["raw_file"]
    with lzma.open(folder / field["file"]) as packed, open(unpacked, "wb") as out:
        shutil.copyfileobj(packed, out)
    return unpacked


def described(field):
    """Returns the field as options of taut_bench_fields."""
    dims = field["dims"]
    options = ["--dtype", TYPES[field["dtype"]]]
    if len(dims) <= 4:
        options += ["--dims", "x".join(map(str, dims))]
    if field.get("fill_value") is not None:
        options += ["--fill", repr(field["fill_value"])]
    return options


def measure(program, folder, field, temporary, options):
    """Returns the report on one field, and whether the bounds were kept."""
    report = temporary / "report.json"
    plain = raw_file(folder, field, temporary)
    done = subprocess.run([program, plain, *described(field), "--json", report, *options])
    if plain.parent == temporary:
        plain.unlink()
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    return json.loads(report.read_text()), done.returncode == 0


def write(report, path):
    """Writes the report with one row a line, so that a diff shows which rows changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n  ".join(json.dumps(row) for row in report["results"])
    path.write_text(f'{{"context": {json.dumps(report["context"])},\n "results": [\n  {rows}]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=os.environ.get("TAUT_FIELDS", "fields"), help="or TAUT_FIELDS")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--json", type=Path, default=Path("bench-out/codec_fields.json"))
    parser.add_argument("--fields", default="", help="names, separated by commas; default: all")
    arguments, options = parser.parse_known_args()
    manifest = arguments.folder / "MANIFEST.json"
    if not manifest.exists():
        print(f"fields.py: skipped, as there is no {manifest}; name a folder with --folder or TAUT_FIELDS")
        return 0
    before = machine.record()
    wanted = [name for name in arguments.fields.split(",") if name]
    program = arguments.build / "bench/codec/taut_bench_fields"
    report, good = {"context": {}, "results": []}, True
    with tempfile.TemporaryDirectory() as temporary:
        for field in json.loads(manifest.read_text())["fields"]:
            if field["dtype"] not in TYPES or (wanted and field["name"] not in wanted):
                continue
            of_field, kept = measure(program, arguments.folder, field, Path(temporary), options)
            report["context"] = report["context"] or of_field["context"]
            report["results"] += of_field["results"]
            good = good and kept
    if not report["results"]:
        raise SystemExit("fields.py: no such fields")
    report["context"] |= before
    write(report, arguments.json)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

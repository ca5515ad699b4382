#!/usr/bin/env python3
"""Tests fields.py and tables.py on a folder made here: fields_test.py BUILD_DIR REPORT.json. json_test.py
checks the report."""

import array
import json
import lzma
import math
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
DIMS = [6, 20, 50]
FILL = 1e20


def values(kind):
    wave = (math.sin(i / 9) + math.sin(i / 50 / 7) for i in range(math.prod(DIMS)))
    return array.array(kind, (FILL if i % 50 < 5 else x for i, x in enumerate(wave)))


def folder_of_fields(folder):
    """Makes a folder with one plain field, one packed field and one of a type that is left out."""
    fields = []
    for name, kind, dtype in (("plain", "f", "float32"), ("packed", "d", "float64"), ("integers", "i", "int32")):
        entry = {"name": name, "dtype": dtype, "dims": DIMS, "fill_value": FILL, "raw_file": f"{name}.raw"}
        fields.append(entry | {"file": f"{name}.raw.xz"})
    (folder / "plain.raw").write_bytes(values("f").tobytes())
    (folder / "packed.raw.xz").write_bytes(lzma.compress(values("d").tobytes()))
    (folder / "MANIFEST.json").write_text(json.dumps({"fields": fields}))


def run(script, *arguments):
    command = [sys.executable, HERE / script, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(build, report):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        assert "skipped" in run("fields.py", "--folder", folder, "--build", build)
        folder_of_fields(folder)
        options = ["--part", "8K", "--seconds", "1e-4", "--range-bounds", "1e-2,1e-3"]
        run("fields.py", "--folder", folder, "--build", build, "--json", report, *options)
    rows = json.loads(Path(report).read_text())["results"]
    assert {row["field"] for row in rows} == {"plain", "packed"}
    assert {row["part"] for row in rows} == {"part", "whole"}
    assert {row["codec"] for row in rows} == {"planes", "szx", "mpc"}
    for row in rows:  # fill values count in neither range nor PSNR: 1e20 would leave a PSNR of hundreds
        assert row["within_bound"], row
        assert row["of_range"] == 0 or row["bound"] < 5 * row["of_range"], row
        assert row["bound_kind"] == "exact" or 20 < row["psnr"] < 100, row
    page = run("tables.py", report)
    for word in ("plain (f32)", "packed (f64)", "## Sums of frames", "planes with extents 1e-2", "all bounds kept"):
        assert word in page, word


if __name__ == "__main__":
    main(*sys.argv[1:])

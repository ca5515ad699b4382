#!/usr/bin/env python3
"""Runs the suites codec and fields on a build, and checks that their reports are complete: suites_test.py BUILD_DIR OUT_DIR

No time is judged. The fields lie in a folder that is made here.
"""

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
HEAD = {"command", "machine", "date", "commit", "load", "compiler"}
OF_BOTH = {"codec", "set", "type", "field", "bytes", "bound", "bound_kind", "ratio", "max_error", "within_bound"}
OF_OPERATIONS = {
    "coding", "kernel", "result_ratio", "gb_per_s", "memcpy_gb_per_s", "share_of_memcpy", "samples",
}  # fmt: skip
OF_FIELDS = {
    "dims", "part", "threads", "of_range", "psnr", "nrmse", "memcpy_gb_per_s", "triad_gb_per_s", "encode_gb_per_s",
    "decode_gb_per_s", "decode_add_gb_per_s", "decode_add_encode_gb_per_s", "samples",
}  # fmt: skip
OF_SUMS = {
    "frame_add_gb_per_s", "accumulate_gb_per_s", "frame_add_ratio", "frame_add_max_error", "frame_add_psnr",
    "decode_add_encode_ratio", "decode_add_encode_max_error", "decode_add_encode_psnr",
}  # fmt: skip
INFINITE = {"psnr", "frame_add_psnr", "decode_add_encode_psnr"}  # figures that are infinite where nothing was lost


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


def keys_of(row):
    if "part" not in row:
        return OF_BOTH | OF_OPERATIONS
    return OF_BOTH | OF_FIELDS | (OF_SUMS if row.get("codec") == "planes" else set())


def faults_of(row):
    name = "/".join(str(row.get(key)) for key in ("codec", "set", "kernel", "type", "field", "bytes"))
    yield from (f"{name}: no {key}" for key in keys_of(row) - row.keys())
    for key, value in row.items():
        if key not in INFINITE and (value is None or isinstance(value, float) and not math.isfinite(value)):
            yield f"{name}: {key} is {value}"
        elif ("gb_per_s" in key or "ratio" in key or key in ("share_of_memcpy", "samples")) and not value > 0:
            yield f"{name}: {key} is {value}"


def run(*words):
    return subprocess.run([sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def rows_of(suite, build, out, *words):
    """Returns the rows of a suite, whose report has to be complete."""
    run(HERE.parent / "run.py", suite, "--build", build, "--out", out, *words)
    (made,) = json.loads((Path(out) / f"{suite}.json").read_text())["runs"]
    faults = [f"no {key}" for key in HEAD - made.keys()] + [fault for row in made["rows"] for fault in faults_of(row)]
    assert made["rows"] and not faults, "\n".join(faults)
    return made["rows"]


def main(build, out):
    rows_of("codec", build, out, *"--fields smooth,nan --sizes 16K,20000 --codecs planes,szx,mpc,raw --seconds 1e-4".split())
    with tempfile.TemporaryDirectory() as folder:
        folder_of_fields(Path(folder))
        words = "--part 8K --seconds 1e-4 --range-bounds 1e-2,1e-3".split()
        rows = rows_of("fields", build, out, "--taut_fields", folder, *words)
    assert {row["field"] for row in rows} == {"plain", "packed"}
    assert {row["part"] for row in rows} == {"part", "whole"}
    assert {row["codec"] for row in rows} == {"planes", "szx", "mpc"}
    for row in rows:  # fill values count in neither range nor PSNR: 1e20 would leave a PSNR of hundreds
        assert row["within_bound"], row
        assert row["of_range"] == 0 or row["bound"] < 5 * row["of_range"], row
        assert row["bound_kind"] == "exact" or 20 < row["psnr"] < 100, row
    page = run(HERE / "tables.py", Path(out) / "fields.json")
    for word in ("plain (f32)", "packed (f64)", "## Sums of frames", "planes with extents 1e-2", "all bounds kept"):
        assert word in page, word


if __name__ == "__main__":
    main(*sys.argv[1:])

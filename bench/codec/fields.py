"""Measures the codecs on real fields.

The folder holds MANIFEST.json and the fields that it describes (raw_file, or file, which is that packed by xz: unpacked to a
temporary folder). Each goes through taut_bench_fields, to which further words go. tables.py makes a page of the rows.
"""

import json
import lzma
import shutil
import tempfile
from pathlib import Path

from suite import RELEASE, Suite, lines_of

TYPES = {"float32": "f32", "float64": "f64"}
OPTIONS = {"taut_fields": ("fields", "folder of the fields"), "fields": ("", "names, separated by commas; none: all")}


def fields_of(options, kept=lambda field: field["dtype"] in TYPES):
    """Yields the description of each wanted field, and the path of its uncompressed values, unpacked if need be."""
    folder, wanted = Path(options.taut_fields), [name for name in options.fields.split(",") if name]
    manifest = folder / "MANIFEST.json"
    if not manifest.exists():
        raise SystemExit(f"there is no {manifest}: name a folder of fields with --taut_fields or TAUT_FIELDS")
    for field in json.loads(manifest.read_text())["fields"]:
        if not kept(field) or (wanted and field["name"] not in wanted):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            path = folder / field["raw_file"]
            if not path.exists():
                path = Path(temporary) / field["raw_file"]
                with lzma.open(folder / field["file"]) as packed, path.open("wb") as out:
                    shutil.copyfileobj(packed, out)
            yield field, path


def described(field):
    """Returns the field as options of taut_bench_fields."""
    dims = ["--dims", "x".join(map(str, field["dims"]))] if len(field["dims"]) <= 4 else []
    fill = [] if field.get("fill_value") is None else ["--fill", repr(field["fill_value"])]
    return ["--dtype", TYPES[field["dtype"]], *dims, *fill]


def measured(options, *words):
    """Yields the rows of all fields, by taut_bench_fields with further words."""
    for field, path in fields_of(options):
        yield from lines_of([options.builds[0] / "bench/codec/taut_bench_fields", path, *described(field), *words, *options.rest])


SUITE = Suite(
    about=__doc__, rows=measured, options=OPTIONS, needs="bench", builds={"release": f"taut_bench_fields {RELEASE}"},
    columns={"field": "{field}", "part": "{part}", "codec": "{codec}", "extents": "{dims}", "threads": "{threads}",
             "bound": "{bound_kind} {bound:.3g}", "of range": "{of_range:g}", "ratio": "{ratio:.2f}", "PSNR": "{psnr:.1f}",
             "encode, GB/s": "{encode_gb_per_s:.2f}", "decode, GB/s": "{decode_gb_per_s:.2f}"},
)  # fmt: skip

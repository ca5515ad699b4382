#!/usr/bin/env python3
"""Measures public compressors beside Taut on real fields:
peers.py [--folder DIR] [--build BUILD_DIR] [--json FILE] [--fields NAMES] [--seconds S]

DIR is a folder as fields.py takes it. Each field goes through taut_bench_fields and then, whole and with one thread,
through the peers that this Python can import: pcodec, fpzip, Blosc2, zstd (exact), SZ3, zfp (absolute bounds). The
tables go to standard output, all rows to FILE. Speeds are GB/s of values, of the process's CPU time.
Exit status: 0, also where there is no such folder; 1 if a peer's exact result differs from the values.
"""

import argparse
import importlib.metadata
import json
import math
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import fields
import numpy
import tables

BOUNDS = (1e-2, 1e-3, 1e-4)  # of the range


def pcodec_peer(level):
    from pcodec import ChunkConfig, standalone

    config = ChunkConfig(compression_level=level)
    return (lambda x: standalone.simple_compress(x.reshape(-1), config), lambda frame, x: standalone.simple_decompress(frame))


def fpzip_peer():
    import fpzip

    return (lambda x: fpzip.compress(x, precision=0, order="C"), lambda frame, x: fpzip.decompress(frame, order="C"))


def blosc2_peer(codec, level):
    import blosc2

    blosc2.set_nthreads(1)
    filters = [blosc2.Filter.BITSHUFFLE]
    options = {"codec": getattr(blosc2.Codec, codec), "clevel": level, "filters": filters, "filters_meta": [0], "nthreads": 1}
    return (
        lambda x: blosc2.compress2(x.tobytes(), typesize=x.itemsize, **options),
        lambda frame, x: numpy.frombuffer(blosc2.decompress2(frame), x.dtype),
    )


def zstd_peer(level):
    import zstandard

    compressor, decompressor = zstandard.ZstdCompressor(level=level), zstandard.ZstdDecompressor()
    return (lambda x: compressor.compress(x.data), lambda frame, x: numpy.frombuffer(decompressor.decompress(frame), x.dtype))


def sz3_peer(bound):
    from pysz import sz, szConfig, szErrorBoundMode

    def compress(x):
        config = szConfig()
        config.errorBoundMode = szErrorBoundMode.ABS
        config.absErrorBound = bound
        return sz.compress(x, config)[0]

    return compress, lambda frame, x: sz.decompress(frame, x.dtype, x.shape)[0]


def zfp_peer(bound):
    import zfpy

    return (lambda x: zfpy.compress_numpy(x, tolerance=bound), lambda frame, x: zfpy.decompress_numpy(frame))


EXACT = {
    "pcodec-4": lambda: pcodec_peer(4),
    "pcodec-8": lambda: pcodec_peer(8),
    "fpzip": fpzip_peer,
    "bitshuffle+lz4": lambda: blosc2_peer("LZ4", 5),
    "bitshuffle+zstd-1": lambda: blosc2_peer("ZSTD", 1),
    "zstd-3": lambda: zstd_peer(3),
}
BOUNDED = {"SZ3": sz3_peer, "zfp": zfp_peer}
PACKAGES = {"pcodec": "pcodec", "fpzip": "fpzip", "blosc2": "blosc2", "zstandard": "zstandard", "pysz": "pysz", "zfpy": "zfpy"}


def timed(work, seconds):
    """Returns the result of work() and the median of its CPU times."""
    times, begin = [], time.perf_counter()
    while not times or (time.perf_counter() - begin < seconds and len(times) < 15):
        before = time.process_time()
        result = work()
        times.append(time.process_time() - before)
    return result, max(statistics.median(times), 1e-9)


def measured(name, peer, x, seconds):
    """Returns the row of a peer on a field, and the decoded values."""
    compress, decompress = peer
    frame, encoding = timed(lambda: compress(x), seconds)
    decoded, decoding = timed(lambda: decompress(frame, x), seconds)
    size = len(frame) if isinstance(frame, (bytes, bytearray, memoryview)) else frame.nbytes
    row = {"codec": name, "ratio": x.nbytes / size, "encode_gb_per_s": x.nbytes / encoding / 1e9}
    return row | {"decode_gb_per_s": x.nbytes / decoding / 1e9, "dims": False}, numpy.asarray(decoded).reshape(x.shape)


def rows_of_peers(field, x, value_range, seconds):
    for name, make in EXACT.items():
        try:
            row, decoded = measured(name, make(), x, seconds)
        except ImportError:
            continue
        row["exact"] = decoded.tobytes() == x.tobytes()
        yield row | {"field": field["name"], "of_range": 0}
    if not numpy.isfinite(x).all():
        return  # zfp and SZ3 promise nothing for such values
    for name, make in BOUNDED.items():
        for of_range in BOUNDS:
            bound = of_range * value_range
            try:
                row, decoded = measured(name, make(bound), x, seconds)
            except ImportError:
                continue
            error = float(numpy.abs(decoded.astype("f8") - x.astype("f8")).max())
            yield row | {"field": field["name"], "of_range": of_range, "within_bound": error <= bound}


def rows_of_taut(folder, field, build, temporary, seconds):
    options = ["--codecs", "planes,mpc", "--threads", "1", "--seconds", str(seconds)]
    report, _ = fields.measure(build / "bench/codec/taut_bench_fields", folder, field, temporary, options)
    kept = ("codec", "dims", "field", "of_range", "ratio", "encode_gb_per_s", "decode_gb_per_s", "within_bound")
    for row in report["results"]:
        if row["part"] == "whole" and row["bound_kind"] in ("exact", "absolute"):
            yield {key: row[key] for key in kept}


def value_range(field, x):
    there = x[numpy.isfinite(x)]
    if field.get("fill_value") is not None:
        there = there[there != x.dtype.type(field["fill_value"])]
    return float(there.max()) - float(there.min())


def mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def name_of(row):
    return row["codec"] + (" with extents" if row["dims"] else "")


def table_of(rows, without):
    """Makes the table of ratios under one bound; the means are of the fields that all codecs have, but `without`."""
    names, in_rows = tables.in_order(map(name_of, rows)), tables.in_order(row["field"] for row in rows)
    cells = {(row["field"], name_of(row)): row for row in rows}
    common = [f for f in in_rows if f not in without and all((f, n) in cells for n in names)]
    # Taut takes the same with and without extents where a field has one dimension.
    lines = [[f, *(tables.figure(cells[f, n]["ratio"]) if (f, n) in cells else "-" for n in names)] for f in in_rows]
    lines.append([f"geometric mean of {len(common)}", *(tables.figure(mean([cells[f, n]["ratio"] for f in common])) for n in names)])
    for what in ("encode", "decode"):
        speeds = {n: statistics.median(row[f"{what}_gb_per_s"] for row in rows if name_of(row) == n) for n in names}
        lines.append([f"{what}, GB/s, median", *(tables.figure(speeds[n]) for n in names)])
    yield from tables.table(["field", *names], lines)


def with_one_dimension(rows):
    """Adds rows `with extents` for fields of one dimension, where extents change nothing."""
    known = {(row["field"], row["codec"], row["of_range"]) for row in rows if row["dims"]}
    return rows + [row | {"dims": True} for row in rows if row["codec"] in ("mpc", "planes") and (row["field"], row["codec"], row["of_range"]) not in known]


def page(report):
    rows = with_one_dimension(report["rows"])
    context = ", ".join(f"{key}: {value}" for key, value in report["context"].items())
    yield f"# Taut beside public compressors\n\n{context}\n"
    for of_range in sorted({row["of_range"] for row in rows}):
        yield "## " + ("Exact" if of_range == 0 else f"Absolute bound of {of_range:g} of the range") + "\n"
        yield from table_of([row for row in rows if row["of_range"] == of_range], {"num_plasma"} if of_range == 0 else set())


def versions():
    found = {}
    for module, package in PACKAGES.items():
        try:
            importlib.import_module(module)
            found[package] = importlib.metadata.version(package)
        except ImportError as error:
            print(f"peers.py: without {package}: {error}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=os.environ.get("TAUT_FIELDS", "fields"), help="or TAUT_FIELDS")
    parser.add_argument("--build", type=Path, default=fields.ROOT / "build/release")
    parser.add_argument("--json", type=Path, default=Path("bench-out/peers.json"))
    parser.add_argument("--fields", default="", help="names, separated by commas; default: all")
    parser.add_argument("--seconds", type=float, default=0.25, help="for each figure")
    arguments = parser.parse_args()
    manifest = arguments.folder / "MANIFEST.json"
    if not manifest.exists():
        print(f"peers.py: skipped, as there is no {manifest}; name a folder with --folder or TAUT_FIELDS")
        return 0
    wanted = [name for name in arguments.fields.split(",") if name]
    context = {"commit": fields.commit(), "processors": os.cpu_count(), "load": os.getloadavg()[0]} | versions()
    report = {"context": context, "rows": []}
    with tempfile.TemporaryDirectory() as temporary:
        for field in json.loads(manifest.read_text())["fields"]:
            if wanted and field["name"] not in wanted:
                continue
            x = numpy.fromfile(fields.raw_file(arguments.folder, field, Path(temporary)), field["dtype"])
            x = x.reshape(field["dims"])
            report["rows"] += rows_of_taut(arguments.folder, field, arguments.build, Path(temporary), arguments.seconds)
            report["rows"] += rows_of_peers(field, x, value_range(field, x), arguments.seconds)
            print(f"peers.py: {field['name']} is measured", file=sys.stderr)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    print("\n".join(page(report)))
    return 0 if all(row.get("exact", True) for row in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures public compressors beside Taut on real fields.

Each field goes through taut_bench_fields and then, whole and with one thread, through the peers: pcodec, fpzip, Blosc2, zstd
(exact), SZ3, SPERR, zfp (absolute bounds). The tables and the best codec for each link and field are written beside the
report; `make docs` makes the same pages of the committed report. Speeds are GB/s of values, of the process's CPU time.

--programs adds exact compressors that no package installs. `COMMAND FIELD.raw float32|float64 AxBxC` prints
{"bytes": of the frame, "encode_s": median, "decode_s": median, "exact": true or false}.
Exit status: 1 if an exact result differs from the values, 2 if a peer is missing.
"""

import importlib.metadata
import json
import math
import shlex
import statistics
import subprocess
import sys
import time

import fields
import link_map
import tables
from report import RESULTS as FOLDER
from suite import RELEASE, Suite

try:
    import numpy
except ImportError:
    numpy = None  # missing() names it

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


def in_two_or_three_dimensions(shape):
    """Returns the extents in which SPERR takes an array: leading ones are merged, and one is divided."""
    if len(shape) > 3:
        return (math.prod(shape[:-2]), *shape[-2:])
    if len(shape) > 1:
        return tuple(shape)
    rows = next(n for n in range(math.isqrt(shape[0]), 0, -1) if shape[0] % n == 0)
    return (rows, shape[0] // rows)


def sperr_peer(bound):
    """Returns the filter of HDF5, on a file in memory with one chunk."""
    import h5py
    import hdf5plugin

    def dataset(file, x):
        shape = in_two_or_three_dimensions(x.shape)
        return file.create_dataset("x", shape, x.dtype, chunks=shape, **hdf5plugin.Sperr(absolute=bound))

    def compress(x):
        with h5py.File("values", "w", driver="core", backing_store=False) as file:
            values = dataset(file, x)
            values.write_direct(x.reshape(values.shape))
            file.flush()
            return values.id.read_direct_chunk((0,) * values.ndim)[1]

    def decompress(frame, x):
        with h5py.File("frame", "w", driver="core", backing_store=False) as file:
            values = dataset(file, x)
            values.id.write_direct_chunk((0,) * values.ndim, frame)
            return values[()]

    return compress, decompress


EXACT = {
    "pcodec-4": lambda: pcodec_peer(4),
    "pcodec-8": lambda: pcodec_peer(8),
    "fpzip": fpzip_peer,
    "bitshuffle+lz4": lambda: blosc2_peer("LZ4", 5),
    "bitshuffle+zstd-1": lambda: blosc2_peer("ZSTD", 1),
    "zstd-3": lambda: zstd_peer(3),
}
BOUNDED = {"SZ3": sz3_peer, "SPERR": sperr_peer, "zfp": zfp_peer}
PACKAGE_OF = {
    "pcodec-4": "pcodec", "pcodec-8": "pcodec", "fpzip": "fpzip", "bitshuffle+lz4": "blosc2", "bitshuffle+zstd-1": "blosc2",
    "zstd-3": "zstandard", "SZ3": "pysz", "SPERR": "hdf5plugin", "zfp": "zfpy",
}  # fmt: skip
RESULTS = FOLDER / "codec_peers.json"
RIVALS = ("ndzip", "SPspeed", "bitshuffle+lz4")  # compressors of Taut's own class of speed


def timed(work, seconds):
    """Returns the result of work() and the median of its CPU times."""
    times, begin = [], time.perf_counter()
    while not times or (time.perf_counter() - begin < seconds and len(times) < 15):
        before = time.process_time()
        result = work()
        times.append(time.process_time() - before)
    return result, max(statistics.median(times), 1e-9)


def row_of_peer(name, peer, x, seconds):
    """Returns the row of a peer on a field, and the decoded values."""
    compress, decompress = peer
    frame, encoding = timed(lambda: compress(x), seconds)
    decoded, decoding = timed(lambda: decompress(frame, x), seconds)
    size = len(frame) if isinstance(frame, (bytes, bytearray, memoryview)) else frame.nbytes
    row = {"codec": name, "ratio": x.nbytes / size, "encode_gb_per_s": x.nbytes / encoding / 1e9}
    return row | {"decode_gb_per_s": x.nbytes / decoding / 1e9, "dims": False}, numpy.asarray(decoded).reshape(x.shape)


def rows_of_peers(field, x, value_range, seconds, without):
    for name, make in EXACT.items():
        if PACKAGE_OF[name] not in without:
            row, decoded = row_of_peer(name, make(), x, seconds)
            yield row | {"exact": decoded.tobytes() == x.tobytes(), "field": field["name"], "of_range": 0}
    if not numpy.isfinite(x).all():
        return  # these peers promise nothing for such values
    for name, make in BOUNDED.items():
        if name == "SPERR" and field.get("fill_value") is not None:
            continue  # the filter of hdf5plugin 7.1 crashes on ocean_sst_fill
        for of_range in BOUNDS if PACKAGE_OF[name] not in without else ():
            bound = of_range * value_range
            row, decoded = row_of_peer(name, make(bound), x, seconds)
            error = float(numpy.abs(decoded.astype("f8") - x.astype("f8")).max())
            yield row | {"field": field["name"], "of_range": of_range, "within_bound": error <= bound}


def row_of_program(name, command, field, path):
    """Returns the row of a program that --programs names, on a field."""
    words = [*shlex.split(command), str(path), field["dtype"], "x".join(map(str, field["dims"]))]
    found = json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
    size = math.prod(field["dims"]) * numpy.dtype(field["dtype"]).itemsize
    speeds = {f"{what}_gb_per_s": size / found[f"{what}_s"] / 1e9 for what in ("encode", "decode")}
    row = {"codec": name, "ratio": size / found["bytes"], **speeds, "dims": False, "exact": found["exact"]}
    return row | {"field": field["name"], "of_range": 0}


def rows_of_taut(options):
    """Yields the rows of Taut's codecs on the fields."""
    kept = ("codec", "dims", "field", "of_range", "ratio", "encode_gb_per_s", "decode_gb_per_s", "within_bound")
    for row in fields.measured(options, "--codecs", "planes,szx,mpc", "--threads", "1", "--seconds", str(options.seconds)):
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
    lines = [[f, *(tables.figure(cells[f, n]["ratio"]) if (f, n) in cells else "-" for n in names)] for f in in_rows]
    lines.append([f"geometric mean of {len(common)}", *(tables.figure(mean([cells[f, n]["ratio"] for f in common])) for n in names)])
    for what in ("encode", "decode"):
        speeds = {n: statistics.median(row[f"{what}_gb_per_s"] for row in rows if name_of(row) == n) for n in names}
        lines.append([f"{what}, GB/s, median", *(tables.figure(speeds[n]) for n in names)])
    yield from tables.table(["field", *names], lines)


def table_of_rivals(rows):
    """Makes the table of mpc's ratio, with extents where there are several, over those of RIVALS."""
    cells = {(row["field"], name_of(row)): row["ratio"] for row in rows}
    rivals = [rival for rival in RIVALS if any(row["codec"] == rival for row in rows)]
    lines = []
    for field in tables.in_order(row["field"] for row in rows):
        ours = cells[field, "mpc with extents"]
        lines.append([field, tables.figure(ours), *(f"{ours / cells[field, rival]:.3f}" for rival in rivals)])
    yield from tables.table(["field", "mpc with extents", *(f"over {rival}" for rival in rivals)], lines)


def with_one_dimension(rows):
    """Adds rows `with extents` for fields of one dimension, where extents change nothing."""
    known = {(row["field"], row["codec"], row["of_range"]) for row in rows if row["dims"]}
    return rows + [row | {"dims": True} for row in rows if row["codec"] in ("mpc", "planes") and (row["field"], row["codec"], row["of_range"]) not in known]


INTRODUCTION = """Ratios and speeds are of whole fields, by one thread;
speeds are GB/s of values, of CPU time. Means leave out {exact} where values are exact, and {bounded} (fill values, NaN)
under bounds. What follows from them for a link is in [the map](best_codec.md)."""
RIVALS_INTRODUCTION = """Ratio of mpc over theirs; above 1 mpc's frames are shorter ([where they are not, and
why](../../bench/results/lossless/README.md#limits))."""
BY_HAND = """{names}: built by hand from the authors' sources (`g++ -O3 -march=native`, one thread), and measured in the same
run by `--program`; ndzip with the best of one to three dimensions."""


def context(run):
    """Returns a run's record and the versions of its programs, in words."""
    machine = run["machine"]
    known = {"machine": f"{machine['cores']} cores, {machine['os'].split(', ')[-1]}", "processor": machine["processor"]}
    known |= {"processors": machine["cores"], **{key: run[key] for key in ("date", "commit", "load")}, **run["peers"]}
    return "; ".join(f"{key} {value}" for key, value in (known | {"compiler": run["compiler"]}).items()) + "."


def page(run):
    rows, left_out = with_one_dimension(run["rows"]), run["not_in_means"]
    named = {kind: ", ".join(names) or "no field" for kind, names in left_out.items()}
    yield "# Taut beside public compressors\n"
    yield tables.paragraph(INTRODUCTION.format(**named))
    yield tables.paragraph(context(run))
    for of_range in sorted({row["of_range"] for row in rows}):
        yield "## " + ("Exact" if of_range == 0 else f"Absolute bound of {of_range:g} of the range") + "\n"
        yield from table_of([row for row in rows if row["of_range"] == of_range], left_out["bounded" if of_range else "exact"])
    yield "## Exact, field by field, beside compressors of this class of speed\n"
    yield tables.paragraph(RIVALS_INTRODUCTION)
    if run["programs"]:
        yield tables.paragraph(BY_HAND.format(names=", ".join(run["programs"])))
    yield from table_of_rivals([row for row in rows if row["of_range"] == 0])


def versions(without):
    """Returns the versions of the peers. Ends the program if one is missing that --without does not name."""
    found, missing = {}, [] if numpy else ["numpy"]
    for package in tables.in_order(PACKAGE_OF.values()):
        try:
            if package not in without:
                importlib.import_module(package)
                found[package] = importlib.metadata.version(package)
        except ImportError:
            missing.append(package)
    if missing:
        print(
            f"codec_peers.py: {', '.join(missing)}: not installed for {sys.executable}. Run `tools/setup.sh bench_peers` and take"
            f" .venv-peers/bin/python, or leave peers out: --without {','.join(missing)}",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return found


def measured(options):
    """Yields the rows of all codecs and peers on each field."""
    without = options.without.split(",")
    programs = dict(program.split("=", 1) for program in options.programs.split(",") if program)
    options.settings |= {"not_in_means": {"exact": ["num_plasma"], "bounded": []}, "programs": list(programs), "peers": versions(without)}
    yield from rows_of_taut(options)
    for field, path in fields.fields_of(options):
        if field.get("fill_value") is not None or field.get("nan_count") or field.get("inf_count"):
            options.settings["not_in_means"]["bounded"].append(field["name"])
        x = numpy.fromfile(path, field["dtype"]).reshape(field["dims"])
        yield from rows_of_peers(field, x, value_range(field, x), options.seconds, without)
        for name, command in programs.items():
            yield row_of_program(name, command, field, path)


def write_pages(run, options):
    """Writes the tables and the map beside the report."""
    (options.out / "codec_peers.md").write_text("\n".join(page(run)).rstrip() + "\n")
    (options.out / "best_codec.md").write_text(link_map.page(run["rows"]))


SUITE = Suite(
    about=__doc__, rows=measured, finish=write_pages, within="exact", needs="bench_peers", python=".venv-peers/bin/python", builds={"release": f"taut_bench_fields {RELEASE}"},
    options=fields.OPTIONS | {
        "seconds": (0.25, "for each figure"), "without": ("", "packages to leave out, separated by commas"),
        "programs": ("", "NAME=COMMAND,..: compressors that no package installs")},
    columns={"field": "{field}", "codec": "{codec}", "extents": "{dims}", "of range": "{of_range:g}", "ratio": "{ratio:.2f}",
             "encode, GB/s": "{encode_gb_per_s:.3f}", "decode, GB/s": "{decode_gb_per_s:.3f}"},
)  # fmt: skip

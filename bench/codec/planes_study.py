"""Other predictions and encodings for planes, by the bytes that they would take for real fields: planes_study.py FOLDER FIELDS BOUND
GROUPS. study.py runs it.

Prints a row of JSON for each field, with the ratios of each group of variants. The bound is in units of the range. Sizes come from
an emulation in numpy (planes_emulation.py), with the fields' extents; fields with fills or NaN are left out, as they have exact
values. The group `links` is a model of a message by one thread, one step after the other: the Gbit/s of a link above which plain
values arrive earlier than planes frames at 1e-2, and for stages behind the codec GB/s of frames and the Mbit/s below which a
message with the stage arrives earlier. Stages have more columns with zstandard.
"""

import functools
import json
import sys
import time
import zlib
from argparse import Namespace
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from suite import ROOT  # noqa: E402

from fields import fields_of
from interpolation import interpolation_residuals, tiles
from planes_emulation import (
    DELTA, NONE, SECOND, CodedField, Prediction, block_tables, candidates, lag_of, quantise,
    step_of, strides, tables_now, tables_short,
)  # fmt: skip
from report import rows

try:
    import zstandard
except ImportError:
    zstandard = None


SPEEDS = ROOT / "bench/results/zen5-2-core/codec_fields.json"


class Field:
    """A field and its integers under a bound."""

    def __init__(self, description, values, of_range):
        self.name, self.dims, self.values = description["name"], description["dims"], values
        self.bound = of_range * (float(values.max()) - float(values.min()))
        self.q = quantise(values.reshape(-1), self.bound)

    @functools.cached_property
    def coded(self):
        return CodedField(self.q, self.dims)

    @property
    def step(self):
        return float(step_of(self.bound, self.values.dtype)[0])


def entropy(symbols):
    """Returns the bytes that an ideal coder of order 0 would take."""
    _, n = numpy.unique(symbols, return_counts=True)
    return float((n * numpy.log2(n.sum() / n)).sum()) / 8


def entropy_after(symbols, contexts):
    """Returns the bytes that an ideal coder would take that knows a context of each symbol."""
    return entropy(symbols.astype("i8") * 4096 + contexts) - entropy(contexts)


def before(rows):
    return numpy.concatenate([numpy.zeros((len(rows), 1), rows.dtype), rows[:, :-1]], 1)


# Predictions ------------------------------------------------------------------------------------------------------

def best_of(field, predictions):
    return min(CodedField(field.q, field.dims, p).bytes(tables_now) for p in predictions)


def any_lags(field, most):
    """Returns predictions with up to `most` lags, each the stride of any extent, also the same one again."""
    lags = sorted({lag_of(stride) for stride in strides(field.dims)[:-1]})
    chosen = {()}
    for _ in range(most):
        chosen |= {tuple(sorted(some + (lag,))) for some in chosen for lag in lags}
    return [Prediction(inner, some) for some in chosen for inner in (DELTA, NONE, SECOND)]


PREDICTIONS = {
    "chosen": lambda f: f.coded.bytes(tables_now),
    "best": lambda f: best_of(f, candidates(f.dims)),
    "2 lags": lambda f: best_of(f, candidates(f.dims) + any_lags(f, 2)),
    "3 lags": lambda f: best_of(f, candidates(f.dims) + any_lags(f, 3)),
}

# Width tables -----------------------------------------------------------------------------------------------------

TABLES = {
    "now": lambda f: f.coded.bytes(tables_now),
    "2 bits": lambda f: f.coded.bytes(block_tables((2, 4, 8))),
    "short bitmap": lambda f: f.coded.bytes(block_tables((4, 8), levels=2)),
    "both": lambda f: f.coded.bytes(tables_short),
    "1 bit": lambda f: f.coded.bytes(block_tables((1, 2, 4, 8), levels=2)),
    "from the least": lambda f: f.coded.bytes(block_tables((0, 1, 2, 4, 8), levels=2, least=True)),
    "entropy": lambda f: f.coded.bytes(None) + entropy(f.coded.widths),
    "entropy after one": lambda f: f.coded.bytes(None) + entropy_after(f.coded.widths, before(f.coded.widths)),
}

# Blocks -----------------------------------------------------------------------------------------------------------

BLOCKS = {
    "4": lambda f: f.coded.bytes(tables_now, 4),
    "8": lambda f: f.coded.bytes(tables_now),
    "16": lambda f: f.coded.bytes(tables_now, 16),
    "32": lambda f: f.coded.bytes(tables_now, 32),
    "best for each chunk": lambda f: f.coded.bytes(tables_now, (4, 8, 16, 32)),
    "4, short tables": lambda f: f.coded.bytes(tables_short, 4),
    "entropy": lambda f: f.coded.fixed + entropy(f.coded.d),
    "entropy after one": lambda f: f.coded.fixed + entropy_after(f.coded.d, before(f.coded.d).clip(-20, 20) + 20),
}

# A second stage, over the bytes of all records --------------------------------------------------------------------

COMPRESSORS = {f"zlib {level}": (functools.partial(zlib.compress, level=level), zlib.decompress) for level in (1, 9)}
if zstandard:
    for level in (-5, 1, 3):
        COMPRESSORS[f"zstd {level}"] = zstandard.ZstdCompressor(level).compress, zstandard.ZstdDecompressor().decompress

STAGES = {"none": lambda f: f.coded.bytes(tables_now)} | {
    name: lambda f, compress=compress: f.coded.fixed + len(compress(f.coded.payload))
    for name, (compress, _) in COMPRESSORS.items()
}


def seconds(action):
    """Returns the processor time of an action, the least of several."""
    times = []
    while len(times) < 3 or (sum(times) < 0.2 and len(times) < 1000):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)


@functools.cache
def stage(field, name):
    """Returns the bytes before a stage and after it, and the seconds to compress and to decompress."""
    compress, decompress = COMPRESSORS[name]
    payload = field.coded.payload
    packed = compress(payload)
    return field.coded.bytes(tables_now), len(packed), seconds(lambda: compress(payload)), seconds(lambda: decompress(packed))


def link_limit(field, name):
    """Returns the Mbit/s below which the link saves more time by the shorter frame than the stage takes."""
    plain, packed, compressing, decompressing = stage(field, name)
    return max((plain - packed) / (compressing + decompressing) * 8 / 1e6, 1e-9)


def speed(field, name, which):
    return stage(field, name)[0] / stage(field, name)[which] / 1e9


def plain_limit(field):
    """Returns the Gbit/s above which plain values arrive earlier, by the speeds of codec_fields.json (parts of 1 MiB)."""
    for row in rows(SPEEDS):
        if (row["field"], row["codec"], row["part"], row["of_range"]) == (field.name, "planes", "part", 1e-2):
            if row["threads"] == 1 and row["dims"] == (len(field.dims) > 1):
                return 8 * (1 - 1 / row["ratio"]) / (1 / row["encode_gb_per_s"] + 1 / row["decode_gb_per_s"])
    raise SystemExit(f"planes_study.py: {SPEEDS} has no speeds of {field.name}")


LINKS = {"plain: Gbit/s": plain_limit}
for chosen in [n for n in ("zlib 1", "zstd -5", "zstd 1") if n in COMPRESSORS]:
    LINKS[f"{chosen}: compress"] = functools.partial(speed, name=chosen, which=2)
    LINKS[f"{chosen}: decompress"] = functools.partial(speed, name=chosen, which=3)
    LINKS[f"{chosen}: Mbit/s"] = functools.partial(link_limit, name=chosen)

# Interpolation between points of a coarser grid -------------------------------------------------------------------


def residual_bytes(field, r):
    return CodedField(r, (), Prediction(NONE)).bytes(tables_now)


def interpolated(field, cubic, size):
    """Returns the least size for the whole field, with all extents or the last ones."""
    n = field.values.ndim
    axes = [tuple(range(first, n)) for first in range(min(n, 3))]
    return min(size(field, interpolation_residuals(field.values, field.step, some, cubic)) for some in axes)


def in_tiles(field, size):
    """Returns the size with interpolation inside tiles of 4096 values."""
    n = min(field.values.ndim, 3)
    of_tiles = tiles(field.values, {1: (4096,), 2: (64, 64), 3: (16, 16, 16)}[n])
    r = interpolation_residuals(of_tiles, field.step, tuple(range(1, n + 1)), False)
    return size(field, r)


INTERPOLATION = {
    "lags": lambda f: f.coded.bytes(tables_now),
    "linear": lambda f: interpolated(f, False, residual_bytes),
    "cubic": lambda f: interpolated(f, True, residual_bytes),
    "linear, tiles": lambda f: in_tiles(f, residual_bytes),
    "cubic, entropy": lambda f: interpolated(f, True, lambda f, r: entropy(r)),
}

def ratios(sizes):
    return {name: lambda field, size=size: field.values.nbytes / size(field) for name, size in sizes.items()}


GROUPS = {"predictions": ratios(PREDICTIONS), "tables": ratios(TABLES), "blocks": ratios(BLOCKS), "stages": ratios(STAGES),
          "links": LINKS, "interpolation": ratios(INTERPOLATION)}  # fmt: skip


def main(folder, names, bound, groups):
    chosen = fields_of(Namespace(taut_fields=folder, fields=names), lambda field: field.get("fill_value") is None and field["nan_count"] == 0)
    for description, path in chosen:
        values = numpy.fromfile(path, description["dtype"]).reshape(description["dims"])
        field = Field(description, values, float(bound))
        found = {group: {name: of(field) for name, of in GROUPS[group].items()} for group in groups.split(",")}
        print(json.dumps({"field": field.name, "prediction": str(field.coded.prediction)} | found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

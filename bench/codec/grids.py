"""Measures coding without loss of values on a grid: fields packed to integers of 16 bits and back, or printed with few digits.

`packed16`: 65,000 steps from the least value on, or around the middle, computed in double; `steps`: in float32. At most 2^22
values of a field; fill values become NaN. pcodec (level 8) knows no extents; Taut is measured with and without them.
Exit status: 1 if values differ from those that were coded.
"""

import sys
import time

import fields
from suite import RELEASE, Suite

try:
    import numpy
    from pcodec import ChunkConfig, standalone
except ImportError:
    numpy = None  # run.py starts this suite with the Python that has them

MOST_VALUES = 1 << 22


def packed(x, middle):
    """Returns x rounded to 65,000 steps, computed in the type of x."""
    least, greatest, half = numpy.nanmin(x), numpy.nanmax(x), x.dtype.type(2)
    step = (greatest - least) / x.dtype.type(65000)
    offset = (least + greatest) / half if middle else least
    return numpy.rint((x - offset) / step) * step + offset


def on_grids(x):
    """Yields names of grids, and the values of a field on them."""
    double, single = x.astype("f8"), x.astype("f4")
    yield "packed16, least, f32", packed(double, False).astype("f4")
    yield "steps, least, f32", packed(single, False)
    yield "packed16, least, f64", packed(double, False)
    yield "packed16, middle, f64", packed(double, True)
    for digits in (1, 3):
        rounded = numpy.round(double, digits)
        if len(numpy.unique(rounded.ravel()[:200000])) > 200:  # else next to nothing of the field is left
            yield f"{digits} digits, f32", rounded.astype("f4")


def values_of(field, path):
    x = numpy.fromfile(path, field["dtype"]).reshape(field["dims"])
    x = x[: max(1, MOST_VALUES * len(x) // x.size)]
    return x if field.get("fill_value") is None else numpy.where(x == x.dtype.type(field["fill_value"]), numpy.nan, x)


def row_of(name, grid, values):
    import taut

    begin = time.perf_counter()
    frame = taut.compress(values, "lossless")
    seconds = time.perf_counter() - begin
    peer = len(standalone.simple_compress(values.ravel(), ChunkConfig(compression_level=8)))
    flat = len(taut.compress(values.ravel(), "lossless"))
    return {"field": name, "grid": grid, "ratio": values.nbytes / len(frame), "flat": values.nbytes / flat, "pcodec_8": values.nbytes / peer,
            "quotient": peer / len(frame), "seconds": seconds, "exact": taut.decompress(frame).tobytes() == values.tobytes()}  # fmt: skip


def measured(options):
    sys.path.insert(0, str(options.builds[0] / "python"))
    for field, path in fields.fields_of(options):
        if field["name"] == "num_plasma":  # repeats itself: no grid gains anything
            continue
        for grid, values in on_grids(values_of(field, path)):
            yield row_of(field["name"], grid, numpy.ascontiguousarray(values))


SUITE = Suite(
    about=__doc__, rows=measured, within="exact", needs="bench_peers python", python=".venv-peers/bin/python", builds={"release": f"all {RELEASE}"},
    options=fields.OPTIONS,
    columns={"field": "{field}", "grid": "{grid}", "ratio": "{ratio:.2f}", "without extents": "{flat:.2f}", "pcodec-8": "{pcodec_8:.2f}",
             "quotient": "{quotient:.2f}"},
)  # fmt: skip

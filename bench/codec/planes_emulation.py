"""Sizes of planes frames, computed in numpy: quantisation, prediction and blocks as src/compressor/codecs/planes/spec.md has
them. It serves studies of other predictions and encodings; frames with exact values are left out.
"""

import dataclasses
import functools

import numpy
import taut

CHUNK, BLOCK = 4096, 8
HEADER_BYTES = 64  # of a frame
NONE, DELTA, PAIRS, SECOND = range(4)
NAMES = {NONE: "none", DELTA: "delta", PAIRS: "pairs", SECOND: "second"}
LEAST_LAG = 64
PIECE = 512  # values in a piece of the sample
LEAST_TO_SAMPLE = 8192  # values


@dataclasses.dataclass(frozen=True)
class Prediction:
    inner: int = DELTA
    lags: tuple = ()

    @property
    def slow(self):
        return bool(self.lags) or self.inner == SECOND

    def __str__(self):
        return "+".join([NAMES[self.inner], *map(str, self.lags)])


def step_of(bound, dtype):
    """Returns the quantisation step for an absolute bound, and its inverse, both rounded to the type."""
    once = taut.compress(numpy.array([2 * bound], dtype), f"abs:{bound!r},codec=planes")
    step = taut.decompress(once)[0]  # the multiple of the step next to twice the bound
    return step, dtype.type(1) / step


def quantise(values, bound):
    """Returns the integers of all values; none may travel exactly."""
    step, inverse = step_of(bound, values.dtype)
    q = numpy.rint(values * inverse)
    beyond = ~((q >= -(2**14)) & (q < 2**14))
    if beyond.any():
        q = q.astype("f8")
        q[beyond] = numpy.rint(values[beyond].astype("f8") / float(step))
        if not (numpy.abs(q[beyond]) < 2**21).all():
            raise ValueError("a value without an integer of 22 bits")
    return q.astype(numpy.int32)


def shifted(q, distance):
    """Returns the integers `distance` values earlier; 0 before the first one."""
    before = numpy.zeros_like(q)
    before[distance:] = q[: len(q) - distance]
    return before


def without_lags(q, lags):
    """Returns the residuals that remain after prediction with these lags."""
    for lag in lags:
        q = q - shifted(q, lag)
    return q


def in_chunks(r, size=CHUNK):
    """Returns the residuals as chunks of `size` values; the last one is filled up with its last value."""
    absent = -len(r) % size
    return numpy.concatenate([r, numpy.full(absent, r[-1], r.dtype)]).reshape(-1, size)


def differences(chunks, inner):
    """Returns the differences that the predictor leaves in each chunk, and the bases of the chunks."""
    if inner == NONE:
        return chunks, numpy.zeros(len(chunks), chunks.dtype)
    base, lag = chunks[:, 0], 2 if inner == PAIRS else 1
    d = chunks - numpy.concatenate([numpy.repeat(chunks[:, :1], lag, 1), chunks[:, :-lag]], 1)
    if inner == SECOND:
        d[:, 1:] -= d[:, :-1].copy()
    return d, base


def widths_of(d, block=BLOCK):
    """Returns the widths of all blocks: the bits of the longest of their differences, with its sign."""
    folded = (d << 1) ^ (d >> 31)
    longest = numpy.bitwise_or.reduce(folded.reshape(len(d), -1, block), 2).astype(numpy.uint32)
    return numpy.ceil(numpy.log2(longest.astype("f8") + 1)).astype(numpy.int64)


def whole_bytes(bits):
    return (bits + 7) // 8


def entry_bits(greatest, sizes):
    """Returns the least of these sizes that holds the greatest entry."""
    needed = numpy.ceil(numpy.log2(numpy.maximum(greatest, 0) + 1.0))
    return numpy.select([needed <= size for size in sizes], sizes, sizes[-1])


def map_bytes(widths, levels):
    """Returns the bytes of the bitmap of the blocks with a width; with two levels, its zero bytes are left out."""
    coded = widths > 0
    if levels == 1:
        return whole_bytes(coded.shape[1])
    coded = numpy.concatenate([coded, numpy.zeros((len(coded), -coded.shape[1] % 8), bool)], 1)
    present = coded.reshape(len(coded), -1, 8).any(2)
    return whole_bytes(present.shape[1]) + present.sum(1)


def block_tables(sizes, levels=1, least=False):
    """Returns a function for the bytes of the width table of each chunk: entries for all blocks, or those beside a
    bitmap. `sizes`: bits that entries may have. `least`: entries beside a bitmap are differences from the least
    width, which takes a byte."""

    def bytes_of(widths):
        greatest, coded = widths.max(1), (widths > 0).sum(1)
        dense = whole_bytes(widths.shape[1] * entry_bits(greatest, [size for size in sizes if size > 0]))
        low = numpy.where(widths > 0, widths, 64).min(1) if least else 0
        return numpy.minimum(dense, map_bytes(widths, levels) + whole_bytes(coded * entry_bits(greatest - low, sizes)) + least)

    return bytes_of


tables_now = block_tables((4, 8))  # of the format
_short, _long = block_tables((2, 4, 8), levels=2), block_tables((8,))


def tables_short(widths):
    """Returns the bytes of tables with entries of 2, 4 or 8 bits, and without the zero bytes of the bitmap."""
    return numpy.where(widths.max(1) > 15, _long(widths), _short(widths))


def record_bytes(widths, base, tables, block=BLOCK):
    """Returns the bytes of each chunk's record; of all but the width tables if `tables` is None."""
    planes = whole_bytes(widths.sum(1) * block)
    size = 8 + numpy.where(planes > 0, planes + (tables(widths) if tables else 0), 0)
    return numpy.where((planes == 0) & (base == 0), 0, (size + 3) // 4 * 4)


def pieces(count):
    """Returns the first values of the pieces of a sample (src/compressor/frame/sample.hpp)."""
    n = min(max(count // 65536, 4), 8)
    part = count // n
    return [i * part + (((1 << 31) + i * 2654435769) % 2**32 * (part - PIECE) >> 32) for i in range(n)]


def estimated_bytes(q, prediction, tables):
    """Returns what the encoder's sample charges for a prediction (src/compressor/codecs/planes/estimate.cpp)."""
    r, total = without_lags(q, prediction.lags), 0
    for first in pieces(len(q)):
        d, _ = differences(r[first : first + PIECE].reshape(1, -1), prediction.inner)
        widths = widths_of(d)
        size = 8 + int(widths.sum()) + int(tables(widths)[0])
        total += size + size // 9 if prediction.slow else size
    return total


def lag_of(stride):
    return (LEAST_LAG + stride - 1) // stride * stride


def strides(dims):
    return [int(numpy.prod(dims[i + 1 :])) for i in range(len(dims))]


def candidates(dims):
    """Returns the predictions among which `auto` chooses (src/compressor/codecs/planes/prediction.cpp)."""
    every = [Prediction(inner) for inner in (DELTA, PAIRS, NONE, SECOND)]
    lags = [lag_of(stride) for stride in strides(dims)]

    def add(of, inners):
        every.extend(p for p in (Prediction(i, tuple(sorted(of))) for i in inners) if p not in every)

    if len(dims) > 1:
        add([lags[-2]], (DELTA, NONE, SECOND))
    if len(dims) > 2:
        add([lags[-2], lags[-3]], (DELTA, SECOND))
        add([lags[-3]], (DELTA, NONE))
    if len(dims) > 3:
        add([lags[0]], (DELTA,))
    return every


def choose(q, dims, tables):
    """Returns the prediction that `auto` takes with these extents."""
    among = candidates(dims)
    if len(q) < LEAST_TO_SAMPLE:
        return among[0]
    return min(among, key=lambda p: estimated_bytes(q, p, tables))  # the first of equal ones


class CodedField:
    """The differences and widths of a field's integers, and the sizes of frames made of them."""

    def __init__(self, q, dims, prediction=None):
        self.prediction = prediction or choose(q, dims, tables_now)
        self.d, self.base = differences(in_chunks(without_lags(q, self.prediction.lags)), self.prediction.inner)
        self.widths = widths_of(self.d)

    @property
    def fixed(self):
        """Bytes beside the records: header, lags and index."""
        return HEADER_BYTES + 4 * len(self.prediction.lags) + 4 * (len(self.d) + 1)

    def bytes(self, tables, block=BLOCK):
        """Returns the size of the frame, with blocks of this size, or of the best of several for each chunk."""
        blocks = block if isinstance(block, tuple) else (block,)
        records = [record_bytes(widths_of(self.d, b), self.base, tables, b) for b in blocks]
        return self.fixed + int(numpy.min(records, 0).sum())

    @functools.cached_property
    def payload(self):
        """The bytes of all records, with dense nibbles or bytes as width tables, for a stage behind the codec."""
        cuts = numpy.cumsum(self.widths.sum(1))[:-1]
        records = []
        for planes, base, widths in zip(numpy.split(self._planes(), cuts), self.base, self.widths.astype(numpy.uint8)):
            if len(planes):
                table = widths[::2] | widths[1::2] << 4 if widths.max() < 16 else widths
                records += [base.tobytes(), planes.tobytes(), table.tobytes()]
            elif base:
                records.append(base.tobytes())
        return b"".join(records)

    def _planes(self):
        """Returns the planes of all blocks, sign plane first."""
        blocks, widths = self.d.reshape(-1, BLOCK), self.widths.reshape(-1)
        ends = numpy.cumsum(widths)
        planes = numpy.zeros(int(ends[-1]), numpy.uint8)
        for width in numpy.unique(widths[widths > 0]):
            of = widths == width
            for k in range(width):
                planes[ends[of] - 1 - k] = (blocks[of] >> k & 1) @ (1 << numpy.arange(BLOCK))
        return planes

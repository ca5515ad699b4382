"""Decodes the payload of zfp frames (src/compressor/codecs/zfp/spec.md) for decode_frame.py: slow, and without libzfp.
Fields of one and two dimensions. zfp's own stream as zfp.readthedocs.io describes it under "Algorithm": a
block's exponent, bit planes of negabinary coefficients from the highest on, each a group test at a time, the
inverse transform, and the scale."""
import math
import struct
from fractions import Fraction

EDGE, TILE, MAX_BITS, FORM_SHIFT = 4, 65536, 16658, 30
CODED, STORED, REPAIRED = 0, 1, 2
GROUP = 64
RATE = 4  # kind of the bound


class Bits:
    """A reader of bits, the lowest bit of the first byte first; zeros after the end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        first, self.at = self.at, self.at + n
        word = int.from_bytes(self.data[first // 8 : self.at // 8 + 1], "little")
        return word >> first % 8 & ((1 << n) - 1)


def read_coefficients(bits, width, planes, budget, size):
    """Reads negabinary integers of `width` bits: at most `planes` bit planes, and `budget` bits of the
    stream."""
    u, n = [0] * size, 0
    for k in range(width - 1, max(width - planes, 0) - 1, -1):
        if budget == 0:
            break
        m = min(n, budget)  # these were nonzero in a higher plane
        budget -= m
        plane = bits.take(m)
        while budget and n < size:
            budget -= 1
            if not bits.take(1):
                break
            while budget and n < size - 1:
                budget -= 1
                if bits.take(1):
                    break
                n += 1
            plane |= 1 << n
            n += 1
        for i in range(size):
            u[i] |= (plane >> i & 1) << k
    mask = sum(2 << 2 * i for i in range(width // 2))
    return [wrapped((v ^ mask) - mask, width) for v in u]


def wrapped(v, width):
    return ((v + (1 << width - 1)) & ((1 << width) - 1)) - (1 << width - 1)


def inverse_lift(x, y, z, w, width):
    y = wrapped(y + (w >> 1), width)
    w = wrapped(w - (y >> 1), width)
    y = wrapped(y + w, width)
    w = wrapped(2 * w - y, width)
    z = wrapped(z + x, width)
    x = wrapped(2 * x - z, width)
    y = wrapped(y + z, width)
    z = wrapped(2 * z - y, width)
    w = wrapped(w + x, width)
    x = wrapped(2 * x - w, width)
    return x, y, z, w


def scaled(i, exponent, kind):
    """Returns the bits of i 2^exponent: i rounded to the type, then the product."""
    try:
        (x,) = struct.unpack(kind.float, struct.pack(kind.float, float(i)))
        (bits,) = struct.unpack(kind.bits, struct.pack(kind.float, math.ldexp(x, exponent)))
    except OverflowError:
        bits = kind.of(math.copysign(math.inf, i))
    return bits


def decode_block(bits, kind, dims, exponent, budget):
    """Returns the bits of the block's values, the fastest index first. exponent: of the least plane, or None
    at a rate."""
    size, width, exponent_bits = EDGE**dims, 8 * kind.size, 8 if kind.size == 4 else 11
    end = bits.at + budget
    if not bits.take(1):
        if exponent is None:
            bits.at = end
        return [0] * size
    e = bits.take(exponent_bits) - ((1 << (exponent_bits - 1)) - 1)
    planes = width if exponent is None else max(0, e - exponent + 2 * dims + 2)
    p = read_coefficients(bits, width, planes, budget - 1 - exponent_bits, size)
    if exponent is None:
        bits.at = end
    if dims == 2:  # from the order of the stream, low frequencies first, to that of memory
        places = sorted(((x, y) for y in range(EDGE) for x in range(EDGE)),
                        key=lambda at: (sum(at), at[0] ** 2 + at[1] ** 2, -at[0]))
        coefficients, p = p, [0] * size
        for (x, y), value in zip(places, coefficients):
            p[x + EDGE * y] = value
        for x in range(EDGE):
            p[x::EDGE] = inverse_lift(*p[x::EDGE], width)
    for y in range(0, size, EDGE):
        p[y : y + EDGE] = inverse_lift(*p[y : y + EDGE], width)
    return [scaled(i, e - (width - 2), kind) for i in p]


def decode_stream(data, kind, extents, exponent, block_bits):
    """Returns the values of a tile in the order of memory, as bits."""
    stream, dims = Bits(data), len(extents)
    height, width = ([1] + extents)[-2:]
    values = [0] * (height * width)
    for y in range(0, height, EDGE if dims == 2 else 1):
        for x in range(0, width, EDGE):
            block = decode_block(stream, kind, dims, exponent, block_bits)
            for i, value in enumerate(block):
                if x + i % EDGE < width and y + i // EDGE < height:
                    values[(y + i // EDGE) * width + x + i % EDGE] = value
    return values


def read_number(data, at, require):
    number = 0
    for shift in range(0, 28, 7):
        require(at < len(data), "list is cut off")
        number |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return number, at
    require(False, "number is too long")


def apply_escapes(values, data, kind, require):
    at = place = 0
    while at < len(data):
        gap, at = read_number(data, at, require)
        length, at = read_number(data, at, require)
        place, n = place + gap, length // 2
        require(n > 0 and place + n <= len(values), "run")
        size = kind.size * (1 if length % 2 else n)
        require(at + size <= len(data), "values are cut off")
        run = kind.unpack(data[at : at + size])
        values[place : place + n] = run * n if length % 2 else run
        at, place = at + size, place + n


def class_map(data, n, require):
    """Returns the map's size, and the class of each value."""
    groups = (n + GROUP - 1) // GROUP
    at = (groups + 7) // 8
    require(at <= len(data), "map is cut off")
    classes = [0] * n
    for g in range(groups):
        if data[g // 8] >> g % 8 & 1:
            members = min(GROUP, n - g * GROUP)
            require(at + (members + 3) // 4 <= len(data), "map is cut off")
            for i in range(members):
                classes[g * GROUP + i] = data[at + i // 4] >> i % 4 * 2 & 3
            at += (members + 3) // 4
    return at, classes


def decode_at_rate(form, data, kind, extents, rate, require):
    n, least = math.prod(extents), 9 if kind.size == 4 else 12
    blocks = math.prod((e + EDGE - 1) // EDGE for e in extents)
    usual = max(least, math.floor(min(rate, 8 * kind.size) * EDGE ** len(extents) + 0.5))
    require(len(data) == (blocks * usual + 7) // 8, "size of a tile")
    bits, size, classes = usual, 0, [0] * n
    if form == REPAIRED:
        size, classes = class_map(data, n, require)
        bits = min(usual, (len(data) - size) * 8 // blocks)
        require(bits >= least, "map leaves too little")
    decoded = decode_stream(data[size:], kind, extents, None, bits)
    special = [None, math.nan, math.inf, -math.inf]
    greatest = kind.of((2 - Fraction(2) ** (1 - kind.precision)) * Fraction(2) ** kind.greatest_exponent)
    sign = 1 << (8 * kind.size - 1)
    finite = [b if math.isfinite(kind.value(b)) else greatest | b & sign for b in decoded]
    return [kind.of(special[c]) if c else b for c, b in zip(classes, finite)]


def decode_within(form, data, kind, extents, bound, require):
    require(bound >= 2.0 ** (-86 if kind.size == 4 else -948), "bound is too small for a stream")
    exponent, escapes = math.frexp(bound)[1] - 1, b""
    if form == REPAIRED:
        require(len(data) >= 4, "stream is cut off")
        (size,) = struct.unpack_from("<I", data)
        require(4 + size <= len(data), "stream is cut off")
        data, escapes = data[4 : 4 + size], data[4 + size :]
    values = decode_stream(data, kind, extents, exponent, MAX_BITS)
    apply_escapes(values, escapes, kind, require)
    return values


def tile_extents(extents):
    room, tile = TILE // EDGE ** (len(extents) - 1), []
    for extent in reversed(extents):
        tile.insert(0, min(extent, room // EDGE * EDGE))
        room = room * EDGE // ((tile[0] + EDGE - 1) // EDGE * EDGE)
    return tile


def decode(payload, kind, count, bound, bound_kind, dims, require):
    """Returns the bits of all values of a frame."""
    require(1 <= dims <= 4, "dimensions")
    require(bound > 0 and (bound_kind == 1 or bound_kind == RATE and bound <= 64), "bound")
    if dims > 2:
        raise NotImplementedError("zfp fields of three and four dimensions")
    if count == 0:
        require(dims == 1 and not payload, "payload of nothing")
        return []
    extents, at = [count], 0
    if dims > 1:
        at = 4 * dims
        require(len(payload) >= at, "extents are cut off")
        extents = list(struct.unpack_from(f"<{dims}I", payload))
        require(math.prod(extents) == count, "extents")
    height, width = ([1] + extents)[-2:]
    tile_height, tile_width = ([1] + tile_extents(extents))[-2:]
    corners = [(y, x) for y in range(0, height, tile_height) for x in range(0, width, tile_width)]
    require(len(payload) >= at + 4 * len(corners), "index is cut off")
    index = struct.unpack_from(f"<{len(corners)}I", payload, at)
    at += 4 * len(corners)
    require(at + sum(entry & (1 << FORM_SHIFT) - 1 for entry in index) == len(payload), "index")
    values = [0] * count
    for (y, x), entry in zip(corners, index):
        size, form = entry & (1 << FORM_SHIFT) - 1, entry >> FORM_SHIFT
        rows, columns = min(tile_height, height - y), min(tile_width, width - x)
        tile, record = [rows, columns][-dims:], payload[at : at + size]
        require(form <= REPAIRED and size <= kind.size * rows * columns, "form or size of a record")
        if form == STORED:
            require(size == kind.size * rows * columns, "size of a stored tile")
            decoded = kind.unpack(record)
        else:
            way = decode_at_rate if bound_kind == RATE else decode_within
            decoded = way(form, record, kind, tile, bound, require)
        for r in range(rows):
            values[(y + r) * width + x : (y + r) * width + x + columns] = decoded[r * columns : (r + 1) * columns]
        at += size
    return values

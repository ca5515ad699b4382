#!/usr/bin/env python3
"""Decodes frames by their specification alone (docs/spec/frame.md, src/compressor/codecs/*/spec.md): slow, without any
code of the library. decode_frame.py FRAME > VALUES writes the raw little-endian values. A frame with references is
decoded by decode(frame, references) alone."""
import math
import struct
import sys
from fractions import Fraction

import decode_blocks
import decode_exponents
import decode_grid
import decode_szx
import decode_widths
import decode_zfp

BLOCK, CHUNK = 8, 4096
BY_ADDEND = 3  # parameters[2]: one reference for each addend
STORED, FAILED, CHECKSUMMED = 1, 2, 4
RAW, PLANES, MPC, SZX, ZFP, EXPONENTS, BLOCKS = range(1, 8)
WIDE, PLANES, RUNS, LAYERS = 1, 2, 16, 32


class Damaged(ValueError):
    pass


def require(condition, what):
    if not condition:
        raise Damaged(what)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def state_of(number, count, data):
    """Returns the state number of an array by docs/spec/frame.md: `count` values of type `number`, which are `data`."""
    factor, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1

    def mixed(hash_, word):
        x = hash_ ^ word
        return (x << 29 | x >> 35) % (mask + 1) * factor & mask

    lanes = list(range(8))
    for i, (word,) in enumerate(struct.iter_unpack("<Q", data + bytes(64 - len(data) % 64))):
        lanes[i % 8] = mixed(lanes[i % 8], word)
    hash_ = mixed(count, number)
    for lane in lanes:
        hash_ = mixed(hash_, lane)
    hash_ = (hash_ ^ hash_ >> 32) * factor & mask
    return hash_ ^ hash_ >> 29


# Properties of each value type: format of its bits, parts of a value; for real types also their format, bits
# of the significand, exponents of the least number and of the greatest binade, bits of the integer of one
# value.
TYPES = {
    1: ("<I", 1, "<f", 24, -149, 127, 22), 2: ("<Q", 1, "<d", 53, -1074, 1023, 43), 3: ("<H", 1, "<e", 11, -24, 15, 22),
    4: ("<H", 1, "bfloat16", 8, -133, 127, 22), 5: ("<I", 2, "<f", 24, -149, 127, 22), 6: ("<Q", 2, "<d", 53, -1074, 1023, 43),
    7: ("<b", 1), 8: ("<B", 1), 9: ("<h", 1), 10: ("<H", 1), 11: ("<i", 1), 12: ("<I", 1), 13: ("<q", 1), 14: ("<Q", 1),
}


def single(x):
    """Returns a number rounded to float32."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def nearest(x):
    """Returns the nearest integer, ties to even; None: there is none."""
    return round(x) if math.isfinite(x) else None


class Type:
    """A value type. Real numbers, and the parts of complex numbers, are handled as their bits, integers as
    they are."""

    def __init__(self, number):
        require(number in TYPES, "type")
        self.bits, self.parts, *real = TYPES[number]
        self.size = struct.calcsize(self.bits)  # bytes of a part
        self.float = None  # an integer
        if real:
            self.float, self.precision, self.least, self.greatest_exponent, self.value_bits = real

    def unpack(self, data):
        return [b for (b,) in struct.iter_unpack(self.bits, data)]

    def value(self, bits):
        if self.float is None:
            return bits
        if self.float == "bfloat16":
            return struct.unpack("<f", struct.pack("<HH", 0, bits))[0]
        return struct.unpack(self.float, struct.pack(self.bits, bits))[0]

    def bits_of(self, value):
        """Returns the bits of a number that the type can represent."""
        if self.float == "bfloat16":
            return struct.unpack("<HH", struct.pack("<f", value))[1]
        return struct.unpack(self.bits, struct.pack(self.float, value))[0]

    def of(self, number):
        """Returns the bits of a float or Fraction, rounded to nearest, ties to even."""
        if isinstance(number, float) and (self.float != "bfloat16" or number == 0 or not math.isfinite(number)):
            try:  # struct rounds so
                return self.bits_of(math.nan if number != number else number)
            except OverflowError:
                return self.bits_of(math.copysign(math.inf, number))
        number = Fraction(number)
        if number == 0:
            return 0
        magnitude = abs(number)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent -= magnitude < Fraction(2) ** exponent
        unit = max(exponent - self.precision + 1, self.least)
        rounded = round(magnitude / Fraction(2) ** unit) * Fraction(2) ** unit  # Python rounds ties to even
        too_large = rounded >= Fraction(2) ** (self.greatest_exponent + 1)
        result = math.inf if too_large else float(rounded)
        return self.bits_of(math.copysign(result, number))

    def product(self, q, step):
        return self.of(float(q) * step)

    def nearest_integer(self, bits, step, most):
        """Returns the integer of a reference value, of at most `most` bits: that of rule 2 of "What an encoder writes"; 0:
        there is none."""
        value, most = self.value(bits), 1 << most
        if not math.isfinite(value):
            return 0
        if self.float != "<d":
            q = nearest(single(value * single(1 / step)))
            if q is not None and -(1 << 14) <= q < 1 << 14:
                return q
        q = nearest(value * (1 / step))
        return q if q is not None and -most <= q < most else 0

    def integer(self, bits, step):
        """Returns the integer that a value in a run or a layer counts as, or None."""
        value = self.value(bits)
        if not math.isfinite(value) or step == 0:
            return None
        q = round(Fraction(value) / Fraction(step))
        in_range = -(1 << self.value_bits) <= q < 1 << self.value_bits
        return q if in_range and self.product(q, step) == bits else None


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        require(self.at + size <= len(self.data), "record is cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def read(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))


def read_differences(planes, widths):
    differences, at = [], 0
    for width in widths:
        block = [0] * BLOCK
        for plane in planes[at : at + width]:
            block = [d << 1 | plane >> j & 1 for j, d in enumerate(block)]
        differences += [d - (d >> (width - 1) << width) if width else 0 for d in block]
        at += width
    return differences


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


def predicted(references, i):
    """Returns what the integers or words of one or two references, newest first, predict for place i."""
    return references[0][i] if len(references) == 1 else 2 * references[0][i] - references[1][i]


class Prediction:
    """The predictor inside a chunk, the lags across all chunks, and the integers of the references, for records that are
    not wide and for those that are: `integers` are what the lags gave so far, `refused` the flags that no record has."""

    def __init__(self, predictor, lags, references, wide_references, refused):
        self.predictor, self.lags, self.references, self.integers = predictor, lags, references, []
        self.wide_references, self.refused = wide_references, refused

    def undo_predictor(self, q, base, bits):
        for i in range(len(q)):
            one, two = (q[i - k] if i >= k else base for k in (1, 2))
            q[i] = signed(q[i] + (0, one, two, 2 * one - two)[self.predictor], bits)

    def before(self, distance):
        return self.integers[-distance] if distance <= len(self.integers) else 0

    def undo_earlier(self, q, bits):
        for i in range(len(q) if self.lags or self.references else 0):
            before = sum(map(self.before, self.lags))
            if len(self.lags) == 2:
                before -= self.before(sum(self.lags))
            q[i] = signed(q[i] + before, bits)
            self.integers.append(q[i])
            if self.references:
                references = self.wide_references if bits == 64 else self.references
                q[i] = signed(q[i] + predicted(references, len(self.integers) - 1), bits)


def decode_record(data, n, kind, step, prediction):
    if not data:
        q = [0] * n
        prediction.undo_earlier(q, 32)
        return [kind.product(integer, step) for integer in q]
    cursor = Cursor(data)
    flags, zero, plane_bytes = cursor.read("BBH")
    require(zero == 0, "record flags")
    require(prediction.references or not flags & decode_widths.TWO_BITS, "form of widths in a frame without references")
    require(not flags & prediction.refused, "record of a frame with lags or references")
    (base,) = cursor.read("q" if flags & WIDE else "i")
    require(prediction.predictor or base == 0, "base without a predictor")
    bits, blocks = (64 if flags & WIDE else 32), (n + BLOCK - 1) // BLOCK
    q = [0] * (blocks * BLOCK)
    if flags & PLANES:
        planes = cursor.take(plane_bytes)
        widths = decode_widths.read(cursor, blocks, flags, require)
        require(sum(widths) == plane_bytes > 0 and max(widths) <= bits, "widths")
        q = read_differences(planes, widths)
    else:
        require(plane_bytes == 0 and not flags & decode_widths.FORM, "planes without a flag")
    prediction.undo_predictor(q, base, bits)
    del q[n:]
    prediction.undo_earlier(q, bits)
    cursor.take(-cursor.at % 4)

    exact = [[] for _ in range(n)]

    def put(i, value):
        integer = kind.integer(value, step)
        if integer is None:
            exact[i].append(value)
        else:
            q[i] += integer

    if flags & RUNS:
        for _ in range(cursor.read("I")[0]):
            start, length, hold = cursor.read("HHq" if flags & WIDE else "HHi")
            (value,) = kind.unpack(cursor.take(kind.size))
            require(length > 0 and start + length <= n, "run")
            for i in range(start, start + length):
                q[i] -= hold
                put(i, value)
    if flags & LAYERS:
        for _ in range(cursor.read("I")[0]):
            for i, value in enumerate(kind.unpack(cursor.take(n * kind.size))):
                put(i, value)
    cursor.take(-cursor.at % 4)
    require(cursor.at == len(data), "record is too long")
    return [total(q[i], exact[i], kind, step) for i in range(n)]


def total(q, exact, kind, step):
    if not exact:
        return kind.product(q, step)
    if len(exact) == 1 and q == 0:
        return exact[0]
    values = [kind.value(bits) for bits in exact]
    if not all(map(math.isfinite, values)):
        return kind.of(sum(v for v in values if not math.isfinite(v)))
    return kind.of(sum(map(Fraction, values), Fraction(q) * Fraction(step)))


def take_last(data, size):
    require(size <= len(data), "record is cut off")
    return data[: len(data) - size], data[len(data) - size :]


def with_zeros(data, bitmap):
    """Inserts zeros: returns the bytes that `bitmap` (bytes) describes; `data` has the nonzero ones."""
    present = iter(data)
    return bytes(next(present) if bitmap[i // 8] >> i % 8 & 1 else 0 for i in range(8 * len(bitmap)))


def ones(bitmap):
    return sum(byte.bit_count() for byte in bitmap)


class Bits:
    """Parts of bytes, each a number of bits that begin at a byte."""

    def __init__(self, data):
        self.data = data

    def take(self, bits):
        size = (bits + 7) // 8
        require(size <= len(self.data), "part is cut off")
        part, self.data = int.from_bytes(self.data[:size], "little"), self.data[size:]
        require(part >> bits == 0, "bits after a part")
        return part

    def take_numbers(self, n, width):
        part = self.take(n * width)
        return [part >> i * width & (1 << width) - 1 for i in range(n)]


def decode_sparse_level(bits, m, width, levels):
    """Decodes m numbers, of which most are 0."""
    head = bits.take(24)
    n, more, b = (head & 0x7FFF) + 1, head >> 15 & 1, head >> 16
    require(levels > 0 and n <= m and b <= width - more, "head of a level")
    low = 0 if 4 * n > m else (m // n).bit_length() - 1
    upper = bits.take(m if 4 * n > m else n + ((m - 1) >> low))
    ones_at = [i for i in range(upper.bit_length()) if upper >> i & 1]
    require(len(ones_at) == n, "number of places")
    lower, values = bits.take_numbers(n, low), bits.take_numbers(n, b)
    places = ones_at if 4 * n > m else [(at - i) << low | lower[i] for i, at in enumerate(ones_at)]
    require(places == sorted(set(places)) and places[-1] < m, "places")
    rests = decode_sparse_level(bits, n, width, levels - 1) if more else [0] * n
    numbers = [0] * m
    for place, value, rest in zip(places, values, rests):
        numbers[place] = (1 + value + (rest << b)) % (1 << width)
    return numbers


def decode_sparse_record(data, n, size):
    bits = Bits(data[:-8])
    numbers = decode_sparse_level(bits, n, 8 * size, 4)
    require(len(bits.data) < 8 and not any(bits.data), "padding")
    return [(u >> 1 ^ -(u & 1)) % (1 << 8 * size) for u in numbers]


def decode_mpc_record(data, n, size, distance):
    """Decodes the n words of `size` bytes of one chunk."""
    units = (n * size + 3) // 4
    form = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}[size]
    if not data:
        return [0] * n
    require(len(data) <= 4 * units, "record is too long")
    if len(data) == 4 * units:
        return [w for (w,) in struct.iter_unpack(form, data[: n * size])]
    if len(data) > 8 and not any(data[-8:]) and len(data) != (8 + distance * size + 3) // 4 * 4:
        return decode_sparse_record(data, n, size)
    vectors = (n * size + 63) // 64
    data, top = take_last(data, 8)
    require(int.from_bytes(top, "little") >> vectors == 0, "flags of vectors that are not there")
    data, heads = take_last(data, distance * size)
    data, present = take_last(data, ones(top))
    flags = with_zeros(present, top)[:vectors]
    data, present = take_last(data, ones(flags))
    coded, bitmaps, before = with_zeros(present, flags), b"", bytes(size)
    for at in range(0, len(coded), size):
        before = bytes(a ^ b for a, b in zip(coded[at : at + size], before))
        bitmaps += before
    require(ones(bitmaps) <= len(data) < ones(bitmaps) + 4 and not any(data[ones(bitmaps) :]), "padding")
    planes = with_zeros(data, bitmaps)
    words, bits = [w for (w,) in struct.iter_unpack(form, heads)], 8 * size
    shift = int("10" * (bits // 2), 2)
    for i in range(n):
        block = planes[i // 8 * bits : (i // 8 + 1) * bits]
        digits = int("".join(str(plane >> i % 8 & 1) for plane in block), 2)
        before = words[i] if distance > 0 else 0
        words.append((before + (digits ^ shift) - shift) % (1 << bits))
    return words[distance:]


def take_references(payload, parameters, references, count):
    """Returns the values of the references that a payload names, and the rest of the payload."""
    n = 1 if parameters[2] == BY_ADDEND else parameters[2]
    require(n <= 2 and 8 * n <= len(payload), "references")
    require(n <= len(references), "the frame refers to an array that is not given")
    for state, (given, values) in zip(struct.unpack_from(f"<{n}Q", payload), references):
        require(state == given and len(values) == count, "the frame refers to another array than the one given")
    return [values for _, values in references[:n]], payload[8 * n :]


def take_lags(payload, n, count):
    require(n <= 2 and 4 * n <= len(payload), "lags")
    lags = struct.unpack_from(f"<{n}I", payload)
    require(all(64 <= lag < count for lag in lags) and list(lags) == sorted(lags), "lags")
    return lags, payload[4 * n :]


def decode_mpc(payload, kind, number, count, addends, parameters, references, exact):
    distance, bytes_ = parameters[0] & 15, count * kind.size
    require(addends == 1 and distance <= 8 and parameters[2] != BY_ADDEND, "parameters")
    require(parameters[1] == 0 or parameters[2] == 0, "lags and references")
    word_of, payload = decode_grid.take_grid(payload, kind, number, parameters, exact, require)
    references, payload = take_references(payload, parameters, references, count)
    lags, payload = take_lags(payload, parameters[1] & 127, count)
    records = split_records(payload, (bytes_ + 4095) // 4096)
    words = []
    for i, record in enumerate(records):
        words += decode_mpc_record(record, min(4096, bytes_ - i * 4096) // kind.size, kind.size, distance)
    for lag in lags:
        for i in range(lag, count):
            words[i] = (words[i] + words[i - lag]) % (1 << 8 * kind.size)
    if references:
        words = [(words[i] + predicted(references, i)) % (1 << 8 * kind.size) for i in range(count)]
    return kind.unpack(b"".join(word_of(word).to_bytes(kind.size, "little") for word in words))


def decode_exponents_payload(payload, count, spare):
    records = split_records(payload, (count + CHUNK - 1) // CHUNK)
    sizes = (min(CHUNK, count - i * CHUNK) for i in range(len(records)))
    return [b for record, n in zip(records, sizes) for b in decode_exponents.decode_record(record, n, spare, require)]


def split_records(payload, chunks):
    require(4 * (chunks + 1) <= len(payload), "index")
    offsets = struct.unpack_from(f"<{chunks + 1}I", payload)
    require(offsets[0] == 0 and list(offsets) == sorted(offsets), "index")
    records = payload[4 * (chunks + 1) :]
    require(4 * offsets[-1] == len(records), "index")
    return [records[4 * a : 4 * b] for a, b in zip(offsets, offsets[1:])]


def decode_planes(payload, kind, count, addends, parameters, step, references):
    predictor, chunks = parameters[0], (count + CHUNK - 1) // CHUNK
    require(predictor <= 3 and addends > 0 and (step > 0 or parameters[2] == 0), "parameters")
    references, payload = take_references(payload, parameters, references, count)
    lags, payload = take_lags(payload, parameters[1], count)
    by_addend = parameters[2] == BY_ADDEND
    require(not references or len(lags) <= (0 if by_addend else 1), "lags behind references")
    times = 1 if by_addend else addends

    def integers(most):
        return [[times * kind.nearest_integer(b, step, most) for b in values] for values in references]

    any_wide = by_addend or not lags and (not references or kind.float == "<d")
    refused = (0 if any_wide else WIDE) | (0 if by_addend or not lags and not references else LAYERS)
    bits, prediction = [], Prediction(predictor, lags, integers(22), integers(22 if by_addend else 43), refused)
    for i, record in enumerate(split_records(payload, chunks)):
        bits += decode_record(record, min(CHUNK, count - i * CHUNK), kind, step, prediction)
    return bits


def decode(frame, references=()):
    """Returns the frame's type and the bits of its values, complex values by their parts; raises Damaged.
    `references`: the arrays that the frame may refer to, newest first, each as (state number, bits of its values)."""
    require(len(frame) >= 64, "shorter than a header")
    (magic, version, codec, number, flags, count, bound, step, size, addends, parameters, checksum, _, bound_kind, zero,
     crc) = struct.unpack("<4sBBBBQddQI4sIIB3sI", frame[:64])
    require(magic == b"TAUT" and version == 1 and zero == bytes(3) and crc == crc32c(frame[:60]), "header")
    require(bound_kind < 5 and (bound == 0) == (bound_kind == 0), "bound")
    require(flags < 8 and not flags & FAILED and RAW <= codec <= BLOCKS, "flags or codec")
    kind, payload = Type(number), frame[64 : 64 + size]
    require(len(payload) == size, "payload is cut off")
    require(count <= 1 << 30 and -(-count // 65536) <= -(-size // 4), "count of values")
    require(checksum == (crc32c(payload) if flags & CHECKSUMMED else 0), "checksum")
    count *= kind.parts
    if codec == ZFP:
        require(addends == 1 and not flags & STORED, "addends or flags")
        return kind, decode_zfp.decode(payload, kind, count, bound, bound_kind, parameters[0], require)
    if codec == BLOCKS:
        require(number in (1, 3, 4) and bound_kind == 4 and addends == 1 and not flags & STORED, "type, bound, addends or flags")
        return kind, decode_blocks.decode(payload, count, kind, bound, require)
    if codec == RAW or flags & STORED:
        require(size == count * kind.size and (codec != PLANES or parameters[1:3] == bytes(2)), "stored values")
        return kind, kind.unpack(payload)
    if codec == MPC:
        return kind, decode_mpc(payload, kind, number, count, addends, parameters, references, bound_kind == 0)
    if codec == EXPONENTS:
        require(number in (3, 4) and addends == 1, "type or addends")
        return kind, decode_exponents_payload(payload, count, 3 if number == 3 else 0)
    require(number <= 6, "integers under a bound")
    if codec == SZX:
        return kind, decode_szx.decode_payload(payload, count, kind, step, addends, parameters, require)
    return kind, decode_planes(payload, kind, count, addends, parameters, step, references)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        of_type, decoded = decode(file.read())
    sys.stdout.buffer.write(b"".join(struct.pack(of_type.bits, b) for b in decoded))

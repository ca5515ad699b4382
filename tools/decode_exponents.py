"""Decodes records of the exponents codec, by src/compressor/codecs/exponents/spec.md alone. decode_frame.py uses it."""
import struct

GROUP, CHUNK, SECOND_WIDTH = 64, 4096, 4


def decode_record(data, n, spare, require):
    """Returns the bits of n values; `spare`: the number of spare bits of a value."""
    if not data:
        return [0] * n
    units = (2 * n + 3) // 4
    require(len(data) <= 4 * units, "record is too long")
    if len(data) == 4 * units:
        return list(struct.unpack_from(f"<{n}H", data))
    return Record(data, require).values(n, spare)[:n]


class Record:
    def __init__(self, data, require):
        self.data, self.require, self.at = data, require, 0

    def take(self, size):
        self.require(self.at + size <= len(self.data), "record is cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, groups, width):
        """Returns numbers of `width` bits, 64 for each group, from their planes."""
        planes = struct.unpack(f"<{groups * width}Q", self.take(8 * groups * width))
        return [
            sum((planes[g * width + k] >> i & 1) << k for k in range(width)) for g in range(groups) for i in range(GROUP)
        ]

    def codes(self, groups, width):
        book = self.take((1 << width) - 1)
        return book, self.numbers(groups, width)

    def symbols(self, codes, escapes):
        """Returns the symbols of codes; `escapes` are those that the book lacks."""
        book, codes = codes
        self.require(sum(code == len(book) for code in codes) == len(escapes), "escapes")
        escapes = iter(escapes)
        return [next(escapes) if code == len(book) else book[code] for code in codes]

    def values(self, n, spare):
        groups = (n + GROUP - 1) // GROUP
        width, flags, escapes, raw, low = struct.unpack("<BBHHH", self.take(8))
        self.require(1 <= width <= 4 and flags <= 1 and escapes <= groups * GROUP and raw <= escapes, "header")
        first, second = self.codes(groups, width), None
        if escapes > 0:
            second = self.codes((escapes + GROUP - 1) // GROUP, SECOND_WIDTH)
        raw, more = self.take(raw), []
        if second is not None:
            more = self.symbols(second, raw)[:escapes]
        self.require(second is not None or not raw, "raw")
        symbols = self.symbols(first, more)
        spare_bits = self.numbers(groups, spare) if spare else [0] * len(symbols)
        bytes_ = iter(self.take(low))
        there = [symbol != 0 or flags == 0 for symbol in symbols]
        self.require(low == sum(there), "low bytes")
        rest = self.data[self.at :]
        self.require(len(rest) < 4 and not any(rest), "padding")
        high = [(symbol << spare | e) & 0xFF for symbol, e in zip(symbols, spare_bits)]
        rotated = [h << 8 | (next(bytes_) if t else 0) for h, t in zip(high, there)]
        return [u >> 1 | (u & 1) << 15 for u in rotated]

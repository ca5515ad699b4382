"""Decodes payloads of the blocks codec, by src/compressor/codecs/blocks/spec.md alone. decode_frame.py uses it."""
import struct

BLOCK = 64


def codes_of(data, rate):
    """Returns the 64 signed codes of a block."""
    if rate == 8:
        codes = list(data)
    else:
        codes = [data[i % 32] >> 4 * (i // 32) & 15 for i in range(BLOCK)]
    if rate == 6:
        codes = [c | (data[32 + i % 16] >> 2 * (i // 16) & 3) << 4 for i, c in enumerate(codes)]
    return [c - (1 << rate) if c >> (rate - 1) else c for c in codes]


def decode(payload, count, kind, rate, require):
    """Returns the bits of `count` values of a real type."""
    require(rate in (8, 6, 4), "rate")
    rate, blocks = int(rate), -(-count // BLOCK)
    front = -(-2 * blocks // 16) * 16
    require(len(payload) == front + blocks * 8 * rate, "size of the payload")
    most, values = (1 << rate - 1) - 1, []
    greatest = (2 - 2.0 ** (1 - kind.precision)) * 2.0**kind.greatest_exponent
    for b in range(blocks):
        (bits,) = struct.unpack_from("<H", payload, 2 * b)
        require(bits & 0x7FFF < 0x7F80, "scale")
        (scale,) = struct.unpack("<f", struct.pack("<I", (bits & 0x7FFF) << 16))
        special = {-most - 1: float("nan"), most: float("inf"), -most: -float("inf")} if bits >> 15 else {}
        codes = codes_of(payload[front + b * 8 * rate :][: 8 * rate], rate)
        values += [special.get(c, min(max(c * scale, -greatest), greatest)) for c in codes]
    return [kind.of(x) for x in values[:count]]

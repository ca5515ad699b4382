"""Decodes payloads of the szx codec, by src/compressor/codecs/szx/spec.md alone. decode_frame.py uses it."""
import math
import struct

BLOCK, CHUNK = 64, 5120
HOLED, SAME, RAW = 128, 254, 255


def decode_payload(payload, count, kind, step, addends, parameters, require):
    """Returns the bits of the values; `kind` as in decode_frame.py."""
    mantissa = math.frexp(step)[0] * 16
    least, greatest = (2.0**-121, 2.0**100) if kind.size == 4 else (2.0**-1001, 2.0**960)
    require(mantissa == int(mantissa) and least <= step <= greatest, "step")
    require(addends == 1 and parameters == bytes(4) and count <= 1 << 30, "parameters")
    chunks = (count + CHUNK - 1) // CHUNK
    require(4 * chunks <= len(payload), "index")
    ends = [0, *struct.unpack_from(f"<{chunks}I", payload)]
    records = payload[4 * chunks :]
    require(ends == sorted(ends) and 4 * ends[-1] == len(records), "index")
    bits = []
    for i in range(chunks):
        n = min(CHUNK, count - i * CHUNK)
        bits += Record(records[4 * ends[i] : 4 * ends[i + 1]], kind, step, require).values(n)[:n]
    return bits


class Record:
    def __init__(self, data, kind, step, require):
        self.data, self.kind, self.step, self.require, self.at = data, kind, step, require, 0

    def take(self, size):
        self.require(self.at + size <= len(self.data), "record is cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def values(self, n):
        kind = self.kind
        if not self.data:
            return [0] * n
        form, distance_bytes, zero = struct.unpack("<BBH", self.take(4))
        self.require(form <= 2 and zero == 0 and (form == 2 or distance_bytes == 0) and distance_bytes <= kind.size, "form")
        if form == 0:
            bits = kind.unpack(self.take(n * kind.size))
        else:
            base = self.low(int.from_bytes(self.take(kind.size), "little", signed=True))
            bits = [kind.product(base, self.step)] * n if form == 1 else self.blocks((n + BLOCK - 1) // BLOCK, base, distance_bytes)
        if form == 2:
            self.take(-self.at % 4)
        self.require(self.at == len(self.data), "record is too long")
        return bits

    def blocks(self, blocks, base, distance_bytes):
        codes = self.take(blocks)
        distances = [self.take(blocks) for _ in range(distance_bytes)]
        bits = []
        for b, code in enumerate(codes):
            bits += self.block(code, self.low(base + sum(d[b] << 8 * k for k, d in enumerate(distances))))
        return bits

    def block(self, code, low):
        kind = self.kind
        if code >= SAME:
            return kind.unpack(self.take(kind.size)) * BLOCK if code == SAME else kind.unpack(self.take(kind.size * BLOCK))
        width = code % HOLED
        self.require(width <= (20 if kind.size == 4 else 43), "code")
        holes, fill = 0, 0
        if code >= HOLED:
            holes = int.from_bytes(self.take(8), "little")
            (fill,) = kind.unpack(self.take(kind.size))
        offsets = [0] * BLOCK
        for k in range(width // 8):
            offsets = [o | byte << 8 * k for o, byte in zip(offsets, self.take(BLOCK))]
        for k in range(width - width % 8, width):
            plane = int.from_bytes(self.take(8), "little")
            offsets = [o | (plane >> i & 1) << k for i, o in enumerate(offsets)]
        return [fill if holes >> i & 1 else kind.product(low + o, self.step) for i, o in enumerate(offsets)]

    def low(self, q):
        """Returns q modulo the integer's size, and checks its range."""
        half, limit = 1 << (8 * self.kind.size - 1), 1 << (19 if self.kind.size == 4 else 42)
        q = (q + half) % (2 * half) - half
        self.require(-limit <= q < limit, "low")
        return q

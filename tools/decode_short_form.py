"""Reads the short form of planes records, by src/compressor/codecs/planes/spec.md alone. decode_frame.py uses it."""


def read_planes(cursor, plane_bytes, blocks, low, require):
    """Returns planes and widths of a record, the planes as in the usual form."""
    planes = cursor.take(plane_bytes)
    codes = int.from_bytes(cursor.take((blocks + 3) // 4), "little")
    require(codes >> 2 * blocks == 0, "codes of blocks that are not there")
    codes = [codes >> 2 * b & 3 for b in range(blocks)]
    halves = []

    def nibble():
        if not halves:
            (byte,) = cursor.take(1)
            halves.extend((byte & 15, byte >> 4))
        return halves.pop(0)

    widths = []
    for code in codes:
        width = nibble() if code == 3 else low + code
        widths.append(width + nibble() if code == 3 and width == 15 else width)
    require(sum(1 if w == 2 else w for w in widths) == plane_bytes > 0, "widths")
    starts = [sum(1 if w == 2 else w for w in widths[:b]) for b in range(blocks)]
    masks = [planes[at] if w == 2 else 0 for at, w in zip(starts, widths)]
    signs = int.from_bytes(cursor.take((sum(bin(m).count("1") for m in masks) + 7) // 8), "little")
    usual = bytearray()
    for at, width, mask in zip(starts, widths, masks):
        if width != 2:
            usual += planes[at : at + width]
            continue
        negative = 0
        for j in range(8):
            if mask >> j & 1:
                negative |= (signs & 1) << j
                signs >>= 1
        usual += bytes((negative, mask))
    return bytes(usual), widths

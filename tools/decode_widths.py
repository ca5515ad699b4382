"""Tables of widths in planes records (src/compressor/codecs/planes/spec.md), for decode_frame.py."""

DENSE, BYTES, TWO_BITS = 4, 8, 128
FORM = DENSE | BYTES | TWO_BITS


def read_entries(cursor, n, flags):
    if flags & BYTES:
        return list(cursor.take(n))
    return [half for byte in cursor.take((n + 1) // 2) for half in (byte & 15, byte >> 4)][:n]


def read_named(cursor, blocks, flags, require):
    (names,), half = cursor.read("H"), (blocks + 1) // 2
    require(names < 1 << 12, "names of widths")
    pairs = read_entries(cursor, half + half % 2, 0)
    entries = [pair & 3 for pair in pairs[:half]] + [pair >> 2 for pair in pairs[:half]]
    require(not any(pairs[half:]) and not any(entries[blocks:]), "entries of blocks that are not there")
    others = iter(read_entries(cursor, entries[:blocks].count(3), flags))
    return [names >> 4 * entry & 15 if entry < 3 else next(others) for entry in entries[:blocks]]


def read(cursor, blocks, flags, require):
    """Returns the widths of all blocks of a chunk."""
    if flags & TWO_BITS:
        return read_named(cursor, blocks, flags, require)
    coded = list(range(blocks))
    if not flags & DENSE:
        bitmap = int.from_bytes(cursor.take((blocks + 7) // 8), "little")
        require(bitmap >> blocks == 0, "bitmap names blocks that are not there")
        coded = [b for b in range(blocks) if bitmap >> b & 1]
    entries = read_entries(cursor, len(coded), flags)
    widths = [0] * blocks
    for block, width in zip(coded, entries):
        widths[block] = width
    return widths

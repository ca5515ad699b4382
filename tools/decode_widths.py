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


def read_sparse_bitmap(cursor, size, require):
    marks = int.from_bytes(cursor.take((size + 7) // 8), "little")
    require(marks >> size == 0, "marks of bytes that are not there")
    stored = cursor.take(marks.bit_count())
    require(0 not in stored, "stored bytes of 0")
    following = iter(stored)
    return bytes(next(following) if marks >> i & 1 else 0 for i in range(size))


def read(cursor, blocks, flags, require):
    """Returns the widths of all blocks of a chunk."""
    form = flags & (DENSE | TWO_BITS)
    if form == TWO_BITS:
        return read_named(cursor, blocks, flags, require)
    coded = list(range(blocks))
    if form != DENSE:
        size = (blocks + 7) // 8
        bitmap = int.from_bytes(read_sparse_bitmap(cursor, size, require) if form else cursor.take(size), "little")
        require(bitmap >> blocks == 0, "bitmap names blocks that are not there")
        coded = [b for b in range(blocks) if bitmap >> b & 1]
    entries = read_entries(cursor, len(coded), flags)
    widths = [0] * blocks
    for block, width in zip(coded, entries):
        widths[block] = width
    return widths

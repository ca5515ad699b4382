"""Reads the grids of mpc frames, by src/compressor/codecs/mpc/spec.md alone. decode_frame.py uses it."""
import math
import struct


def take_grid(payload, kind, number, parameters, exact, require):
    """Returns a function from codes of the frame's grid to words, and the rest of the payload."""
    form = parameters[0] & 48
    if form == 0:
        return int, payload
    require(form != 48 and number in (1, 2, 5, 6) and exact and parameters[2] == 0 and len(payload) >= 16, "grid")
    step, offset = struct.unpack_from("<2d", payload)
    require(0 < step < math.inf and math.isfinite(offset), "grid")
    half, center = (1 << 21, 0x7FA00000) if kind.size == 4 else (1 << 50, 0x7FF4000000000000)

    def word_of(code):
        q, off = divmod(code - center + 2, 4)
        value = (q / step if form == 32 else q * step) + offset
        return (kind.of(value) + off - 2) % (1 << 8 * kind.size) if abs(code - center) < half else code

    return word_of, payload[16:]

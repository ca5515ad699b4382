"""Reads the grids of mpc frames, by src/compressor/codecs/mpc/spec.md alone. decode_frame.py uses it."""
import math
import struct


def take_grid(payload, kind, number, parameters, exact, require):
    """Returns a function from codes of the frame's grid, less its base, to words, and the rest of the payload."""
    form, has_unit, has_base = parameters[0] & 48, parameters[0] & 64, parameters[0] & 128
    integers = parameters[1] & 128
    if form == 0:
        require(not has_unit and not has_base and not integers, "unit, base or integers")
        return int, payload
    size = 16 + 8 * (bool(has_unit) + bool(has_base))
    require(form != 48 and number in (1, 2, 5, 6) and exact and parameters[2] == 0 and len(payload) >= size, "grid")
    step, offset, *units = struct.unpack_from("<3d" if has_unit else "<2d", payload)
    require(0 < step < math.inf and math.isfinite(offset), "grid")
    single = kind.size == 4
    half, center = (1 << 21, 0x7FA00000) if single else (1 << 50, 0x7FF4000000000000)
    unit = units[0] if units else 0
    limit, shift = unit * (1 << (22 if single else 51)), unit * (3 << (22 if single else 51))
    if has_unit:
        require(math.frexp(unit)[0] == 0.5, "unit")
        require((-126 <= math.frexp(unit)[1] - 1 <= 100) if single else (-1022 <= math.frexp(unit)[1] - 1 <= 900), "unit")

    (base,) = struct.unpack_from("<Q", payload, size - 8) if has_base else (0,)

    def word_of(rest):
        code = (rest + base) % (1 << 8 * kind.size)
        q, off = (code - center, 2) if integers else divmod(code - center + 2, 4)
        word = kind.of((q / step if form == 32 else q * step) + offset)
        if abs(code - center) >= half:
            return code
        if abs(kind.value(word)) < limit:
            return kind.of(kind.value(kind.of(kind.value(word) + shift) + off - 2) - shift)
        return (word + off - 2) % (1 << 8 * kind.size)

    return word_of, payload[size:]

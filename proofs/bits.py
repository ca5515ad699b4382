"""Certificates of integer arithmetic: the operations of the codecs on bits, proven by z3 for all inputs.

A certificate is a function that returns claims by name. It takes the name of a mutation, or None; under each of its
mutations z3 has to refute at least one claim. The quotations (`source:`, then lines with a bar) are compared with the
code by quotations.py.
"""

from z3 import (
    And, BitVec, BitVecSort, BitVecVal, Concat, Extract, FP, Float32, FPSort, If, Implies, LShR, Not, Or, RNE, SignExt, ULE,
    ULT, ZeroExt, fpAbs, fpAdd, fpBVToFP, fpFPToFP, fpIsNaN, fpLT, fpSignedToFP,
    fpToIEEEBV, fpToSBV,
)

from gappa import parameters

P = parameters()


def bit(v, i):
    return Extract(i, i, v)


def from_bits(bits):
    """Returns the vector of these bits, the lowest first."""
    return Concat(*reversed(bits)) if len(bits) > 1 else bits[0]


# ---- Bit-sliced addition


def sliced_addition(mutation):
    """source: src/compressor/codecs/planes/kernels/slices/slices.hpp
    | const typename R::Register differ = a.plane[p] ^ b.plane[p];
    | sum.plane[p] = differ ^ carry;
    | carry = (a.plane[p] & b.plane[p]) | (differ & carry);
    """
    claims = {}
    for width in range(1, 65):
        a, b, carry, planes = BitVec("a", width), BitVec("b", width), BitVecVal(0, 1), []
        for p in range(width):
            differ = bit(a, p) ^ bit(b, p)
            planes.append(differ ^ carry)
            through = BitVecVal(0, 1) if mutation == "carry_not_propagated" else differ & carry
            carry = (bit(a, p) & bit(b, p)) | through
        claims[f"{width} bits"] = from_bits(planes) == a + b
    return claims


def sliced_width(mutation):
    """source: src/compressor/codecs/planes/kernels/slices/slices.hpp
    | const typename R::Register next = p == 0 ? zero : s.plane[p - 1];
    | changed = changed | (s.plane[p] ^ next);
    | width = R::add_bytes(width, R::equal_zero(changed));
    """
    claims = {}
    for width in (8, 16, 32):
        d = BitVec("d", width)
        changed, kept = BitVecVal(0, 1), BitVecVal(width, 8)
        for p in reversed(range(width)):
            below = BitVecVal(0, 1) if p == 0 else bit(d, p - 1)
            if p == 0 and mutation == "last_plane_repeats":
                below = bit(d, 0)
            changed = changed | (bit(d, p) ^ below)
            kept = kept + If(changed == 0, BitVecVal(255, 8), BitVecVal(0, 8))
        claims[f"{width} bits"] = kept == width_of(d)
    return claims


# ---- Planes of a block


def transpose8(x, masks=(0x00AA00AA00AA00AA, 0x0000CCCC0000CCCC, 0x00000000F0F0F0F0)):
    """source: src/compressor/simd/scalar.hpp
    | std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA;
    | x ^= t ^ (t << 7);
    | t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC;
    | x ^= t ^ (t << 14);
    | t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0;
    | return x ^ t ^ (t << 28);
    """
    for mask, shift in zip(masks, (7, 14, 28)):
        t = (x ^ LShR(x, shift)) & mask
        x = x ^ t ^ (t << shift)
    return x


def transposition(mutation):
    x = BitVec("x", 64)
    masks = (0x00AA00AA00AA00AA, 0x0000CCCC0000CCCC, 0x00000000F0F0F0F0)
    y = transpose8(x, masks[:1] + masks[:1] + masks[2:] if mutation == "mask" else masks)
    claims = {"bits": And(*[bit(y, 8 * i + k) == bit(x, 8 * k + i) for i in range(8) for k in range(8)])}
    claims["its own inverse"] = transpose8(y) == x
    return claims


def zigzag(d):
    """source: src/compressor/codecs/planes/format/block.hpp
    | return (static_cast<Bits>(d) << 1) ^ static_cast<Bits>(d >> (8 * sizeof(Int) - 1));
    """
    return (d << 1) ^ (d >> (d.size() - 1))


def bit_width(v):
    """Returns std::bit_width(v) in 8 bits."""
    width = BitVecVal(0, 8)
    for i in range(v.size()):
        width = If(bit(v, i) == 1, BitVecVal(i + 1, 8), width)
    return width


def width_of(d):
    return bit_width(zigzag(d))


def fits(d, width):
    """Returns the claim that d is the sign extension of its lowest `width` bits; 0 bits: d is 0."""
    return d == 0 if width == 0 else d == SignExt(d.size() - width, Extract(width - 1, 0, d)) if width < d.size() else d == d


def widths(mutation):
    claims = {}
    for size in (32, 64):
        d = BitVec("d", size)
        zigzagged = zigzag(LShR(d, 1) if mutation == "halved" else d)
        for width in range(size + 1):
            claims[f"{size} bits, width {width}"] = ULE(bit_width(zigzagged), width) == fits(d, width)
    return claims


def byte(v, i):
    return Extract(8 * i + 7, 8 * i, v)


def swapped(v):
    return Concat(*[byte(v, i) for i in range(8)])


def write_block(d, width):
    """Returns the bytes of the planes.

    source: src/compressor/codecs/planes/format/block.hpp
    | store(out, __builtin_bswap64(simd::transpose8x8(bytes)) >> ((64 - 8 * planes) % 64));
    | for (unsigned row = (width + 7) / 8; row-- > 0;) {
    | std::uint64_t bytes = 0;
    | for (std::size_t i = 0; i < block_values; ++i)
    | bytes |= static_cast<std::uint64_t>(d[i] >> (8 * row) & 0xFF) << (8 * i);
    | out = write_planes(out, bytes, std::min(8u, width - 8 * row));
    """
    out = []
    for row in reversed(range((width + 7) // 8)):
        planes = min(8, width - 8 * row)
        rows = LShR(swapped(transpose8(Concat(*[byte(one, row) for one in reversed(d)]))), 64 - 8 * planes)
        out += [byte(rows, i) for i in range(planes)]
    return out


def read_block(bytes_, width, size):
    """Returns the integers of a block.

    source: src/compressor/codecs/planes/format/block.hpp
    | simd::transpose8x8(__builtin_bswap64(load<std::uint64_t>(in)) >> absent << absent));
    | const unsigned planes = std::min(8u, width - done), absent = 8 - planes;
    | d[i] = done == 0 ? Int{bytes[i]} >> absent
    | : static_cast<Int>(d[i] << planes | static_cast<std::uint8_t>(bytes[i]) >> absent);
    """
    d = [BitVecVal(0, size)] * 8
    padded = list(bytes_) + [BitVec(f"behind{i}", 8) for i in range(8)]
    for done in range(0, width, 8):
        planes = min(8, width - done)
        absent, gone = 8 - planes, 64 - 8 * planes
        rows = transpose8(LShR(swapped(Concat(*reversed(padded[done : done + 8]))), gone) << gone)
        for i in range(8):
            if done == 0:
                d[i] = SignExt(size - 8, byte(rows, i)) >> absent
            else:
                d[i] = (d[i] << planes) | ZeroExt(size - 8, LShR(byte(rows, i), absent))
    return d


def blocks(mutation):
    claims = {}
    for size in (32, 64):
        for width in range(size + 1):
            d = [BitVec(f"d{i}", size) for i in range(8)]
            written = write_block(d, width)
            if mutation == "planes_in_reverse":
                written.reverse()
            back = read_block(written, width, size)
            needed = And(*[fits(one, width) for one in d])
            claims[f"{size} bits, width {width}"] = Implies(needed, And(*[a == b for a, b in zip(d, back)]))
    return claims


def sign_extension(mutation):
    """source: src/compressor/codecs/planes/kernels/avx512/planes.hpp
    | return _mm512_sub_epi8(_mm512_xor_si512(u, s), s);
    | return _mm512_sub_epi16(_mm512_xor_si512(_mm512_shuffle_epi8(u, order), s), s);
    | return _mm512_sub_epi32(_mm512_xor_si512(_mm512_permutexvar_epi8(order32(), u), sign), sign);
    """
    claims = {}
    for size in (8, 16, 32):
        for width in range(1, size + 1):
            d = BitVec("d", size)
            u = d & ((1 << width) - 1)
            sign = BitVecVal(1 << (width if mutation == "sign_above" else width - 1), size)
            claims[f"{size} bits, width {width}"] = Implies(fits(d, width), (u ^ sign) - sign == d)
    return claims


# ---- Predictors


def differences(q, base_of, predictor):
    """The differences that the scalar kernel set computes.

    source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | for (std::size_t i = 0; i < back; ++i) d.data[i] = subtract_wrapping(q[i], q[0]);
    | for (std::size_t i = back; i < n; ++i) d.data[i] = subtract_wrapping(q[i], q[i - back]);
    | for (std::size_t i = n; i-- > 1;) d.data[i] = subtract_wrapping(d.data[i], d.data[i - 1]);
    """
    back = {"delta": 1, "pairs": 2, "second": 1}[predictor]
    d = [q[i] - base_of for i in range(back)] + [q[i] - q[i - back] for i in range(back, len(q))]
    if predictor == "second":
        d = d[:1] + [d[i] - d[i - 1] for i in range(1, len(d))]
    return d


def integers(d, base, predictor, mutation=None):
    """The integers that the scalar kernel set computes from differences.

    source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | for (std::size_t i = 1; i < n; ++i) q.data[i] = add_wrapping(q.data[i - 1], q.data[i]);
    | for (std::size_t i = 0; i < back; ++i) q.data[i] = add_wrapping(in.base, q.data[i]);
    | for (std::size_t i = back; back > 0 && i < n; ++i) q.data[i] = add_wrapping(q.data[i - back], q.data[i]);
    """
    back = {"delta": 1, "pairs": 2, "second": 1}[predictor]
    q = list(d)
    if predictor == "second" and mutation != "one_sum":
        for i in range(1, len(q)):
            q[i] = q[i - 1] + q[i]
    for i in range(back):
        q[i] = base + q[i]
    for i in range(back, len(q)):
        q[i] = q[i - (1 if mutation == "wrong_lag" else back)] + q[i]
    return q


def predictors(mutation):
    claims = {}
    for size in range(1, 65):
        for predictor in ("delta", "pairs", "second"):
            a = [BitVec(f"a{i}", size) for i in range(9)]
            b = [BitVec(f"b{i}", size) for i in range(9)]
            own = integers(differences(a, a[0], predictor), a[0], predictor, mutation)
            claims[f"{predictor}, {size} bits, back"] = And(*[x == y for x, y in zip(own, a)])
            both = [x + y for x, y in zip(differences(a, a[0], predictor), differences(b, b[0], predictor))]
            total = integers(both, a[0] + b[0], predictor, mutation)
            claims[f"{predictor}, {size} bits, sum"] = And(*[t == x + y for t, x, y in zip(total, a, b)])
    return claims


def lags(mutation):
    """source: src/compressor/codecs/planes/kernels/sources.hpp
    | room[i] = subtract_wrapping(add_wrapping(q[i], both[i]), add_wrapping(a[i], b[i]));

    source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | group[i] = add_wrapping(residual[i], subtract_wrapping(add_wrapping(a[i], b[i]), both[i]));
    """
    q, a, b, both = (BitVec(name, 32) for name in ("q", "a", "b", "both"))
    residual = (q + both) - (a + b)
    prediction = (a + b) + both if mutation == "sign" else (a + b) - both
    return {"two lags": residual + prediction == q}


# ---- Rounding


def to_integer(mutation):
    """source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(s + 0x1.8p23f) -
    | std::bit_cast<std::uint32_t>(0x1.8p23f));
    """
    s, rounder = FP("s", Float32()), 12582912.0
    limit = 2.0 ** (23 if mutation == "farther" else 22)
    bits = fpToIEEEBV(fpAdd(RNE(), s, rounder)) - BitVecVal(0x4B400000, 32)
    nearest = fpToSBV(RNE(), s, BitVecSort(32))
    return {"float": Implies(And(Not(fpIsNaN(s)), fpLT(fpAbs(s), limit)), bits == nearest)}


def to_bfloat(mutation):
    """source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | return bf16::of_bits(static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
    """
    bits = BitVec("bits", 32)
    x = fpBVToFP(bits, Float32())
    half = BitVecVal(0x8000 if mutation == "ties_away" else 0x7FFF, 32)
    rounded = Extract(31, 16, bits + half + (LShR(bits, 16) & 1))
    reference = fpFPToFP(RNE(), x, FPSort(8, 8))
    return {"all but NaN": Implies(Not(fpIsNaN(x)), fpBVToFP(rounded, FPSort(8, 8)) == reference)}


def jammed(mutation):
    """source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | const std::int32_t v = q.data[i], jammed = (v & ~0xFF) | ((v & 0xFF) != 0 ? 0x80 : 0);
    | to[i] = static_cast<Half>(static_cast<float>((v >= 1 << 24) | (v <= -(1 << 24)) ? jammed : v) * step);
    """
    v = BitVec("v", 32)
    short = (v & ~0xFF) | (BitVecVal(0, 32) if mutation == "bits_dropped" else If(v & 0xFF != 0, BitVecVal(0x80, 32), BitVecVal(0, 32)))
    used = If(Or(v >= 1 << 24, v <= -(1 << 24)), short, v)
    claims = {}
    for name, significand in (("float16", P["float16_significand"]), ("bfloat16", P["bfloat16_significand"])):
        half = FPSort(8, significand)  # the exponents of float: the step keeps them in range
        by_way_of_float = fpFPToFP(RNE(), fpSignedToFP(RNE(), used, Float32()), half)
        claims[name] = by_way_of_float == fpSignedToFP(RNE(), v, half)
    return claims


def mantissas(mutation):
    """Rounding of `dropped` mantissa bits, for every type and number of bits.

    source: src/compressor/codecs/mpc/rounding.hpp
    | const Word less_than_half = static_cast<Word>((Word{1} << (r.dropped - 1)) - 1);
    | const Word even = bits >> r.dropped & 1;
    | return static_cast<Word>(static_cast<Word>(bits + less_than_half + even) >> r.dropped << r.dropped);
    """
    claims = {}
    for size, all_ in ((16, 7), (16, 10), (32, 23), (64, 52)):
        for dropped in range(1, all_ + 1):
            claims[f"{size} bits, {dropped} of {all_} dropped"] = rounds_to_nearest(size, all_, dropped, mutation)
    return claims


def rounds_to_nearest(size, all_, dropped, mutation):
    """Returns the claim that a normal magnitude is rounded to nearest, ties to even, and within the bound of theorem 7."""
    x = BitVec("x", size)
    half, unit = 1 << (dropped - 1), 1 << dropped
    even = BitVecVal(1, size) if mutation == "ties_up" else LShR(x, dropped) & 1
    less = half if mutation == "half_up" else half - 1
    c = LShR(x + less + even, dropped) << dropped
    rest, down = x & (unit - 1), x & ~(unit - 1)
    odd = LShR(x, dropped) & 1 == 1
    nearest = If(Or(ULT(half, rest), And(rest == half, odd)), down + unit, down)
    distance = If(ULT(x, c), c - x, x - c)
    wide = 2 * all_ + 4
    significand = ZeroExt(wide - all_, Extract(all_ - 1, 0, x)) + (1 << all_)
    away = ZeroExt(wide - all_, Extract(all_ - 1, 0, distance))
    infinity = ((1 << (size - 1 - all_)) - 1) << all_
    normal = And(ULE(1 << all_, x), ULT(x, infinity - half))
    within = ULE(away * ((1 << all_) + half), significand << (dropped - 1))
    return Implies(normal, And(c == nearest, ULE(distance, half), within, ULT(c, infinity)))


def ranges(mutation):
    """source: src/compressor/codecs/planes/format/quantiser.hpp
    | constexpr bool within(std::int64_t q, int bits) noexcept { return (q ^ (q >> 63)) >> bits == 0; }

    source: src/compressor/codecs/planes/kernels/kernel_set.hpp
    | seen |= static_cast<std::make_unsigned_t<Wide>>(v) + (1u << small_bits);
    | return seen >> (small_bits + 1) == 0;
    """
    q, claims = BitVec("q", 64), {}
    for bits in (P["planes_small_bits"], P["planes_large_bits"], P["planes_wide_bits"]):
        limit = 1 << bits
        claims[f"within {bits} bits"] = ((q ^ (q >> 63)) >> bits == 0) == And(q >= -limit, q < limit)
    small = 1 << P["planes_small_bits"]
    shift = P["planes_small_bits"] + (2 if mutation == "one_more_bit" else 1)
    for size in (32, 64):
        a, b = BitVec("a", size), BitVec("b", size)
        seen = (a + small) | (b + small)
        claims[f"all small, {size} bits"] = (LShR(seen, shift) == 0) == And(a >= -small, a < small, b >= -small, b < small)
    return claims


def round_numbers(mutation):
    """A product as near to a number as keeps_round_numbers asks is rounded to that number.

    source: src/compressor/codecs/planes/format/quantiser.hpp
    | return std::abs(std::fma(parts, static_cast<double>(step), -1.0)) <= std::numeric_limits<T>::epsilon() / 4;
    """
    claims = {}
    for name in ("float32", "float64"):
        bits = P[f"{name}_significand"]
        below = bits + 2  # bits of the product below the last one of a number
        size = bits + below + 2
        number, product = BitVec("number", size), BitVec("product", size)
        exact = number << below
        away = If(ULT(product, exact), exact - product, product - exact)
        near = ULE(away, LShR(exact, bits if mutation == "twice_as_far" else bits + 1))
        # The numbers below the least significand are half as far apart.
        short = ULT(product, 1 << (bits - 1 + below))
        down = If(short, LShR(product, below - 1) << (below - 1), LShR(product, below) << below)
        unit = If(short, BitVecVal(1 << (below - 1), size), BitVecVal(1 << below, size))
        rest, half = product - down, LShR(unit, 1)
        odd = down & unit != 0
        rounded = If(Or(ULT(half, rest), And(rest == half, odd)), down + unit, down)
        normal = And(ULE(1 << (bits - 1), number), ULT(number, 1 << bits))
        claims[name] = Implies(And(normal, near), rounded == exact)
    return claims


# Certificates with their mutations.
CERTIFICATES = {
    sliced_addition: ["carry_not_propagated"],
    sliced_width: ["last_plane_repeats"],
    transposition: ["mask"],
    widths: ["halved"],
    blocks: ["planes_in_reverse"],
    sign_extension: ["sign_above"],
    predictors: ["wrong_lag", "one_sum"],
    lags: ["sign"],
    to_integer: ["farther"],
    to_bfloat: ["ties_away"],
    jammed: ["bits_dropped"],
    mantissas: ["ties_up", "half_up"],
    ranges: ["one_more_bit"],
    round_numbers: ["twice_as_far"],
}

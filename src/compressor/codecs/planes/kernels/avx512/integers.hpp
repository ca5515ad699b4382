// AVX-512: conversion between groups of 64 differences and their integers, the quantised values: prefix sums
// one way, differences the other way. C is the number of bits in which a group holds a difference: 8, 16
// or 32. Included by kernel_set.cpp and values.hpp only.
#pragma once

#include "compressor/codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

// ---- Prefix sums

// Returns in every lane the index of the last lane before lane `lane`; for pairs, of the last one of the same
// parity.
template <Predictor P>
inline __m512i index_of_last_before(int lane) {
  const __m512i last = _mm512_set1_epi32(lane - 1);
  return P == Predictor::pairs ? _mm512_mask_sub_epi32(last, 0x5555, last, _mm512_set1_epi32(1)) : last;
}

// Computes the inclusive prefix sum over 16 lanes; for pairs, over the even and the odd lanes separately.
template <Predictor P>
inline __m512i prefix_sum(__m512i v) {
  if constexpr (P != Predictor::pairs) v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 4));
  v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 8));
  const __m512i quarter =
      _mm512_mask_blend_epi32(0xFF00, index_of_last_before<P>(4), index_of_last_before<P>(12));
  v = _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xF0F0, quarter, v));
  return _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xFF00, index_of_last_before<P>(8), v));
}

// Spreads lanes: lane l of register r takes from lane (16 r + l) / Per of a register with `Per` differences a
// lane.
template <unsigned Per>
inline __m512i spread(__m512i v, unsigned r) {
  const std::uint32_t* const lanes =
      Avx512::constants<std::uint32_t, 16 * Per>([](unsigned i) { return i / Per; });
  return _mm512_permutexvar_epi32(_mm512_load_si512(lanes + 16 * r), v);
}

// ---- Integers of a group from its differences. `carry` holds, in every lane, the last integer before the
// group

// 64 integers of 32 bits, in order unless a function says otherwise.
struct Integers {
  __m512i part[4];
};

// Returns the differences of a group as 32-bit integers.
inline Integers widened(const Group<8>& d) {
  const __m512i one_hot = _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x100, 0x10000, 0x1000000));
  Integers q;
  for (unsigned r = 0; r < 4; ++r)
    q.part[r] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), one_hot, spread<4>(d.part[0], r));
  return q;
}
inline Integers widened(const Group<16>& d) {
  Integers q;
  for (unsigned h = 0; h < 2; ++h) {
    q.part[2 * h] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(d.part[h]));
    q.part[2 * h + 1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(d.part[h], 1));
  }
  return q;
}
inline Integers widened(const Group<32>& d) { return {{d.part[0], d.part[1], d.part[2], d.part[3]}}; }

// Returns the sum of the carry and of all lanes before each lane of `sums`, and adds all lanes to the carry.
inline __m512i exclusive_prefix_sum(__m512i sums, __m512i& carry) {
  const __m512i inclusive = prefix_sum<Predictor::delta>(sums);
  const __m512i before = _mm512_add_epi32(_mm512_sub_epi32(inclusive, sums), carry);
  carry = _mm512_add_epi32(carry,
                           _mm512_permutexvar_epi32(index_of_last_before<Predictor::delta>(16), inclusive));
  return before;
}

// Integers of a group in 32-bit lanes of four bytes or two words. With Differences, `d` holds differences and
// `before` the integer before each lane. Otherwise `d` holds integers, and `before` is 0.
template <unsigned C, bool Differences>
struct Lanes {
  Group<C> d;
  __m512i before[C / 8];
};

// Sums the differences within each lane first, then across lanes.
inline Lanes<8, true> lane_sums(const Group<8>& d, __m512i& carry) {
  const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), d.part[0]);
  return {d, {exclusive_prefix_sum(sums, carry)}};
}
inline Lanes<16, true> lane_sums(const Group<16>& d, __m512i& carry) {
  Lanes<16, true> s{d, {}};
  for (unsigned h = 0; h < 2; ++h) {
    const __m512i sums = _mm512_dpwssd_epi32(_mm512_setzero_si512(), _mm512_set1_epi16(1), d.part[h]);
    s.before[h] = exclusive_prefix_sum(sums, carry);
  }
  return s;
}

// Returns the integers in order. The products with a triangle of ones add the differences of a lane up to
// each position.
[[gnu::always_inline]] inline Integers in_order(const Lanes<8, true>& s) {
  const __m512i triangle = _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x101, 0x10101, 0x1010101));
  Integers q;
  for (unsigned r = 0; r < 4; ++r)
    q.part[r] = _mm512_dpbusd_epi32(spread<4>(s.before[0], r), triangle, spread<4>(s.d.part[0], r));
  return q;
}
[[gnu::always_inline]] inline Integers in_order(const Lanes<16, true>& s) {
  const __m512i triangle = _mm512_set1_epi64(0x0001000100000001);
  Integers q;
  for (unsigned r = 0; r < 4; ++r)
    q.part[r] =
        _mm512_dpwssd_epi32(spread<2>(s.before[r / 2], r % 2), triangle, spread<2>(s.d.part[r / 2], r % 2));
  return q;
}
template <unsigned C>
Integers in_order(const Lanes<C, false>& s) {
  return widened(s.d);
}
inline const Integers& in_order(const Integers& q) { return q; }

// Returns integers in the lanes that held their differences, which takes no permutations. With C = 8, lane l
// of part k has the integer 4 l + k; with C = 16, lane l of part 2 h + k has the integer 32 h + 2 l + k.
template <bool Differences>
[[gnu::always_inline]] inline Integers in_lane_order(const Lanes<8, Differences>& s) {
  Integers q;
  for (unsigned k = 0; k < 4; ++k) {
    const __m512i weights = _mm512_set1_epi32(Differences ? 0x1010101 >> 8 * (3 - k) : 1 << 8 * k);
    q.part[k] = _mm512_dpbusd_epi32(s.before[0], weights, s.d.part[0]);
  }
  return q;
}
template <bool Differences>
[[gnu::always_inline]] inline Integers in_lane_order(const Lanes<16, Differences>& s) {
  Integers q;
  for (unsigned r = 0; r < 4; ++r) {
    const __m512i weights = _mm512_set1_epi32(r % 2 == 0 ? 1 : Differences ? 0x10001 : 0x10000);
    q.part[r] = _mm512_dpwssd_epi32(s.before[r / 2], weights, s.d.part[r / 2]);
  }
  return q;
}

// ---- Prediction from earlier integers

// Returns the predictions of 16 integers from `first` on.
inline __m512i predicted_part(const EarlierIntegers& earlier, std::size_t first) {
  const __m512i near = _mm512_loadu_si512(earlier.near + first);
  if (earlier.far == nullptr) return near;
  const __m512i far = _mm512_loadu_si512(earlier.far + first),
                both = _mm512_loadu_si512(earlier.both + first);
  return _mm512_sub_epi32(_mm512_add_epi32(near, far), both);
}

inline Integers with_predicted(const Integers& r, const EarlierIntegers& earlier, std::size_t first) {
  Integers sum;
  for (unsigned k = 0; k < 4; ++k)
    sum.part[k] = _mm512_add_epi32(r.part[k], predicted_part(earlier, first + 16 * k));
  return sum;
}

// State that a group passes to the next group, in every lane.
struct Carry {
  __m512i integer = _mm512_setzero_si512();     // the last integer; for pairs, the last of the lane's parity
  __m512i difference = _mm512_setzero_si512();  // for second differences: the last difference
};

// Replaces integers by their running sums, which start from `carry`, and advances the carry.
template <Predictor P>
inline void replace_by_running_sums(Integers& q, __m512i& carry) {
  for (__m512i& part : q.part) {
    const __m512i inclusive = prefix_sum<P>(part);
    part = _mm512_add_epi32(inclusive, carry);
    carry = _mm512_add_epi32(carry, _mm512_permutexvar_epi32(index_of_last_before<P>(16), inclusive));
  }
}

// Returns the integers of a group of differences: as Lanes where the differences are short and P is none or
// delta, otherwise as Integers.
template <Predictor P, unsigned C>
auto integers(const Group<C>& d, __m512i& carry) {
  if constexpr (P == Predictor::delta && C < 32) {
    return lane_sums(d, carry);
  } else if constexpr (P == Predictor::none && C < 32) {
    Lanes<C, false> lanes{d, {}};
    for (__m512i& before : lanes.before) before = _mm512_setzero_si512();
    return lanes;
  } else {
    Integers q = widened(d);
    if constexpr (P != Predictor::none) replace_by_running_sums<P>(q, carry);
    return q;
  }
}

// Transposes the lanes of a register as a 4 x 4 matrix.
inline __m512i transposed4x4(__m512i v) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

// Returns the integers of a group in order. Lane l of v[k] was the integer 4 l + k before its register was
// transposed.
inline Integers interleaved(const __m512i (&v)[4]) {
  const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpacklo_epi32(v[2], v[3]),
                c = _mm512_unpackhi_epi32(v[0], v[1]), d = _mm512_unpackhi_epi32(v[2], v[3]);
  return {{_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b), _mm512_unpacklo_epi64(c, d),
           _mm512_unpackhi_epi64(c, d)}};
}

// Four second differences a lane, as bytes, or as words in two registers. plus_weighted() returns, for each
// lane, base + the sum of the differences times their weights. The bytes of `Weights` are the weights, the
// highest byte that of the first difference.
template <unsigned C>
struct Quads;

template <>
struct Quads<8> {
  __m512i bytes;
  explicit Quads(const Group<8>& d) : bytes(d.part[0]) {}
  Quads(__m512i v) : bytes(v) {}
  Quads transposed() const { return transposed4x4(bytes); }
  template <unsigned Weights>
  __m512i plus_weighted(__m512i base) const {
    return _mm512_dpbusd_epi32(base, _mm512_set1_epi32(static_cast<int>(__builtin_bswap32(Weights))), bytes);
  }
};

template <>
struct Quads<16> {
  __m512i first, last;  // two differences each
  explicit Quads(const Group<16>& d)
      : Quads(_mm512_permutex2var_epi32(d.part[0], evens(0), d.part[1]),
              _mm512_permutex2var_epi32(d.part[0], evens(1), d.part[1])) {}
  Quads(__m512i a, __m512i b) : first(a), last(b) {}
  Quads transposed() const { return {transposed4x4(first), transposed4x4(last)}; }
  template <unsigned Weights>
  __m512i plus_weighted(__m512i base) const {
    base = _mm512_dpwssd_epi32(base, pair(Weights >> 24, Weights >> 16 & 255), first);
    return (Weights & 0xFFFF) == 0 ? base
                                   : _mm512_dpwssd_epi32(base, pair(Weights >> 8 & 255, Weights & 255), last);
  }
  static __m512i evens(int offset) {
    return _mm512_add_epi32(_mm512_set1_epi32(offset),
                            _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
  }
  static __m512i pair(unsigned a, unsigned b) { return _mm512_set1_epi32(static_cast<int>(a | b << 16)); }
};

// Integers of second differences. With the difference D and the integer Q before a lane, difference k is D +
// d[0] + .. + d[k] and integer k is Q + (k + 1) D + (k + 1) d[0] + k d[1] + .. + d[k]. The work is split into
// two steps: the first step of a group can overlap the second step of the group before.
template <unsigned C>
struct SecondDifferences {
  Quads<C> quads;
  __m512i before;  // D

  SecondDifferences(const Group<C>& d, Carry& carry)
      : quads(d),
        before(exclusive_prefix_sum(quads.template plus_weighted<0x01010101>(_mm512_setzero_si512()),
                                    carry.difference)) {}

  Integers integers(Carry& carry) const {
    const Quads<C> d = quads.transposed();
    const __m512i sums = quads.template plus_weighted<0x04030201>(_mm512_slli_epi32(before, 2));
    const __m512i Q = transposed4x4(exclusive_prefix_sum(sums, carry.integer)), D = transposed4x4(before);
    const __m512i twice = _mm512_slli_epi32(D, 1), one = _mm512_add_epi32(Q, D);
    const __m512i two = _mm512_add_epi32(Q, twice);
    return interleaved({d.template plus_weighted<0x01000000>(one), d.template plus_weighted<0x02010000>(two),
                        d.template plus_weighted<0x03020100>(_mm512_add_epi32(one, twice)),
                        d.template plus_weighted<0x04030201>(_mm512_add_epi32(two, twice))});
  }
};

template <Predictor P, unsigned C>
auto integers(const Group<C>& d, Carry& carry) {
  if constexpr (P != Predictor::second) {
    return integers<P>(d, carry.integer);
  } else {
    Integers q = integers<Predictor::delta>(d, carry.difference);
    replace_by_running_sums<Predictor::delta>(q, carry.integer);
    return q;
  }
}

// ---- Differences

// Check whether differences fit `Bits` bits. narrow() collects in `seen` the bits of all differences plus
// half the range; a difference out of range then has bits above the lowest `Bits`.
template <unsigned C, unsigned Bits>
struct Fit {
  __m512i seen = _mm512_setzero_si512();
  bool holds() const {
    if constexpr (C == 32) return true;
    constexpr auto beyond = static_cast<unsigned>(~std::uint64_t{0} << Bits);
    const __m512i bits =
        C == 8 ? _mm512_set1_epi16(static_cast<short>(beyond)) : _mm512_set1_epi32(static_cast<int>(beyond));
    return _mm512_test_epi32_mask(seen, bits) == 0;
  }
};

// Computes the differences of a group. `previous`: the register before the group; on return, the last
// register of the group.
template <Predictor P>
Group<32> differences(const Integers& q, Carry& previous) {
  constexpr int back = 16 - static_cast<int>(predictor_distance(P));
  Group<32> d;
  for (unsigned r = 0; r < 4; ++r) {
    d.part[r] = _mm512_sub_epi32(q.part[r], _mm512_alignr_epi32(q.part[r], previous.integer, back));
    previous.integer = q.part[r];
    if constexpr (P == Predictor::second) {
      const __m512i first = d.part[r];
      d.part[r] = _mm512_sub_epi32(first, _mm512_alignr_epi32(first, previous.difference, back));
      previous.difference = first;
    }
  }
  return d;
}

// Returns differences in C bits; `fit` tells whether they fit.
template <unsigned C, unsigned Bits>
Group<C> narrow(const Group<32>& d, Fit<C, Bits>& fit) {
  constexpr int half_of_range = C == 32 ? 0 : 1 << (Bits - 1);
  if constexpr (C == 32) {
    return d;
  } else if constexpr (C == 16) {
    const __m512i half_range = _mm512_set1_epi32(half_of_range);
    Group<16> out;
    for (unsigned i = 0; i < 2; ++i) {
      const __m512i a = d.part[2 * i], b = d.part[2 * i + 1];
      fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi32(a, half_range),
                                           _mm512_add_epi32(b, half_range), 0xFE);
      out.part[i] =
          _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), _mm512_packs_epi32(a, b));
    }
    return out;
  } else {
    const __m512i half_range = _mm512_set1_epi16(half_of_range);
    const __m512i a = _mm512_packs_epi32(d.part[0], d.part[1]), b = _mm512_packs_epi32(d.part[2], d.part[3]);
    fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi16(a, half_range),
                                         _mm512_add_epi16(b, half_range), 0xFE);
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return {{_mm512_permutexvar_epi32(order, _mm512_packs_epi16(a, b))}};
  }
}

// ---- Differences of small integers, in words

// 64 integers of 16 bits, in order.
struct Words {
  __m512i part[2];
};

// Check of Fit for differences in words.
template <unsigned Bits>
struct WordFit {
  __m512i seen = _mm512_setzero_si512();
  bool holds() const {
    return Bits == 16 ||
           _mm512_test_epi16_mask(seen, _mm512_set1_epi16(static_cast<short>(~0u << Bits))) == 0;
  }
};

// Computes the differences of a group of integers of 16 bits. `previous`: the register before the group; on
// return, the last register of the group.
template <Predictor P>
Words differences(const Words& q, __m512i& previous) {
  Words d;
  for (unsigned r = 0; r < 2; ++r) {
    const __m512i pairs_before = _mm512_alignr_epi32(q.part[r], previous, 15);
    const __m512i before =
        P == Predictor::pairs ? pairs_before : _mm512_shldi_epi32(q.part[r], pairs_before, 16);
    d.part[r] = _mm512_sub_epi16(q.part[r], before);
    previous = q.part[r];
  }
  return d;
}

template <unsigned C, unsigned Bits>
Group<C> narrow(const Words& d, WordFit<Bits>& fit) {
  if constexpr (Bits < 16) {
    const __m512i half_range = _mm512_set1_epi16(1 << (Bits - 1));
    fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi16(d.part[0], half_range),
                                         _mm512_add_epi16(d.part[1], half_range), 0xFE);
  }
  if constexpr (C == 16) {
    return {{d.part[0], d.part[1]}};
  } else {
    const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    return {{_mm512_permutexvar_epi64(order, _mm512_packs_epi16(d.part[0], d.part[1]))}};
  }
}

template <unsigned C>
Group<C> plus(const Group<C>& a, const Group<C>& b) {
  Group<C> sum;
  for (unsigned i = 0; i < C / 8; ++i) {
    if constexpr (C == 8) sum.part[i] = _mm512_add_epi8(a.part[i], b.part[i]);
    if constexpr (C == 16) sum.part[i] = _mm512_add_epi16(a.part[i], b.part[i]);
    if constexpr (C == 32) sum.part[i] = _mm512_add_epi32(a.part[i], b.part[i]);
  }
  return sum;
}

}  // namespace
}  // namespace taut::planes

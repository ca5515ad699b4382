// AVX-512: groups of 64 differences <-> integers. Included by avx512.cpp only.
#pragma once

#include "codecs/planes/avx512_group.hpp"

namespace taut::planes {
namespace {

// ---- Prefix sums

inline __m512i scan(__m512i v) {  // inclusive, over 16 lanes
  v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 4));
  v = _mm512_add_epi32(v, _mm512_bslli_epi128(v, 8));
  v = _mm512_add_epi32(
      v, _mm512_maskz_permutexvar_epi32(
             0xF0F0, _mm512_set_epi32(11, 11, 11, 11, 11, 11, 11, 11, 3, 3, 3, 3, 3, 3, 3, 3), v));
  return _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xFF00, _mm512_set1_epi32(7), v));
}

// 64 integers from 64 differences; `carry` holds the last integer in every lane.
struct Integers {
  __m512i part[4];
};

// Lane l of register r takes from lane (16 r + l) / per of a register with `per` differences a lane.
template <unsigned Per>
inline __m512i spread(__m512i v, unsigned r) {
  static constexpr struct Index {
    alignas(64) std::uint32_t of[Per][16];
    constexpr Index() : of() {
      for (unsigned r = 0; r < Per; ++r)
        for (unsigned l = 0; l < 16; ++l) of[r][l] = (16 * r + l) / Per;
    }
  } index;
  return _mm512_permutexvar_epi32(_mm512_load_si512(index.of[r]), v);
}

inline __m512i last_lane(__m512i v) { return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v); }

// Sums of the differences of each 32-bit lane up to its own place in the spread-out register.
inline __m512i triangle8() { return _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x101, 0x10101, 0x1010101)); }
inline __m512i triangle16() { return _mm512_set1_epi64(0x0001000100000001); }

template <Predictor P>
Integers integers(const Group<8>& d, __m512i& carry) {
  Integers q;
  if constexpr (P == Predictor::none) {
    const __m512i one_hot = _mm512_broadcast_i32x4(_mm_setr_epi32(0x1, 0x100, 0x10000, 0x1000000));
    for (unsigned r = 0; r < 4; ++r)
      q.part[r] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), one_hot, spread<4>(d.part[0], r));
  } else {
    const __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), d.part[0]);
    const __m512i upto = scan(sums);
    const __m512i before = _mm512_add_epi32(_mm512_sub_epi32(upto, sums), carry);
    carry = _mm512_add_epi32(carry, last_lane(upto));
    for (unsigned r = 0; r < 4; ++r)
      q.part[r] = _mm512_dpbusd_epi32(spread<4>(before, r), triangle8(), spread<4>(d.part[0], r));
  }
  return q;
}

template <Predictor P>
Integers integers(const Group<16>& d, __m512i& carry) {
  Integers q;
  for (unsigned h = 0; h < 2; ++h) {
    if constexpr (P == Predictor::none) {
      q.part[2 * h] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(d.part[h]));
      q.part[2 * h + 1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(d.part[h], 1));
    } else {
      const __m512i sums = _mm512_dpwssd_epi32(_mm512_setzero_si512(), _mm512_set1_epi16(1), d.part[h]);
      const __m512i upto = scan(sums);
      const __m512i before = _mm512_add_epi32(_mm512_sub_epi32(upto, sums), carry);
      carry = _mm512_add_epi32(carry, last_lane(upto));
      for (unsigned r = 0; r < 2; ++r)
        q.part[2 * h + r] = _mm512_dpwssd_epi32(spread<2>(before, r), triangle16(), spread<2>(d.part[h], r));
    }
  }
  return q;
}

template <Predictor P>
Integers integers(const Group<32>& d, __m512i& carry) {
  Integers q;
  for (unsigned r = 0; r < 4; ++r) {
    if constexpr (P == Predictor::none) {
      q.part[r] = d.part[r];
    } else {
      const __m512i upto = scan(d.part[r]);
      q.part[r] = _mm512_add_epi32(upto, carry);
      carry = _mm512_add_epi32(carry, last_lane(upto));
    }
  }
  return q;
}

// ---- Differences

// Whether all differences seen so far fit `Bits` bits: bits beyond show in `seen` once half the range is
// added.
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

inline Group<32> differences(const Integers& q, __m512i& previous) {
  Group<32> d;
  for (unsigned r = 0; r < 4; ++r) {
    d.part[r] = _mm512_sub_epi32(q.part[r], _mm512_alignr_epi32(q.part[r], previous, 15));
    previous = q.part[r];
  }
  return d;
}

template <unsigned C, unsigned Bits>
Group<C> narrow(const Group<32>& d, Fit<C, Bits>& fit) {
  constexpr int half = C == 32 ? 0 : 1 << (Bits - 1);
  if constexpr (C == 32) {
    return d;
  } else if constexpr (C == 16) {
    const __m512i h = _mm512_set1_epi32(half);
    Group<16> out;
    for (unsigned i = 0; i < 2; ++i) {
      const __m512i a = d.part[2 * i], b = d.part[2 * i + 1];
      fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi32(a, h), _mm512_add_epi32(b, h), 0xFE);
      out.part[i] =
          _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), _mm512_packs_epi32(a, b));
    }
    return out;
  } else {
    const __m512i h = _mm512_set1_epi16(half);
    const __m512i a = _mm512_packs_epi32(d.part[0], d.part[1]), b = _mm512_packs_epi32(d.part[2], d.part[3]);
    fit.seen = _mm512_ternarylogic_epi32(fit.seen, _mm512_add_epi16(a, h), _mm512_add_epi16(b, h), 0xFE);
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return {{_mm512_permutexvar_epi32(order, _mm512_packs_epi16(a, b))}};
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

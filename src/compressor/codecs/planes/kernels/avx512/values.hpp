// AVX-512: conversion between values of each type and groups of integers. Included by kernel_set.cpp only.
#pragma once

#include "compressor/codecs/planes/kernels/avx512/halves.hpp"
#include "compressor/codecs/planes/kernels/avx512/integers.hpp"

namespace taut::planes {
namespace {

// Quantises values: group(g) returns the integers of group g, and words(g) those of bfloat16 as 16-bit words.
// After all groups, small() tells if every integer has at most `Bits` bits. Beyond small_bits the integers of
// floats are computed in double.
template <class T, int Bits = small_bits>
class ValueReader {
 public:
  ValueReader(const T* values, const Quantiser<T>& z)
      : values_(values), scale_(1 / static_cast<double>(z.step)) {
    if constexpr (sizeof(T) < 8) inverse_ = _mm512_set1_ps(z.inverse);
  }

  [[gnu::always_inline]] Integers group(std::size_t g) {
    Integers q;
    for (unsigned r = 0; r < 4; ++r) q.part[r] = part(values_ + g * group_values + 16 * r);
    for (unsigned r = 0; r < 4; r += 2) note_range(q.part[r], q.part[r + 1]);
    return q;
  }

  [[gnu::always_inline]] Words words(std::size_t g) requires std::is_same_v<T, bf16> {
    Words q;
    for (unsigned r = 0; r < 2; ++r) q.part[r] = words_of(values_ + g * group_values + 32 * r);
    return q;
  }

  bool small() const {
    return _mm512_test_epi32_mask(seen_, _mm512_set1_epi32(static_cast<int>(~0u << (Bits + 1)))) == 0;
  }

 private:
  // Notes if an integer leaves the range -2^Bits <= q < 2^Bits: q + 2^Bits then has bits above bit Bits. NaN
  // and values that no integer holds convert to INT_MIN, which is out of the range.
  void note_range(__m512i a, __m512i b) {
    const __m512i h = _mm512_set1_epi32(1 << Bits);
    seen_ = _mm512_ternarylogic_epi32(seen_, _mm512_add_epi32(a, h), _mm512_add_epi32(b, h), 0xFE);
  }

  __m512i words_of(const bf16* x) {
    const __m512i pairs = _mm512_loadu_si512(x);
    const __m512i first = quantised(first_floats(pairs)), second = quantised(second_floats(pairs));
    note_range(first, second);
    return joined(_mm512_slli_epi32(first, 16), _mm512_slli_epi32(second, 16));
  }

  __m512i quantised(__m512 x) const {
    return _mm512_cvt_roundps_epi32(_mm512_mul_ps(x, inverse_), to_nearest);
  }
  template <class Short>
  __m512i part(const Short* x) const {
    const __m512i q = quantised(load_floats(x));
    if constexpr (Bits == small_bits) {
      return q;
    } else {
      const __m512i from_least = _mm512_add_epi32(q, _mm512_set1_epi32(1 << small_bits));
      const __mmask16 beyond = _mm512_cmpge_epu32_mask(from_least, _mm512_set1_epi32(2 << small_bits));
      return _mm512_mask_mov_epi32(q, beyond, rounded_in_double(x, scale_));
    }
  }
  __m512i part(const double* x) const { return rounded_in_double(x, scale_); }

  const T* values_;
  double scale_;
  __m512 inverse_;
  __m512i seen_ = _mm512_setzero_si512();
};

template <bool Add>
[[gnu::always_inline]] inline void write_values(const Integers& q, float step, float* to) {
  for (unsigned r = 0; r < 4; ++r) {
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(q.part[r]), _mm512_set1_ps(step));
    if constexpr (Add) x = _mm512_add_ps(_mm512_loadu_ps(to + 16 * r), x);
    _mm512_storeu_ps(to + 16 * r, x);
  }
}

template <bool Add>
[[gnu::always_inline]] inline void write_values(const Integers& q, double step, double* to) {
  for (unsigned r = 0; r < 8; ++r) {
    const __m256i half =
        r % 2 == 0 ? _mm512_castsi512_si256(q.part[r / 2]) : _mm512_extracti64x4_epi64(q.part[r / 2], 1);
    __m512d x = _mm512_mul_pd(_mm512_cvtepi32_pd(half), _mm512_set1_pd(step));
    if constexpr (Add) x = _mm512_add_pd(_mm512_loadu_pd(to + 8 * r), x);
    _mm512_storeu_pd(to + 8 * r, x);
  }
}

// Returns true if halves hold the products of the integers with the step exactly: integers of 8 bits and a
// sign, or 10 bits for float16. With 11 bits the product with the greatest step exceeds the greatest float16.
template <class Half>
bool are_exact(const Integers& q) {
  constexpr int range = std::is_same_v<Half, f16> ? 1 << 10 : 1 << 8;
  const __m512i h = _mm512_set1_epi32(range);
  const __m512i a = _mm512_or_si512(_mm512_add_epi32(q.part[0], h), _mm512_add_epi32(q.part[1], h));
  const __m512i seen =
      _mm512_ternarylogic_epi32(a, _mm512_add_epi32(q.part[2], h), _mm512_add_epi32(q.part[3], h), 0xFE);
  return _mm512_test_epi32_mask(seen, _mm512_set1_epi32(-2 * range)) == 0;
}

// Writes the values of integers. With Add, the product is rounded to the half type before the addition, like
// a value that is decoded first.
template <bool Add, class Half>
[[gnu::always_inline]] inline void write_values(const Integers& q, float step, Half* to) {
  const bool exact = Add && are_exact<Half>(q);
  const auto value = [=](__m512i integers, const Half* before) {
    const __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(integers), _mm512_set1_ps(step));
    if constexpr (!Add) return x;
    return _mm512_add_ps(load_floats(before), exact ? x : rounded(x, before));
  };
  for (unsigned r = 0; r < 4; r += 2, to += 32) {
    const __m512 a = value(q.part[r], to), b = value(q.part[r + 1], to + 16);
    store_halves(a, b, to);
  }
}

// Two bfloat16 in each 32-bit lane. The values in lane l of part[j] are those of the integers in lane l of
// the parts 2 j and 2 j + 1 that in_lane_order() returns.
struct Pairs {
  __m512i part[2];
};

// Returns the indices from, from + 2, from + 4, ...
inline __m512i every_second(unsigned from) {
  return _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(from)),
                          _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
}

template <unsigned C>
Pairs load_pairs(const void* from) {
  const __m512i a = _mm512_loadu_si512(from),
                b = _mm512_loadu_si512(static_cast<const std::byte*>(from) + 64);
  if constexpr (C == 16) return {{a, b}};
  return {
      {_mm512_permutex2var_epi32(a, every_second(0), b), _mm512_permutex2var_epi32(a, every_second(1), b)}};
}

template <unsigned C>
void store_pairs(const Pairs& pairs, void* to) {
  __m512i a = pairs.part[0], b = pairs.part[1];
  if constexpr (C == 8) {
    const std::uint32_t* const lanes =
        Avx512::constants<std::uint32_t, 32>([](unsigned i) { return i / 2 + i % 2 * 16; });
    a = _mm512_permutex2var_epi32(pairs.part[0], _mm512_load_si512(lanes), pairs.part[1]);
    b = _mm512_permutex2var_epi32(pairs.part[0], _mm512_load_si512(lanes + 16), pairs.part[1]);
  }
  _mm512_storeu_si512(to, a);
  _mm512_storeu_si512(static_cast<std::byte*>(to) + 64, b);
}

// Writes bfloat16 in pairs, which needs fewer permutations than integers in order. Integers of up to 8 bits,
// as in smooth fields, need no rounding.
template <bool Add, unsigned C, bool Differences>
[[gnu::always_inline]] inline void write_values(const Lanes<C, Differences>& s, float step, bf16* to) {
  const Integers q = in_lane_order(s);
  __m512 x[4];
  for (unsigned r = 0; r < 4; ++r) x[r] = _mm512_mul_ps(_mm512_cvtepi32_ps(q.part[r]), _mm512_set1_ps(step));
  if (!are_bfloat16(x[0], x[1], x[2], x[3]))
    for (__m512& product : x) product = rounded(product, to);
  __m512i bits[4];
  for (unsigned r = 0; r < 4; ++r) bits[r] = _mm512_castps_si512(x[r]);
  if constexpr (Add) {
    const Pairs before = load_pairs<C>(to);
    for (unsigned r = 0; r < 4; ++r) {
      const __m512 value = r % 2 == 0 ? first_floats(before.part[r / 2]) : second_floats(before.part[r / 2]);
      bits[r] = rounded_upper(_mm512_add_ps(value, x[r]));
    }
  }
  store_pairs<C>({{joined(bits[0], bits[1]), joined(bits[2], bits[3])}}, to);
}

// Converts integers to floats that round to the halves to which the integers round: one sticky bit replaces
// the bits far below the last bit of a half. Magnitudes below 2^24 are floats as they are.
inline __m512 floats_for_halves(__m512i q) {
  const __m512i low = _mm512_set1_epi32(0xFF), first_inexact = _mm512_set1_epi32(1 << 24);
  const __mmask16 big = _mm512_cmpge_epu32_mask(_mm512_abs_epi32(q), first_inexact);
  const __mmask16 inexact = _mm512_mask_test_epi32_mask(big, q, low);
  const __m512i cut = _mm512_mask_andnot_epi32(q, big, low, q);
  return _mm512_cvtepi32_ps(_mm512_mask_or_epi32(cut, inexact, cut, _mm512_set1_epi32(0x80)));
}

// Writes the values of any integers as halves.
template <class Half>
void write_large(const Integers& q, float step, Half* to) {
  for (unsigned r = 0; r < 4; r += 2, to += 32) {
    const __m512 a = _mm512_mul_ps(floats_for_halves(q.part[r]), _mm512_set1_ps(step));
    const __m512 b = _mm512_mul_ps(floats_for_halves(q.part[r + 1]), _mm512_set1_ps(step));
    store_halves(a, b, to);
  }
}

}  // namespace
}  // namespace taut::planes

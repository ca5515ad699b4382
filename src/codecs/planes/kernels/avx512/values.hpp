// AVX-512: conversion between values of each type and groups of integers. Included by kernel_set.cpp only.
#pragma once

#include "codecs/planes/kernels/avx512/halves.hpp"
#include "codecs/planes/kernels/avx512/integers.hpp"

namespace taut::planes {
namespace {

// Quantises values: group(g) returns the integers of group g. After all groups, small() tells if every
// integer has at most `Bits` bits. Beyond small_bits the integers of floats are computed in double.
template <class T, int Bits = small_bits>
class ValueReader {
 public:
  ValueReader(const T* values, const Quantiser<T>& z)
      : values_(values), scale_(1 / static_cast<double>(z.step)) {
    if constexpr (sizeof(T) < 8) inverse_ = _mm512_set1_ps(z.inverse);
  }

  Integers group(std::size_t g) {
    Integers q;
    for (unsigned r = 0; r < 4; ++r) {
      q.part[r] = part(values_ + g * group_values + 16 * r);
      // Folding the sign keeps the magnitude's bits. NaN and values out of range convert to INT_MIN.
      seen_ = _mm512_ternarylogic_epi32(seen_, q.part[r], _mm512_srai_epi32(q.part[r], 31), 0xF6);
    }
    return q;
  }

  bool small() const {
    return _mm512_test_epi32_mask(seen_, _mm512_set1_epi32(static_cast<int>(~0u << Bits))) == 0;
  }

 private:
  template <class Short>
  __m512i part(const Short* x) const {
    const __m512 s = _mm512_mul_ps(load_floats(x), inverse_);
    const __m512i q = _mm512_cvt_roundps_epi32(s, to_nearest);
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

// Writes the values of integers. With Add, the product is rounded to the half type before the addition, like
// a value that is decoded first.
template <bool Add, class Half>
[[gnu::always_inline]] inline void write_values(const Integers& q, float step, Half* to) {
  const auto value = [=](__m512i integers, const Half* before) {
    const __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(integers), _mm512_set1_ps(step));
    return Add ? _mm512_add_ps(load_floats(before), rounded(x, before)) : x;
  };
  for (unsigned r = 0; r < 4; r += 2, to += 32) {
    const __m512 a = value(q.part[r], to), b = value(q.part[r + 1], to + 16);
    _mm512_storeu_si512(to, narrowed<Add>(a, b, to));
  }
}

// Converts integers to floats that round to the same halves: the bits far below the last
// bit of a half are replaced by one sticky bit.
inline __m512 floats_for_halves(__m512i q) {
  const __m512i low = _mm512_set1_epi32(0xFF), most = _mm512_set1_epi32(1 << 24);
  const __mmask16 big = _mm512_cmpge_epu32_mask(_mm512_abs_epi32(q), most);
  const __mmask16 inexact = _mm512_mask_test_epi32_mask(big, q, low);
  const __m512i cut = _mm512_mask_andnot_epi32(q, big, low, q);
  return _mm512_cvtepi32_ps(_mm512_mask_or_epi32(cut, inexact, cut, _mm512_set1_epi32(0x80)));
}

// Writes the values of integers of the large range, which floats do not represent exactly.
template <class Half>
void write_large(const Integers& q, float step, Half* to) {
  for (unsigned r = 0; r < 4; r += 2, to += 32) {
    const __m512 a = _mm512_mul_ps(floats_for_halves(q.part[r]), _mm512_set1_ps(step));
    const __m512 b = _mm512_mul_ps(floats_for_halves(q.part[r + 1]), _mm512_set1_ps(step));
    _mm512_storeu_si512(to, narrowed<false>(a, b, to));
  }
}

}  // namespace
}  // namespace taut::planes

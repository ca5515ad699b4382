// AVX2: conversion between values of each type and integers. Halves are computed in float. Included by
// registers.hpp and general.cpp only.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "compressor/simd/avx2.hpp"
#include "compressor/values/avx2_halves.hpp"

namespace taut::planes {
namespace {

using taut::load_floats;
inline __m256 load_floats(const float* x) { return _mm256_loadu_ps(x); }

inline __m256d load_doubles(const double* x) { return _mm256_loadu_pd(x); }
inline __m256d load_doubles(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }

// Rounds eight values, scaled in double. NaN and values out of range become INT_MIN.
template <class T>
__m256i rounded_in_double(const T* x, double scale) {
  const __m256d factor = _mm256_set1_pd(scale);
  const __m128i low = _mm256_cvtpd_epi32(_mm256_mul_pd(load_doubles(x), factor));
  const __m128i high = _mm256_cvtpd_epi32(_mm256_mul_pd(load_doubles(x + 4), factor));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// Rounds eight scaled values in the arithmetic of their type; halves in float.
template <class T>
__m256i rounded_to_ints(const T* x, float inverse) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(load_floats(x), _mm256_set1_ps(inverse)));
}
inline __m256i rounded_to_ints(const double* x, double inverse) { return rounded_in_double(x, inverse); }

// Returns all ones in the lanes of integers q with -2^bits <= q < 2^bits.
template <int bits>
__m256i lanes_within(__m256i q) {
  const __m256i outside = _mm256_srli_epi32(_mm256_add_epi32(q, _mm256_set1_epi32(1 << bits)), bits + 1);
  return _mm256_cmpeq_epi32(outside, _mm256_setzero_si256());
}

// Returns, as a float, the half nearest to each float. The pointer tells the type of the half.
inline __m256 rounded_to_half(__m256 x, const f16* type) { return _mm256_cvtph_ps(narrowed(x, type)); }
inline __m256 rounded_to_half(__m256 x, const bf16*) {
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000));
  return _mm256_castsi256_ps(_mm256_and_si256(rounded_upper(x), upper));
}

template <bool Add>
[[gnu::always_inline]] inline void write_values(__m256i q, float step, float* to) {
  __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(step));
  if constexpr (Add) x = _mm256_add_ps(_mm256_loadu_ps(to), x);
  _mm256_storeu_ps(to, x);
}

template <bool Add>
[[gnu::always_inline]] inline void write_values(__m256i q, double step, double* to) {
  const __m128i half[] = {_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)};
  for (unsigned h = 0; h < 2; ++h) {
    __m256d x = _mm256_mul_pd(_mm256_cvtepi32_pd(half[h]), _mm256_set1_pd(step));
    if constexpr (Add) x = _mm256_add_pd(_mm256_loadu_pd(to + 4 * h), x);
    _mm256_storeu_pd(to + 4 * h, x);
  }
}

// Writes the values of integers. With Add, the product is rounded to the half type before the addition, like
// a value that is decoded first.
template <bool Add, class Half>
[[gnu::always_inline]] inline void write_values(__m256i q, float step, Half* to) {
  __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(step));
  if constexpr (Add) x = _mm256_add_ps(load_floats(to), rounded_to_half(x, to));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrowed(x, to));
}

// Converts integers to floats that round to the halves to which the integers round: one sticky bit replaces
// the bits far below the last bit of a half. Magnitudes below 2^24 are floats as they are.
inline __m256 floats_for_halves(__m256i q) {
  const __m256i low = _mm256_set1_epi32(0xFF), max_exact = _mm256_set1_epi32((1 << 24) - 1);
  const __m256i magnitude = _mm256_abs_epi32(q),
                exact = _mm256_cmpeq_epi32(_mm256_and_si256(q, low), _mm256_setzero_si256());
  const __m256i sticky_bit = _mm256_andnot_si256(exact, _mm256_set1_epi32(0x80));
  const __m256i big =
      _mm256_or_si256(_mm256_cmpgt_epi32(magnitude, max_exact), _mm256_srai_epi32(magnitude, 31));
  const __m256i with_sticky = _mm256_or_si256(_mm256_andnot_si256(low, q), sticky_bit);
  return _mm256_cvtepi32_ps(_mm256_blendv_epi8(q, with_sticky, big));
}

// Writes the values of any integers as halves.
template <class Half>
void write_large(__m256i q, float step, Half* to) {
  const __m256 x = _mm256_mul_ps(floats_for_halves(q), _mm256_set1_ps(step));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrowed(x, to));
}

}  // namespace
}  // namespace taut::planes

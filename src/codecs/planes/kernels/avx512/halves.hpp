// AVX-512: conversion of sixteen values to floats or to integers, and of floats to halves. Included by
// values.hpp and general.cpp only.
#pragma once

#include "codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

inline __m512 widened(__m256i x, const f16*) { return _mm512_cvtph_ps(x); }
inline __m512 widened(__m256i x, const bf16*) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

// Loads sixteen values as floats.
inline __m512 load_floats(const float* x) { return _mm512_loadu_ps(x); }
template <class Half>
__m512 load_floats(const Half* x) {
  return widened(load256(x), x);
}

inline __m512d eight_doubles(const double* x) { return _mm512_loadu_pd(x); }
inline __m512d eight_doubles(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }

// Rounds sixteen values, scaled in double. NaN and values out of range become INT_MIN.
template <class T>
__m512i rounded_in_double(const T* x, double scale) {
  const __m512d by = _mm512_set1_pd(scale);
  const __m256i low = _mm512_cvt_roundpd_epi32(_mm512_mul_pd(eight_doubles(x), by), to_nearest);
  const __m256i high = _mm512_cvt_roundpd_epi32(_mm512_mul_pd(eight_doubles(x + 8), by), to_nearest);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Converts floats to halves, rounded to nearest even. A NaN keeps its upper bits and becomes quiet, if
// MayBeNan.
template <bool MayBeNan>
__m512i narrowed(__m512 a, __m512 b, const f16*) {
  const __m512i low = _mm512_castsi256_si512(_mm512_cvtps_ph(a, to_nearest));
  return _mm512_inserti64x4(low, _mm512_cvtps_ph(b, to_nearest), 1);
}

// Returns the bfloat16 in the upper half of each lane; the caller drops the lower half.
template <bool MayBeNan>
__m512i rounded_upper(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
  const __m512i half = _mm512_mask_set1_epi32(_mm512_set1_epi32(0x7FFF), odd, 0x8000);
  const __m512i rounded = _mm512_add_epi32(bits, half);
  if constexpr (!MayBeNan) return rounded;
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
}
template <bool MayBeNan>
__m512i narrowed(__m512 a, __m512 b, const bf16*) {
  const __m512i upper = _mm512_load_si512(constants<std::uint16_t>([](unsigned i) { return 2 * i + 1; }));
  return _mm512_permutex2var_epi16(rounded_upper<MayBeNan>(a), upper, rounded_upper<MayBeNan>(b));
}

// Returns, as a float, the half nearest to each float. The floats must not be NaN.
inline __m512 rounded(__m512 x, const f16*) { return _mm512_cvtph_ps(_mm512_cvtps_ph(x, to_nearest)); }
inline __m512 rounded(__m512 x, const bf16*) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
  return _mm512_castsi512_ps(_mm512_and_si512(rounded_upper<false>(x), upper));
}

}  // namespace
}  // namespace taut::planes

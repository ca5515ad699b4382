// AVX-512: conversion of sixteen values to floats or to integers, and of floats to halves. Included by
// values.hpp and general.cpp only.
#pragma once

#include "compressor/codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

inline __m512 widened(__m256i x, const f16*) { return _mm512_cvtph_ps(x); }
inline __m512 widened(__m256i x, const bf16*) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

// Returns sixteen sums as eight_sums() of AVX2 does.
inline __m512 sixteen_sums(__m512 a, __m512 b) {
  const __m512 sum = _mm512_add_ps(a, b), nan = _mm512_set1_ps(indefinite_nan<float>);
  const __mmask16 first = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(sum, _mm512_mask_cmp_ps_mask(first, b, b, _CMP_UNORD_Q), nan);
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

// Writes floats as halves, rounded to nearest even. The lower 16 bits of a NaN must be 0; the NaN then stays
// as it is. A NaN that is a sum of halves is quiet and has such bits; products of integers are no NaN.
inline void store_halves(__m512 a, __m512 b, f16* to) {
  auto* const halves = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(halves, _mm512_cvtps_ph(a, to_nearest));
  _mm256_storeu_si256(halves + 1, _mm512_cvtps_ph(b, to_nearest));
}

// Returns in the upper 16 bits of each lane the bfloat16 nearest to the float; the caller drops the lower 16
// bits. The product of words adds 1 where the upper 16 bits of the float are odd.
inline __m512i rounded_upper(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x), one = _mm512_set1_epi32(0x10000);
  return _mm512_dpwssd_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), _mm512_and_si512(bits, one),
                             one);
}
inline void store_halves(__m512 a, __m512 b, bf16* to) {
  const __m512i upper =
      _mm512_load_si512(Avx512::constants<std::uint16_t>([](unsigned i) { return 2 * i + 1; }));
  _mm512_storeu_si512(to, _mm512_permutex2var_epi16(rounded_upper(a), upper, rounded_upper(b)));
}

inline __m512i upper_half() { return _mm512_set1_epi32(static_cast<int>(0xFFFF0000)); }

// Returns, as a float, the half nearest to each float. The floats must not be NaN.
inline __m512 rounded(__m512 x, const f16*) { return _mm512_cvtph_ps(_mm512_cvtps_ph(x, to_nearest)); }
inline __m512 rounded(__m512 x, const bf16*) {
  return _mm512_castsi512_ps(_mm512_and_si512(rounded_upper(x), upper_half()));
}

// ---- Two bfloat16 in each 32-bit lane

inline __m512 first_floats(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
inline __m512 second_floats(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, upper_half()));
}

// Returns true if the floats are bfloat16: their lower 16 bits are 0.
inline bool are_bfloat16(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512i bits =
      _mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b), _mm512_castps_si512(c), 0xFE);
  return _mm512_test_epi32_mask(_mm512_or_si512(bits, _mm512_castps_si512(d)), _mm512_set1_epi32(0xFFFF)) ==
         0;
}

// Returns in each lane the upper 16 bits of the lane of `first`, then those of the lane of `second`.
inline __m512i joined(__m512i first, __m512i second) {
  constexpr int upper_of_second = 0xEA;  // (second & mask) | first
  return _mm512_ternarylogic_epi32(second, upper_half(), _mm512_srli_epi32(first, 16), upper_of_second);
}

}  // namespace
}  // namespace taut::planes

// AVX-512: sixteen values of up to 32 bits as floats, and floats as halves. Included by avx512*.{hpp,cpp} only.
#pragma once

#include <immintrin.h>

#include "core/half.hpp"

namespace taut::planes {
namespace {

constexpr int to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

inline __m512 widened(__m256i x, const f16*) { return _mm512_cvtph_ps(x); }
inline __m512 widened(__m256i x, const bf16*) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

inline __m512 sixteen(const float* x) { return _mm512_loadu_ps(x); }
template <class Half>
__m512 sixteen(const Half* x) {
  return widened(load256(x), x);
}

// Rounded to nearest even; a NaN keeps its upper bits and becomes quiet.
inline __m256i narrowed(__m512 x, const f16*) { return _mm512_cvtps_ph(x, to_nearest); }
inline __m256i narrowed(__m512 x, const bf16*) {
  const __m512i bits = _mm512_castps_si512(x), upper = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i rounded =
      _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd), 16);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, is_nan, upper, _mm512_set1_epi32(0x40)));
}

}  // namespace
}  // namespace taut::planes

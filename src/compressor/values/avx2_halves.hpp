// Conversions between eight halves and floats, and their sums, on AVX2 registers. The functions may be called
// by files that are compiled for AVX2, and by functions with the same attribute.
#pragma once

#include <immintrin.h>

#include "compressor/values/reduction.hpp"

namespace taut {
namespace {  // one copy for each kernel set, compiled with its instructions

[[gnu::target("avx2,f16c")]] inline __m256 load_floats(const f16* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
[[gnu::target("avx2,f16c")]] inline __m256 load_floats(const bf16* x) {
  const __m128i upper = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(upper), 16));
}

// Returns eight sums as combine() gives them, before they are rounded to halves. The processor makes a single
// NaN quiet and gives the indefinite NaN for infinities of both signs. The sum of two NaN is set here,
// because compilers may exchange the operands.
[[gnu::target("avx2,f16c")]] inline __m256 eight_sums(__m256 a, __m256 b) {
  const __m256 sum = _mm256_add_ps(a, b), nan = _mm256_set1_ps(indefinite_nan<float>);
  const __m256 two = _mm256_and_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q), _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
  return _mm256_blendv_ps(sum, nan, two);
}

// Returns the bfloat16 nearest to each float in the upper half of its lane; the caller drops the lower half.
// The lower half of a NaN must be 0; the NaN then stays as it is. A NaN that is a sum of halves is quiet and
// has such a lower half; products of integers are no NaN.
[[gnu::target("avx2,f16c")]] inline __m256i rounded_upper(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
}

// Converts floats to halves, rounded to nearest even. The pointer, which is not read, selects the type.
[[gnu::target("avx2,f16c")]] inline __m128i narrowed(__m256 x, const f16*) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}
[[gnu::target("avx2,f16c")]] inline __m128i narrowed(__m256 x, const bf16*) {
  const __m256i upper = _mm256_srli_epi32(rounded_upper(x), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

}  // namespace
}  // namespace taut

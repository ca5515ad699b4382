// Least and greatest values of blocks by AVX-512. As many blocks as a register has lanes are processed
// together. A tree folds their partial results, so that the extremes of all blocks end up in one register.
#pragma once

#include "compressor/codecs/szx/format.hpp"
#include "compressor/simd/avx512.hpp"

namespace taut::szx::avx512 {

inline __m512 load(const float* x) noexcept { return _mm512_loadu_ps(x); }
inline __m512d load(const double* x) noexcept { return _mm512_loadu_pd(x); }
inline __m512 least(__m512 a, __m512 b) noexcept { return _mm512_min_ps(a, b); }
inline __m512d least(__m512d a, __m512d b) noexcept { return _mm512_min_pd(a, b); }
inline __m512 greatest(__m512 a, __m512 b) noexcept { return _mm512_max_ps(a, b); }
inline __m512d greatest(__m512d a, __m512d b) noexcept { return _mm512_max_pd(a, b); }
// Returns `before` without the lanes in which a or b is NaN.
inline __mmask16 numbers(__mmask16 before, __m512 a, __m512 b) noexcept {
  return _mm512_mask_cmp_ps_mask(before, a, b, _CMP_ORD_Q);
}
inline __mmask16 numbers(__mmask16 before, __m512d a, __m512d b) noexcept {
  return _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(before), a, b, _CMP_ORD_Q);
}
inline void store(float* to, __m512 v) noexcept { _mm512_storeu_ps(to, v); }
inline void store(double* to, __m512d v) noexcept { _mm512_storeu_pd(to, v); }

// Folds a (the lower lanes of the result) and b. `blocks`: number of blocks that share each of the two
// registers. The first level folds neighbouring lanes, the next one pairs of lanes, the others quarters of
// the register.
template <std::size_t blocks, class Op>
__m512 fold(__m512 a, __m512 b, Op op) noexcept {
  if constexpr (blocks == 1) return op(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  if constexpr (blocks == 2) return op(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
  return op(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}
template <std::size_t blocks, class Op>
__m512d fold(__m512d a, __m512d b, Op op) noexcept {
  if constexpr (blocks == 1) return op(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
  return op(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xDD));
}

template <class T>
struct Extremes {
  using Vector = decltype(load(static_cast<const T*>(nullptr)));
  static constexpr std::size_t lanes = 64 / sizeof(T);
  static constexpr auto all = static_cast<__mmask16>((1u << lanes) - 1);

  // Writes the extremes of `lanes` blocks. Returns false and writes nothing if there is a NaN.
  static bool write(const T* x, T* lows, T* highs) noexcept {
    Vector low[lanes], high[lanes];
    __mmask16 good = all;
    for (std::size_t b = 0; b < lanes; ++b, x += block_values) {
      const Vector first = load(x), second = load(x + lanes);
      good = numbers(good, first, second);
      low[b] = least(first, second);
      high[b] = greatest(first, second);
      for (std::size_t i = 2 * lanes; i < block_values; i += 2 * lanes) {
        const Vector v = load(x + i), w = load(x + i + lanes);
        good = numbers(good, v, w);
        low[b] = least(low[b], least(v, w));
        high[b] = greatest(high[b], greatest(v, w));
      }
    }
    if (good != all) return false;
    store(lows, folded<lanes>(low, [](Vector v, Vector w) { return least(v, w); }));
    store(highs, folded<lanes>(high, [](Vector v, Vector w) { return greatest(v, w); }));
    return true;
  }

 private:
  template <std::size_t blocks, class Op>
  static Vector folded(const Vector* v, Op op) noexcept {
    if constexpr (blocks == 1) {
      return *v;
    } else {
      constexpr std::size_t half = blocks / 2;
      return fold<half>(folded<half>(v, op), folded<half>(v + half, op), op);
    }
  }
};

}  // namespace taut::szx::avx512

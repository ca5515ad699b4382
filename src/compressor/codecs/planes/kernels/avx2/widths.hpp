// AVX2: operations of width_loops.hpp on the widths of 32 blocks, which are in one register.
#pragma once

#include <immintrin.h>

#include "compressor/codecs/planes/kernels/width_loops.hpp"

namespace taut::planes {
namespace {

struct Widths32 {
  using Type = __m256i;

  static Type zero() { return _mm256_setzero_si256(); }
  static Type load(const void* from) { return _mm256_loadu_si256(static_cast<const Type*>(from)); }
  static void store(void* to, Type v) { _mm256_storeu_si256(static_cast<Type*>(to), v); }
  static Type max(Type a, Type b) { return _mm256_max_epu8(a, b); }
  static Type partial_sums(Type v) { return _mm256_sad_epu8(v, zero()); }
  static Type add(Type a, Type b) { return _mm256_add_epi64(a, b); }

  static std::size_t reduce_add(Type v) {
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return static_cast<std::size_t>(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
  }

  static unsigned reduce_max(Type v) {
    const __m128i half = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    // The least word of the complement, with cleared upper bytes, corresponds to the greatest byte.
    const __m128i pairs = _mm_max_epu8(half, _mm_srli_epi16(half, 8));
    const __m128i rest = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(pairs, _mm_set1_epi16(255)));
    return 255 - static_cast<unsigned>(_mm_extract_epi16(_mm_minpos_epu16(rest), 0));
  }

  static std::uint32_t mask(Type v) {  // bit i: width i is above 0
    return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, zero())));
  }
  static Type bit_xor(Type a, Type b) { return _mm256_xor_si256(a, b); }
  static Type splat(unsigned width) { return _mm256_set1_epi8(static_cast<char>(width)); }
  static std::size_t count_nonzero(Type v) { return static_cast<std::size_t>(_mm_popcnt_u32(mask(v))); }

  static Type load_nibbles(const std::byte* from) {
    const Type pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm256_and_si256(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)), _mm256_set1_epi8(15));
  }
  static void store_nibbles(std::byte* to, Type v) {
    const Type pairs = _mm256_maddubs_epi16(v, _mm256_set1_epi16(0x1001));  // even + 16 * odd
    const Type packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
  }
};

struct Avx2Widths : RegisterLoops<Widths32>, BitmapLoops {
  static std::uint64_t mask(const std::uint8_t* widths) {
    return Widths32::mask(Widths32::load(widths)) | std::uint64_t{Widths32::mask(Widths32::load(widths + 32))}
                                                        << 32;
  }
};

}  // namespace
}  // namespace taut::planes

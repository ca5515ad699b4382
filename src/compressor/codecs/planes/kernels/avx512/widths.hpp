// AVX-512: operations of width_loops.hpp on the widths of 64 blocks, which are in one register.
#pragma once

#include "compressor/codecs/planes/kernels/avx2/widths.hpp"
#include "compressor/codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

struct Widths64 {
  using Type = __m512i;

  static Type zero() { return _mm512_setzero_si512(); }
  static Type load(const void* from) { return _mm512_loadu_si512(from); }
  static void store(void* to, Type v) { _mm512_storeu_si512(to, v); }
  static Type max(Type a, Type b) { return _mm512_max_epu8(a, b); }
  static Type partial_sums(Type v) { return _mm512_sad_epu8(v, zero()); }
  static Type add(Type a, Type b) { return _mm512_add_epi64(a, b); }
  static std::size_t reduce_add(Type v) { return static_cast<std::size_t>(_mm512_reduce_add_epi64(v)); }
  static unsigned reduce_max(Type v) {
    return Widths32::reduce_max(_mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
  }
  static Type bit_xor(Type a, Type b) { return _mm512_xor_si512(a, b); }
  static Type splat(unsigned width) { return _mm512_set1_epi8(static_cast<char>(width)); }
  static std::size_t count_nonzero(Type v) {
    return static_cast<std::size_t>(_mm_popcnt_u64(_mm512_test_epi8_mask(v, v)));
  }

  static Type load_nibbles(const std::byte* from) {
    const Type pairs = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    return _mm512_and_si512(_mm512_or_si512(pairs, _mm512_slli_epi16(pairs, 4)), _mm512_set1_epi8(15));
  }
  static void store_nibbles(std::byte* to, Type v) {
    const Type pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x1001));  // even + 16 * odd
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(pairs));
  }
};

struct Avx512Widths : RegisterLoops<Widths64> {
  static std::uint64_t mask(const std::uint8_t* widths) {
    const __m512i w = _mm512_load_si512(widths);
    return _mm512_test_epi8_mask(w, w);
  }

  static void compress(const std::uint8_t* bytes, std::uint64_t mask, std::uint8_t* to) {
    _mm512_storeu_si512(to, Avx512::compressed(_mm512_load_si512(bytes), mask));
  }
  static void expand(const std::uint8_t* from, std::uint64_t mask, std::uint8_t* bytes) {
    _mm512_store_si512(bytes, Avx512::expand(from, mask));
  }
};

}  // namespace
}  // namespace taut::planes

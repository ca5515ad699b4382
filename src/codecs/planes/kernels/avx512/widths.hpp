// AVX-512: width tables. Included by kernel_set.cpp only.
#pragma once

#include "codecs/planes/format/width_tables.hpp"
#include "codecs/planes/kernels/avx512/group.hpp"

namespace taut::planes {
namespace {

struct Avx512Widths {
  static unsigned greatest_byte(__m512i v) {
    const __m256i half = _mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i quarter = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    // The least word of the complement, with cleared upper bytes, corresponds to the greatest byte.
    const __m128i pairs = _mm_max_epu8(quarter, _mm_srli_epi16(quarter, 8));
    const __m128i rest = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(pairs, _mm_set1_epi16(255)));
    return 255 - static_cast<unsigned>(_mm_extract_epi16(_mm_minpos_epu16(rest), 0));
  }

  // Sum and maximum of all widths seen.
  struct Extent {
    __m512i sums = _mm512_setzero_si512(), greatest = _mm512_setzero_si512();

    void see(__m512i widths) {
      sums = _mm512_add_epi64(sums, _mm512_sad_epu8(widths, _mm512_setzero_si512()));
      greatest = _mm512_max_epu8(greatest, widths);
    }
    std::size_t sum() const { return static_cast<std::size_t>(_mm512_reduce_add_epi64(sums)); }
  };

  static WidthFacts inspect(const Widths& widths) noexcept {
    Extent extent;
    std::size_t coded = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 64) {
      const __m512i w = _mm512_load_si512(widths.of + i);
      extent.see(w);
      coded += static_cast<std::size_t>(_mm_popcnt_u64(_mm512_test_epi8_mask(w, w)));
    }
    return {extent.sum(), coded, greatest_byte(extent.greatest)};
  }

  static void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
    for (std::size_t i = 0; i < n; i += 64) {
      const __m512i w = _mm512_loadu_si512(entries + i);
      if (as_bytes) {
        _mm512_storeu_si512(to + i, w);
      } else {
        const __m512i pairs = _mm512_maddubs_epi16(w, _mm512_set1_epi16(0x1001));  // even + 16 * odd
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i / 2), _mm512_cvtepi16_epi8(pairs));
      }
    }
  }

  static __m512i nibbles(const std::byte* from) {
    const __m512i pairs = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    return _mm512_and_si512(_mm512_or_si512(pairs, _mm512_slli_epi16(pairs, 4)), _mm512_set1_epi8(15));
  }

  static void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
    for (std::size_t i = 0; i < n; i += 64)
      _mm512_storeu_si512(entries + i, as_bytes ? _mm512_loadu_si512(from + i) : nibbles(from + i / 2));
  }

  // Reads the most common table: a nibble for every block of a whole chunk.
  static WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
    Extent extent;
    for (std::size_t i = 0; i < chunk_blocks; i += 64) {
      const __m512i w = nibbles(table + i / 2);
      extent.see(w);
      _mm512_store_si512(widths.of + i, w);
    }
    return {extent.sum(), greatest_byte(extent.greatest), chunk_blocks / 2};
  }

  // Packs the widths above 0 of a chunk; scatter is the inverse.
  static std::size_t gather(const Widths& widths, WidthMap& map, std::uint8_t* coded) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 64) {
      const __m512i w = _mm512_load_si512(widths.of + i);
      map[i / 64] = _mm512_test_epi8_mask(w, w);
      _mm512_storeu_si512(coded + n, _mm512_mask_compress_epi8(fresh_zero(), map[i / 64], w));
      n += static_cast<std::size_t>(_mm_popcnt_u64(map[i / 64]));
    }
    _mm512_storeu_si512(coded + n, _mm512_setzero_si512());
    return n;
  }

  static std::size_t scatter(const std::uint8_t* coded, const WidthMap& map, Widths& widths) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 64) {
      const __m512i next = _mm512_loadu_si512(coded + n);
      _mm512_store_si512(widths.of + i, _mm512_mask_expand_epi8(fresh_zero(), map[i / 64], next));
      n += static_cast<std::size_t>(_mm_popcnt_u64(map[i / 64]));
    }
    return n;
  }
};

}  // namespace
}  // namespace taut::planes

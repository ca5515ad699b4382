// AVX2: width tables. Included by kernel_set.cpp only.
#pragma once

#include <immintrin.h>

#include "codecs/planes/format/width_tables.hpp"

namespace taut::planes {
namespace {

struct Avx2Widths {
  static __m256i widths_at(const std::uint8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }

  static std::uint32_t coded_among(__m256i widths) {  // bit i: width i is above 0
    return ~static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(widths, _mm256_setzero_si256())));
  }

  static unsigned greatest_byte(__m256i v) {
    const __m128i half = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    // The least word of the complement, with cleared upper bytes, corresponds to the greatest byte.
    const __m128i pairs = _mm_max_epu8(half, _mm_srli_epi16(half, 8));
    const __m128i rest = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(pairs, _mm_set1_epi16(255)));
    return 255 - static_cast<unsigned>(_mm_extract_epi16(_mm_minpos_epu16(rest), 0));
  }

  // Sum and maximum of all widths seen.
  struct Extent {
    __m256i sums = _mm256_setzero_si256(), greatest = _mm256_setzero_si256();

    void see(__m256i widths) {
      sums = _mm256_add_epi64(sums, _mm256_sad_epu8(widths, _mm256_setzero_si256()));
      greatest = _mm256_max_epu8(greatest, widths);
    }
    std::size_t sum() const {
      const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
      return static_cast<std::size_t>(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
    }
  };

  static WidthFacts inspect(const Widths& widths) noexcept {
    Extent extent;
    std::size_t coded = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 32) {
      const __m256i w = widths_at(widths.of + i);
      extent.see(w);
      coded += static_cast<std::size_t>(_mm_popcnt_u32(coded_among(w)));
    }
    return {extent.sum(), coded, greatest_byte(extent.greatest)};
  }

  // Writes whole registers of 32 entries; the entries beyond n are overwritten or never read.
  static void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
    for (std::size_t i = 0; i < n; i += 32) {
      const __m256i w = widths_at(entries + i);
      if (as_bytes) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), w);
      } else {
        const __m256i pairs = _mm256_maddubs_epi16(w, _mm256_set1_epi16(0x1001));  // even + 16 * odd
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0xD8);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i / 2), _mm256_castsi256_si128(packed));
      }
    }
  }

  static __m256i nibbles(const std::byte* from) {
    const __m256i pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm256_and_si256(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)), _mm256_set1_epi8(15));
  }

  static void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
    for (std::size_t i = 0; i < n; i += 32) {
      const __m256i w =
          as_bytes ? widths_at(reinterpret_cast<const std::uint8_t*>(from) + i) : nibbles(from + i / 2);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(entries + i), w);
    }
  }

  // Reads the most common table: a nibble for every block of a whole chunk.
  static WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
    Extent extent;
    for (std::size_t i = 0; i < chunk_blocks; i += 32) {
      const __m256i w = nibbles(table + i / 2);
      extent.see(w);
      _mm256_store_si256(reinterpret_cast<__m256i*>(widths.of + i), w);
    }
    return {extent.sum(), greatest_byte(extent.greatest), chunk_blocks / 2};
  }

  // Packs the widths above 0 of a chunk; scatter is the inverse.
  static std::size_t gather(const Widths& widths, WidthMap& map, std::uint8_t* coded) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < chunk_blocks; i += 64) {
      map[i / 64] = coded_among(widths_at(widths.of + i)) |
                    std::uint64_t{coded_among(widths_at(widths.of + i + 32))} << 32;
      for (std::uint64_t rest = map[i / 64]; rest != 0; rest = _blsr_u64(rest))
        coded[n++] = widths.of[i + _tzcnt_u64(rest)];
    }
    std::memset(coded + n, 0, 64);
    return n;
  }

  static std::size_t scatter(const std::uint8_t* coded, const WidthMap& map, Widths& widths) {
    std::size_t n = 0;
    std::memset(widths.of, 0, sizeof widths.of);
    for (std::size_t i = 0; i < chunk_blocks; i += 64)
      for (std::uint64_t rest = map[i / 64]; rest != 0; rest = _blsr_u64(rest))
        widths.of[i + _tzcnt_u64(rest)] = coded[n++];
    return n;
  }
};

}  // namespace
}  // namespace taut::planes

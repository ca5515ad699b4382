// Tables of widths for AVX2. Included by avx2.cpp only.
#pragma once

#include <immintrin.h>

#include "codecs/planes/widths.hpp"

namespace taut::planes {
namespace {

inline __m256i widths_at(const std::uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

inline std::uint32_t coded_among(__m256i widths) {  // bit i: width i is above 0
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(widths, _mm256_setzero_si256())));
}

inline unsigned greatest_byte(__m256i v) {
  const __m128i half = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  // The least word of the complement, whose upper bytes are cleared, belongs to the greatest byte.
  const __m128i pairs = _mm_max_epu8(half, _mm_srli_epi16(half, 8));
  const __m128i rest = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(pairs, _mm_set1_epi16(255)));
  return 255 - static_cast<unsigned>(_mm_extract_epi16(_mm_minpos_epu16(rest), 0));
}

// Sum and greatest of all widths seen.
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

inline WidthFacts inspect(const Widths& widths) noexcept {
  Extent extent;
  std::size_t coded = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 32) {
    const __m256i w = widths_at(widths.of + i);
    extent.see(w);
    coded += static_cast<std::size_t>(_mm_popcnt_u32(coded_among(w)));
  }
  return {extent.sum(), coded, greatest_byte(extent.greatest)};
}

// Writes whole registers of 32 entries; those beyond n are overwritten or never read.
inline void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
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

inline void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  if ((table.flags & dense) != 0) return write_entries(to, widths.of, blocks, as_bytes);
  alignas(32) std::uint8_t coded[chunk_blocks + 32];
  std::uint32_t map[chunk_blocks / 32];
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 32) {
    map[i / 32] = coded_among(widths_at(widths.of + i));
    for (std::uint32_t rest = map[i / 32]; rest != 0; rest = _blsr_u32(rest))
      coded[n++] = widths.of[i + _tzcnt_u32(rest)];
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(coded + n), _mm256_setzero_si256());
  std::memcpy(to, map, map_bytes(blocks));
  write_entries(to + map_bytes(blocks), coded, n, as_bytes);
}

inline __m256i nibbles(const std::byte* from) {
  const __m256i pairs = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  return _mm256_and_si256(_mm256_or_si256(pairs, _mm256_slli_epi16(pairs, 4)), _mm256_set1_epi8(15));
}

inline void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
  for (std::size_t i = 0; i < n; i += 32) {
    const __m256i w =
        as_bytes ? widths_at(reinterpret_cast<const std::uint8_t*>(from) + i) : nibbles(from + i / 2);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(entries + i), w);
  }
}

// The usual table: a nibble for every block of a whole chunk.
inline WidthsRead read_all_nibbles(const std::byte* table, Widths& widths) {
  Extent extent;
  for (std::size_t i = 0; i < chunk_blocks; i += 32) {
    const __m256i w = nibbles(table + i / 2);
    extent.see(w);
    _mm256_store_si256(reinterpret_cast<__m256i*>(widths.of + i), w);
  }
  return {extent.sum(), greatest_byte(extent.greatest), chunk_blocks / 2};
}

inline WidthsRead read_widths(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                              Widths& widths) noexcept {
  const bool as_bytes = (flags & byte_widths) != 0;
  if ((flags & dense) != 0) {
    if (!as_bytes && blocks == chunk_blocks) return read_all_nibbles(table, widths);
    read_entries(table, blocks, as_bytes, widths.of);
    std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
    return table_read(inspect(widths), entry_bytes(blocks, flags));
  }
  if (names_blocks_beyond(table, blocks)) return {};
  std::uint64_t map[chunk_blocks / 64] = {};
  std::memcpy(map, table, map_bytes(blocks));
  std::size_t entries = 0;
  for (const std::uint64_t m : map) entries += static_cast<std::size_t>(_mm_popcnt_u64(m));
  alignas(32) std::uint8_t coded[chunk_blocks + 32];
  read_entries(table + map_bytes(blocks), entries, as_bytes, coded);
  const std::uint8_t* next = coded;
  std::memset(widths.of, 0, sizeof widths.of);
  for (std::size_t i = 0; i < chunk_blocks; i += 64)
    for (std::uint64_t rest = map[i / 64]; rest != 0; rest = _blsr_u64(rest))
      widths.of[i + _tzcnt_u64(rest)] = *next++;
  return table_read(inspect(widths), map_bytes(blocks) + entry_bytes(entries, flags));
}

}  // namespace
}  // namespace taut::planes

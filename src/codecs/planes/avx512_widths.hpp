// AVX-512: tables of widths. Included by avx512.cpp only.
#pragma once

#include "codecs/planes/avx512_group.hpp"

namespace taut::planes {
namespace {

inline WidthFacts inspect(const Widths& widths) noexcept {
  __m512i sums = _mm512_setzero_si512(), greatest = sums;
  WidthFacts facts;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    const __m512i w = _mm512_load_si512(widths.of + i);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(w, _mm512_setzero_si512()));
    greatest = _mm512_max_epu8(greatest, w);
    facts.coded += static_cast<std::size_t>(_mm_popcnt_u64(_mm512_test_epi8_mask(w, w)));
  }
  facts.sum = static_cast<std::size_t>(_mm512_reduce_add_epi64(sums));
  // Bytes of a qword in turn to its lowest place: the greatest byte of all is the greatest of these.
  for (int half : {8, 16, 32})
    greatest = _mm512_max_epu8(greatest, _mm512_srl_epi64(greatest, _mm_cvtsi32_si128(half)));
  facts.greatest =
      static_cast<unsigned>(_mm512_reduce_max_epu64(_mm512_and_si512(greatest, _mm512_set1_epi64(255))));
  return facts;
}

inline void write_entries(std::byte* to, const std::uint8_t* entries, std::size_t n, bool as_bytes) {
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

inline void write_widths(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept {
  const bool as_bytes = (table.flags & byte_widths) != 0;
  if ((table.flags & dense) != 0) return write_entries(to, widths.of, blocks, as_bytes);
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  std::uint64_t map[chunk_blocks / 64];
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    const __m512i w = _mm512_load_si512(widths.of + i);
    map[i / 64] = _mm512_test_epi8_mask(w, w);
    _mm512_storeu_si512(coded + n, _mm512_mask_compress_epi8(fresh_zero(), map[i / 64], w));
    n += static_cast<std::size_t>(_mm_popcnt_u64(map[i / 64]));
  }
  _mm512_storeu_si512(coded + n, _mm512_setzero_si512());
  std::memcpy(to, map, map_bytes(blocks));
  write_entries(to + map_bytes(blocks), coded, n, as_bytes);
}

inline void read_entries(const std::byte* from, std::size_t n, bool as_bytes, std::uint8_t* entries) {
  for (std::size_t i = 0; i < n; i += 64) {
    if (as_bytes) {
      _mm512_storeu_si512(entries + i, _mm512_loadu_si512(from + i));
    } else {
      const __m512i pairs =
          _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i / 2)));
      const __m512i apart = _mm512_or_si512(pairs, _mm512_slli_epi16(pairs, 4));
      _mm512_storeu_si512(entries + i, _mm512_and_si512(apart, _mm512_set1_epi8(15)));
    }
  }
}

inline WidthsRead read_widths(const std::byte* table, std::size_t blocks, std::uint8_t flags,
                              Widths& widths) noexcept {
  const bool as_bytes = (flags & byte_widths) != 0;
  if ((flags & dense) != 0) {
    read_entries(table, blocks, as_bytes, widths.of);
    std::memset(widths.of + blocks, 0, chunk_blocks - blocks);
    return {inspect(widths), entry_bytes(blocks, flags)};
  }
  if (names_blocks_beyond(table, blocks)) return {};
  std::uint64_t map[chunk_blocks / 64] = {};
  std::memcpy(map, table, map_bytes(blocks));
  alignas(64) std::uint8_t coded[chunk_blocks + 64];
  read_entries(table + map_bytes(blocks), chunk_blocks, as_bytes, coded);
  const std::uint8_t* next = coded;
  for (std::size_t i = 0; i < chunk_blocks; i += 64) {
    _mm512_store_si512(widths.of + i,
                       _mm512_mask_expand_epi8(fresh_zero(), map[i / 64], _mm512_loadu_si512(next)));
    next += _mm_popcnt_u64(map[i / 64]);
  }
  return {inspect(widths), map_bytes(blocks) + entry_bytes(static_cast<std::size_t>(next - coded), flags)};
}

}  // namespace
}  // namespace taut::planes

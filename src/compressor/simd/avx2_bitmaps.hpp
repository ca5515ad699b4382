// Removal and restoration of bytes by a bitmap, on AVX2 registers: 8 bytes at a time, with tables indexed by
// 8 bits of the bitmap. Included by files that are compiled for AVX2 only.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace taut {
namespace {  // one copy for each kernel set, compiled with its instructions

// Shuffle indices for every 8-bit bitmap: the source byte of each output byte; 0x80 gives a zero byte.
// `upper` holds the indices for the upper half of a lane, which start at 8.
struct Places {
  std::array<std::uint64_t, 256> lower, upper;
};

template <class Function>
constexpr Places places_by(Function of) noexcept {
  Places places{};
  for (unsigned map = 0; map < 256; ++map) {
    std::array<std::uint8_t, 8> eight{};
    of(map, eight);
    places.lower[map] = std::bit_cast<std::uint64_t>(eight);
    places.upper[map] = places.lower[map] + 0x0808080808080808;
  }
  return places;
}

constexpr Places kept = places_by([](unsigned map, std::array<std::uint8_t, 8>& places) {
  for (unsigned i = 0, n = 0; i < 8; ++i)
    if (map >> i & 1) places[n++] = static_cast<std::uint8_t>(i);
});
constexpr Places restored = places_by([](unsigned map, std::array<std::uint8_t, 8>& places) {
  for (unsigned i = 0, n = 0; i < 8; ++i) places[i] = map >> i & 1 ? static_cast<std::uint8_t>(n++) : 0x80;
});

inline __m128i joined(const void* lower, const void* upper) noexcept {
  return _mm_unpacklo_epi64(_mm_loadl_epi64(static_cast<const __m128i*>(lower)),
                            _mm_loadl_epi64(static_cast<const __m128i*>(upper)));
}

inline std::byte* keep_lane(std::byte* out, __m128i lane, std::uint8_t lower, std::uint8_t upper) noexcept {
  const __m128i v = _mm_shuffle_epi8(lane, joined(&kept.lower[lower], &kept.upper[upper]));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), v);
  out += _mm_popcnt_u32(lower);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpackhi_epi64(v, v));
  return out + _mm_popcnt_u32(upper);
}

inline __m128i restore_lane(const std::byte*& in, std::uint8_t lower, std::uint8_t upper) noexcept {
  const std::byte* second = in + _mm_popcnt_u32(lower);
  const __m128i v = joined(in, second);
  in = second + _mm_popcnt_u32(upper);
  return _mm_shuffle_epi8(v, joined(&restored.lower[lower], &restored.upper[upper]));
}

inline std::uint8_t eight_bits(std::uint64_t bitmap, unsigned i) noexcept {
  return static_cast<std::uint8_t>(bitmap >> 8 * i);
}

// Writes the bytes of two registers that are in the bitmap, overwrites up to 64; returns the end.
inline std::byte* keep_bytes(std::byte* out, __m256i lo, __m256i hi, std::uint64_t bitmap) noexcept {
  const auto map = [bitmap](unsigned i) { return eight_bits(bitmap, i); };
  out = keep_lane(out, _mm256_castsi256_si128(lo), map(0), map(1));
  out = keep_lane(out, _mm256_extracti128_si256(lo, 1), map(2), map(3));
  out = keep_lane(out, _mm256_castsi256_si128(hi), map(4), map(5));
  return keep_lane(out, _mm256_extracti128_si256(hi, 1), map(6), map(7));
}

// The inverse: other bytes are 0. Reads 64 bytes.
inline void restore_bytes(const std::byte* in, std::uint64_t bitmap, __m256i& lo, __m256i& hi) noexcept {
  const auto map = [bitmap](unsigned i) { return eight_bits(bitmap, i); };
  const __m128i a = restore_lane(in, map(0), map(1));
  const __m128i b = restore_lane(in, map(2), map(3));
  const __m128i c = restore_lane(in, map(4), map(5));
  const __m128i d = restore_lane(in, map(6), map(7));
  lo = _mm256_set_m128i(b, a);
  hi = _mm256_set_m128i(d, c);
}

}  // namespace
}  // namespace taut

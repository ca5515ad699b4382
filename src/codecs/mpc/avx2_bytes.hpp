// Byte operations on AVX2 registers. Included by avx2.cpp only.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace taut::mpc {
namespace {

using Register = __m256i;

// ---- Byte shuffles within 16-byte lanes

template <class Function>
Register shuffled(Register v, Function) noexcept {
  alignas(16) static constexpr auto from = [] {
    std::array<std::uint8_t, 16> table{};
    for (unsigned i = 0; i < 16; ++i) table[i] = static_cast<std::uint8_t>(Function{}(i));
    return table;
  }();
  const __m128i lane = _mm_load_si128(reinterpret_cast<const __m128i*>(from.data()));
  return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(lane));
}

// ---- ZE: 8 bytes at a time, with tables indexed by 8 bits of a bitmap

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

// ---- BIT: each quadword is an 8 x 8 bit matrix, which is mirrored at its antidiagonal.

inline Register mirrored(Register v) noexcept {
  const auto all = [](std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); };
  Register t = _mm256_xor_si256(_mm256_srli_epi64(v, 36), _mm256_xor_si256(v, _mm256_slli_epi64(v, 36)));
  v = _mm256_xor_si256(v, _mm256_and_si256(t, all(0xF0F0F0F00F0F0F0F)));
  t = _mm256_and_si256(_mm256_xor_si256(v, _mm256_slli_epi64(v, 18)), all(0xCCCC0000CCCC0000));
  v = _mm256_xor_si256(v, _mm256_xor_si256(t, _mm256_srli_epi64(t, 18)));
  t = _mm256_and_si256(_mm256_xor_si256(v, _mm256_slli_epi64(v, 9)), all(0xAA00AA00AA00AA00));
  return _mm256_xor_si256(v, _mm256_xor_si256(t, _mm256_srli_epi64(t, 9)));
}

}  // namespace
}  // namespace taut::mpc

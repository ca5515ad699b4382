// AVX2: bytes of registers, for avx2.cpp alone.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace taut::mpc {
namespace {

using Register = __m256i;

// ---- Shuffles of bytes within lanes of 16

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

// ---- ZE: 8 bytes at a time, by tables of what a bitmap of 8 bits asks for

using Eight = std::array<std::uint8_t, 8>;

constexpr auto kept_places = [] {  // of the bytes that are kept, in order
  std::array<Eight, 256> table{};
  for (unsigned map = 0; map < 256; ++map)
    for (unsigned i = 0, n = 0; i < 8; ++i)
      if (map >> i & 1) table[map][n++] = static_cast<std::uint8_t>(i);
  return table;
}();
constexpr auto restored_places = [] {  // where the byte of each place is taken from; 0x80: it is 0
  std::array<Eight, 256> table{};
  for (unsigned map = 0; map < 256; ++map)
    for (unsigned i = 0, n = 0; i < 8; ++i)
      table[map][i] = map >> i & 1 ? static_cast<std::uint8_t>(n++) : 0x80;
  return table;
}();

// The places of two bitmaps, of the second counted from 8.
inline __m128i places(const std::array<Eight, 256>& table, unsigned first, unsigned second) noexcept {
  const auto a = std::bit_cast<std::uint64_t>(table[first]);
  const auto b = std::bit_cast<std::uint64_t>(table[second]) + 0x0808080808080808;
  return _mm_set_epi64x(static_cast<long long>(b), static_cast<long long>(a));
}

inline std::byte* keep_lane(std::byte* out, __m128i lane, unsigned mask) noexcept {
  const __m128i kept = _mm_shuffle_epi8(lane, places(kept_places, mask & 255, mask >> 8));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), kept);
  out += _mm_popcnt_u32(mask & 255);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpackhi_epi64(kept, kept));
  return out + _mm_popcnt_u32(mask >> 8);
}

inline __m128i restore_lane(const std::byte*& in, unsigned mask) noexcept {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
  in += _mm_popcnt_u32(mask & 255);
  const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
  in += _mm_popcnt_u32(mask >> 8);
  return _mm_shuffle_epi8(_mm_unpacklo_epi64(first, second), places(restored_places, mask & 255, mask >> 8));
}

// ---- BIT: each quadword is 8 rows of 8 bits, mirrored at the antidiagonal.

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

// Byte operations on AVX2 registers. Included by avx2.cpp only.
#pragma once

#include <immintrin.h>

#include <array>
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

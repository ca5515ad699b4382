// AVX-512 (BW, VBMI, VBMI2, VNNI, GFNI): declarations shared by the headers of this kernel set, which alone
// include this file.
#pragma once

#include <immintrin.h>

#include <array>

#include "compressor/codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {

// The steps of loops over groups are forced inline, because a call would pass their registers through memory.

// 64 differences, each in C = 8, 16 or 32 bits.
template <unsigned C>
struct Group {
  __m512i part[C / 8];  // 64 / (C/8) values each, in order
};

// Returns n constants of the rule, in registers one after the other, for instructions that permute.
template <class Element, std::size_t n = 64 / sizeof(Element), class Rule>
const Element* constants(Rule) {
  alignas(64) static constexpr auto table = [] {
    std::array<Element, n> all{};
    for (unsigned i = 0; i < n; ++i) all[i] = static_cast<Element>(Rule{}(i));
    return all;
  }();
  return table.data();
}
template <class Rule>
__m512i bytes_by(Rule rule) {
  return _mm512_load_si512(constants<std::uint8_t>(rule));
}

// Transposes the bits of each 64-bit lane: byte b of the result holds bit b of the bytes, the first byte as
// the top bit. The operand is the matrix and the identity is transformed. Planes are stored sign first, so
// neither direction needs a byte reversal here.
inline __m512i to_values(__m512i planes) {
  return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(static_cast<long long>(0x8040201008040201)), planes,
                                       0);
}
inline __m512i to_planes(__m512i reversed_values) {
  return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(0x0102040810204080), reversed_values, 0);
}

// Returns a cleared register. On Zen 4 and Zen 5, byte compression and expansion depend on the old value of
// their target even when they zero it. A freshly cleared target keeps successive groups independent.
inline __m512i fresh_zero() {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

}  // namespace
}  // namespace taut::planes

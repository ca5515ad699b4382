// AVX-512 (BW, VBMI, VBMI2, VNNI, GFNI): what its headers share. Included by avx512*.hpp only.
#pragma once

#include <immintrin.h>

#include "codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {

// Steps of the loops over groups are forced inline: a call would pass their registers through memory.

// 64 differences, each in C = 8, 16 or 32 bits.
template <unsigned C>
struct Group {
  __m512i part[C / 8];  // 64 / (C/8) values each, in order
};

// Expansion and compression wait for the old value of their target even when they zero it (Zen 4, Zen 5): a
// cleared register of its own keeps the groups independent.
inline __m512i fresh_zero() {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

}  // namespace
}  // namespace taut::planes

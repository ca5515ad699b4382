// AVX-512 (BW, VBMI, VBMI2, VNNI, GFNI): declarations shared by the headers of this kernel set, which alone
// include this file.
#pragma once

#include <immintrin.h>

#include "codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {

// The steps of loops over groups are forced inline, because a call would pass their registers through memory.

// 64 differences, each in C = 8, 16 or 32 bits.
template <unsigned C>
struct Group {
  __m512i part[C / 8];  // 64 / (C/8) values each, in order
};

// Returns a cleared register. On Zen 4 and Zen 5, byte compression and expansion depend on the old value of
// their target even when they zero it. A freshly cleared target keeps successive groups independent.
inline __m512i fresh_zero() {
  __m512i zero;
  asm("vpxord %0, %0, %0" : "=v"(zero));
  return zero;
}

}  // namespace
}  // namespace taut::planes

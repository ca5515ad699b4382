// Declarations shared by the headers of the kernel set for AVX-512 (BW, VBMI, VBMI2, VNNI, GFNI). Only these
// include this file. In them, functions that loops call for each group are forced inline where compilers
// would otherwise call them, which would pass registers through memory.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "compressor/simd/avx512.hpp"

namespace taut::planes {
namespace {

using simd::Avx512;

// 64 differences, each in C = 8, 16 or 32 bits.
template <unsigned C>
struct Group {
  __m512i part[C / 8];  // each 64 / (C / 8) values, in order
};

// Convert each block of 8 bytes between values and planes, from the sign plane down. to_planes() takes the
// values in reverse order, so that no conversion has to reverse bytes.
inline __m512i to_values(__m512i planes) { return Avx512::transpose8x8(planes); }
inline __m512i to_planes(__m512i reversed_values) { return Avx512::mirror8x8(reversed_values); }

}  // namespace
}  // namespace taut::planes

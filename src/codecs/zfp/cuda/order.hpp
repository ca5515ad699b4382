// The order in which zfp codes the coefficients of a block: by the sum of their frequencies, then by that of
// their squares. Among equals it is zfp's choice (src/template/codec2.c and codec3.c of libzfp).
#pragma once

#include <cstdint>

namespace taut::zfp::cuda {

// Coefficient i of the stream is number at[i] of the block, 4 y + x, or 16 z + 4 y + x.
template <unsigned D>
struct Sequency;

template <>
struct Sequency<1> {
  std::uint8_t at[4] = {0, 1, 2, 3};
};
template <>
struct Sequency<2> {
  std::uint8_t at[16] = {0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15};
};
template <>
struct Sequency<3> {
  std::uint8_t at[64] = {0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33,
                         36, 3,  12, 48, 22, 25, 37, 40, 34, 10, 7,  19, 28, 13, 49, 52,
                         41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56, 42, 27, 39, 45,
                         30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
};

}  // namespace taut::zfp::cuda

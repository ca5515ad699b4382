// Encoding and decoding of one block of 64 values in portable code. It is the reference, and vector_block.hpp
// uses it for the widest offsets.
#pragma once

#include <limits>

#include "compressor/codecs/szx/kernels.hpp"
#include "compressor/simd/scalar.hpp"
#include "compressor/values/add_values.hpp"

namespace taut::szx {

inline constexpr std::size_t block_groups = block_values / 8;

// Writes the lowest 8 * (width / 8) bits of each offset as bytes, grouped by weight into rows of 64; then the
// remaining bits as bit planes of 64 bits. The least significant rows and planes come first.
template <class T>
void write_offsets(const BitsOf<T>* offsets, unsigned width, std::byte* to) noexcept {
  const unsigned whole = width / 8, rest = width % 8;
  for (unsigned k = 0; k < whole; ++k)
    for (std::size_t i = 0; i < block_values; ++i) *to++ = static_cast<std::byte>(offsets[i] >> 8 * k);
  if (rest == 0) return;
  for (std::size_t g = 0; g < block_groups; ++g) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 8; ++i)
      bytes |= std::uint64_t{static_cast<std::uint8_t>(offsets[8 * g + i] >> 8 * whole)} << 8 * i;
    bytes = simd::transpose8x8(bytes);
    for (unsigned k = 0; k < rest; ++k) to[8 * k + g] = static_cast<std::byte>(bytes >> 8 * k);
  }
}

template <class T>
void read_offsets(const std::byte* from, unsigned width, BitsOf<T>* offsets) noexcept {
  const unsigned whole = width / 8, rest = width % 8;
  const std::byte* const planes = from + whole * block_values;
  for (std::size_t g = 0; g < block_groups; ++g) {
    std::uint64_t bytes = 0;
    for (unsigned k = 0; k < rest; ++k) bytes |= std::to_integer<std::uint64_t>(planes[8 * k + g]) << 8 * k;
    bytes = simd::transpose8x8(bytes);
    for (std::size_t i = 0; i < 8; ++i)
      offsets[8 * g + i] =
          static_cast<BitsOf<T>>(BitsOf<T>{static_cast<std::uint8_t>(bytes >> 8 * i)} << 8 * whole);
  }
  for (unsigned k = 0; k < whole; ++k)
    for (std::size_t i = 0; i < block_values; ++i)
      offsets[i] |= static_cast<BitsOf<T>>(std::to_integer<BitsOf<T>>(*from++) << 8 * k);
}

template <bool corrected, class T>
void find_offsets(const T* x, T mu, BitsOf<T> span, const Grid<T>& grid, BitsOf<T>* offsets) noexcept {
  const auto most = static_cast<IntOf<T>>(span);
  for (std::size_t i = 0; i < block_values; ++i) {
    const IntOf<T> o = offset<corrected>(x[i], mu, grid);
    offsets[i] = static_cast<BitsOf<T>>(o < 0 ? 0 : o > most ? most : o);
  }
}

// Adds modulo 2^32 (2^64): frames may contain any numbers.
template <class T>
IntOf<T> sum_of(IntOf<T> low, BitsOf<T> offset) noexcept {
  return static_cast<IntOf<T>>(static_cast<BitsOf<T>>(low) + offset);
}

// Writes a value, or adds it as combine() does.
template <bool add, class T>
void write_value(T& y, T x) noexcept {
  y = add ? branchless_sum(y, x) : x;
}

struct ScalarBlocks {
  // Computes the least and the greatest value of each block. The least value is NaN if the block has a NaN.
  template <class T>
  static void extremes(const T* x, std::size_t blocks, T* least, T* greatest) noexcept {
    constexpr std::size_t lanes = 8;  // side by side, so that compilers vectorise the loop
    for (std::size_t b = 0; b < blocks; ++b, x += block_values) {
      T low[lanes], high[lanes];
      bool numbers = true;
      for (std::size_t j = 0; j < lanes; ++j) low[j] = high[j] = x[j];
      for (std::size_t i = 0; i < block_values; i += lanes)
        for (std::size_t j = 0; j < lanes; ++j) {
          low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
          high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
        }
      for (std::size_t i = 0; i < block_values; ++i) numbers &= x[i] == x[i];
      least[b] = numbers ? *std::min_element(low, low + lanes) : std::numeric_limits<T>::quiet_NaN();
      greatest[b] = *std::max_element(high, high + lanes);
    }
  }

  template <class T>
  static void pack(const T* x, IntOf<T> low, BitsOf<T> span, unsigned width, const Grid<T>& grid,
                   std::byte* to) noexcept {
    BitsOf<T> offsets[block_values];
    if (width <= Limits<T>::direct_bits) {
      find_offsets<false>(x, grid.value(low), span, grid, offsets);
    } else {
      find_offsets<true>(x, grid.value(low), span, grid, offsets);
    }
    write_offsets<T>(offsets, width, to);
  }

  template <bool add, class T>
  static void unpack(const std::byte* from, IntOf<T> low, unsigned width, const Grid<T>& grid,
                     T* y) noexcept {
    BitsOf<T> offsets[block_values];
    read_offsets<T>(from, width, offsets);
    for (std::size_t i = 0; i < block_values; ++i)
      write_value<add>(y[i], grid.value(sum_of<T>(low, offsets[i])));
  }
};

}  // namespace taut::szx

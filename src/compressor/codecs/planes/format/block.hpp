// Conversion between a block of 8 differences and its bit planes, in portable code. It is the reference for
// every kernel set.
#pragma once

#include <array>

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/simd/scalar.hpp"

namespace taut::planes {

// Returns the zigzag form of d: 2 d, or -2 d - 1 if d is negative. It has as many bits as the two's
// complement form, sign included, and is 0 only for 0.
template <class Int>
constexpr std::make_unsigned_t<Int> zigzag(Int d) noexcept {
  using Bits = std::make_unsigned_t<Int>;
  return (static_cast<Bits>(d) << 1) ^ static_cast<Bits>(d >> (8 * sizeof(Int) - 1));
}

// Returns the width of eight differences: the bits of the longest one, sign included.
template <class Int>
unsigned block_width(const Int* d) noexcept {
  std::make_unsigned_t<Int> bits = 0;
  for (std::size_t i = 0; i < block_values; ++i) bits |= zigzag(d[i]);
  return static_cast<unsigned>(std::bit_width(bits));
}

// Writes the lowest `planes` <= 8 bit planes of eight bytes, highest first. May overwrite 8 bytes beyond
// them.
inline std::byte* write_planes(std::byte* out, std::uint64_t bytes, unsigned planes) noexcept {
  store(out,
        __builtin_bswap64(simd::transpose8x8(bytes)) >> ((64 - 8 * planes) % 64));  // planes == 0: all zero
  return out + planes;
}

// Reads `planes` (1 to 8) bit planes into bytes. The first plane becomes the top bit; bits below the last
// plane are zero.
inline std::array<std::int8_t, block_values> read_planes(const std::byte* in, unsigned planes) noexcept {
  const unsigned absent = 64 - 8 * planes;
  return std::bit_cast<std::array<std::int8_t, block_values>>(
      simd::transpose8x8(__builtin_bswap64(load<std::uint64_t>(in)) >> absent << absent));
}

// Writes the `width` bytes of a block, sign plane first. May overwrite 8 bytes beyond them.
template <class Int>
std::byte* write_block(std::byte* out, const Int* d, unsigned width) noexcept {
  for (unsigned row = (width + 7) / 8; row-- > 0;) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < block_values; ++i)
      bytes |= static_cast<std::uint64_t>(d[i] >> (8 * row) & 0xFF) << (8 * i);
    out = write_planes(out, bytes, std::min(8u, width - 8 * row));
  }
  return out;
}

// Reads the `width` bytes of a block. May read up to 8 bytes beyond them, which are ignored.
template <class Int>
const std::byte* read_block(const std::byte* in, unsigned width, Int* d) noexcept {
  std::fill_n(d, block_values, Int{0});
  if (width == 0) return in;
  for (unsigned done = 0; done < width; done += 8) {  // the first eight planes carry the sign
    const unsigned planes = std::min(8u, width - done), absent = 8 - planes;
    const auto bytes = read_planes(in, planes);
    for (std::size_t i = 0; i < block_values; ++i)
      d[i] = done == 0 ? Int{bytes[i]} >> absent
                       : static_cast<Int>(d[i] << planes | static_cast<std::uint8_t>(bytes[i]) >> absent);
    in += planes;
  }
  return in;
}

}  // namespace taut::planes

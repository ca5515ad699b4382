// One block of 8 differences <-> its bit planes, in portable code. The reference for every kernel set.
#pragma once

#include "codecs/planes/format.hpp"

namespace taut::planes {

// Transposes an 8 x 8 bit matrix, row i = byte i (Hacker's Delight, 2nd ed., section 7-3).
constexpr std::uint64_t transpose8(std::uint64_t x) noexcept {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AA;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCC;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0;
  return x ^ t ^ (t << 28);
}

// Bits of the two's complement form, sign included; 0 only when all are zero.
template <class Int>
unsigned block_width(const Int* d) noexcept {
  using Bits = std::make_unsigned_t<Int>;
  Bits any = 0, magnitude = 0;
  for (std::size_t i = 0; i < block_values; ++i) {
    any |= static_cast<Bits>(d[i]);
    magnitude |= static_cast<Bits>(d[i] ^ (d[i] >> (8 * sizeof(Int) - 1)));
  }
  return any == 0 ? 0 : static_cast<unsigned>(std::bit_width(magnitude)) + 1;
}

// Writes `width` bytes, sign plane first; may overwrite 8 bytes beyond them.
template <class Int>
std::byte* write_block(std::byte* out, const Int* d, unsigned width) noexcept {
  for (unsigned row = (width + 7) / 8; row-- > 0;) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < block_values; ++i)
      bytes |= static_cast<std::uint64_t>(d[i] >> (8 * row) & 0xFF) << (8 * i);
    const unsigned planes = std::min(8u, width - 8 * row);
    store(out, __builtin_bswap64(transpose8(bytes)) >> (64 - 8 * planes));
    out += planes;
  }
  return out;
}

// Reads `width` bytes, of up to 8 beyond nothing is used.
template <class Int>
const std::byte* read_block(const std::byte* in, unsigned width, Int* d) noexcept {
  using Bits = std::make_unsigned_t<Int>;
  Bits u[block_values] = {};
  for (unsigned row = (width + 7) / 8; row-- > 0;) {
    const unsigned planes = std::min(8u, width - 8 * row);
    const std::uint64_t top = __builtin_bswap64(load<std::uint64_t>(in)) >> (64 - 8 * planes);
    const std::uint64_t bytes = transpose8(top);
    for (std::size_t i = 0; i < block_values; ++i)
      u[i] |= static_cast<Bits>(bytes >> (8 * i) & 0xFF) << (8 * row);
    in += planes;
  }
  const Bits sign = width == 0 ? 0 : Bits{1} << (width - 1);
  for (std::size_t i = 0; i < block_values; ++i) d[i] = static_cast<Int>((u[i] ^ sign) - sign);
  return in;
}

}  // namespace taut::planes

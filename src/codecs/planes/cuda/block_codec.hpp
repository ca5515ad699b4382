// One block of 8 differences in the registers of a thread <-> its bit planes. The stream is that of
// block.hpp.
#pragma once

#include "codecs/planes/block.hpp"
#include "codecs/planes/cuda/simt.hpp"

namespace taut::planes::cuda {

// Eight bytes as two words: a GPU has 32-bit registers.
struct Bytes8 {
  std::uint32_t low, high;
};

// transpose8 of block.hpp. The first two steps stay within the words, the third goes across.
TAUT_DEVICE Bytes8 transpose(Bytes8 x) {
  std::uint32_t t = (x.low ^ (x.low >> 7)) & 0x00AA00AA, u = (x.high ^ (x.high >> 7)) & 0x00AA00AA;
  x.low ^= t ^ (t << 7);
  x.high ^= u ^ (u << 7);
  t = (x.low ^ (x.low >> 14)) & 0x0000CCCC;
  u = (x.high ^ (x.high >> 14)) & 0x0000CCCC;
  x.low ^= t ^ (t << 14);
  x.high ^= u ^ (u << 14);
  return {(x.low & 0x0F0F0F0F) | ((x.high & 0x0F0F0F0F) << 4),
          ((x.low >> 4) & 0x0F0F0F0F) | (x.high & 0xF0F0F0F0)};
}

// Bytes `row` of eight integers.
template <class Int>
TAUT_DEVICE Bytes8 byte_row(const Int (&d)[block_values], unsigned row) {
  Bytes8 bytes{0, 0};
  for (unsigned i = 0; i < 4; ++i) {
    bytes.low |= (static_cast<std::uint32_t>(d[i] >> (8 * row)) & 0xFF) << (8 * i);
    bytes.high |= (static_cast<std::uint32_t>(d[i + 4] >> (8 * row)) & 0xFF) << (8 * i);
  }
  return bytes;
}

template <class Simt, class Int>
TAUT_DEVICE unsigned width_of(const Simt& simt, const Int (&d)[block_values]) {
  std::make_unsigned_t<Int> folded = 0;
  for (unsigned i = 0; i < block_values; ++i) folded |= fold_sign(d[i]);
  return 8 * sizeof(Int) - simt.leading_zeros(folded);
}

TAUT_DEVICE std::uint8_t byte_of(const Bytes8& x, unsigned i) {
  return static_cast<std::uint8_t>((i < 4 ? x.low : x.high) >> (8 * (i % 4)));
}

// Writes `width` bytes, sign plane first.
template <class Int>
TAUT_DEVICE void write_block(std::uint8_t* to, const Int (&d)[block_values], unsigned width) {
  for (unsigned row = (width + 7) / 8; row-- > 0;) {
    const Bytes8 planes = transpose(byte_row(d, row));
    for (unsigned i = width - 8 * row < 8 ? width - 8 * row : 8; i-- > 0;) *to++ = byte_of(planes, i);
  }
}

// Words of a record that may be read, from its first one on.
struct Words {
  const std::uint32_t* at = nullptr;
  std::uint32_t count = 0;

  TAUT_DEVICE std::uint32_t operator[](std::uint32_t i) const { return i < count ? at[i] : 0; }
  TAUT_DEVICE std::uint8_t byte(std::uint32_t i) const {
    return static_cast<std::uint8_t>((*this)[i / 4] >> (8 * (i % 4)));
  }
  // Four bytes from any place on.
  TAUT_DEVICE std::uint32_t word(std::uint32_t byte) const {
    const std::uint64_t both = (*this)[byte / 4] | std::uint64_t{(*this)[byte / 4 + 1]} << 32;
    return static_cast<std::uint32_t>(both >> (8 * (byte % 4)));
  }
  TAUT_DEVICE Bytes8 bytes8(std::uint32_t byte) const {
    const std::uint32_t first = (*this)[byte / 4], second = (*this)[byte / 4 + 1],
                        third = (*this)[byte / 4 + 2];
    const unsigned by = 8 * (byte % 4);
    return {static_cast<std::uint32_t>((first | std::uint64_t{second} << 32) >> by),
            static_cast<std::uint32_t>((second | std::uint64_t{third} << 32) >> by)};
  }
};

TAUT_DEVICE std::uint32_t reversed(std::uint32_t x) {
  return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24;
}

// The first `planes` of 1 to 8 bit planes in the upper bits of eight bytes, zeros below.
TAUT_DEVICE Bytes8 read_planes(const Words& in, std::uint32_t at, unsigned planes) {
  const Bytes8 bytes = in.bytes8(at);
  const unsigned absent = 8 * (8 - planes);
  const std::uint64_t rows =
      (std::uint64_t{reversed(bytes.low)} << 32 | reversed(bytes.high)) >> absent << absent;
  return transpose({static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(rows >> 32)});
}

// Reads the `width` bytes at byte `at`.
template <class Int>
TAUT_DEVICE void read_block(const Words& in, std::uint32_t at, unsigned width, Int (&d)[block_values]) {
  for (unsigned i = 0; i < block_values; ++i) d[i] = 0;
  for (unsigned done = 0; done < width; done += 8) {  // the first eight carry the sign
    const unsigned planes = width - done < 8 ? width - done : 8, absent = 8 - planes;
    const Bytes8 bytes = read_planes(in, at + done, planes);
    for (unsigned i = 0; i < block_values; ++i) {
      const std::uint8_t byte = byte_of(bytes, i);
      using Bits = std::make_unsigned_t<Int>;
      d[i] = done == 0
                 ? static_cast<Int>(static_cast<std::int8_t>(byte)) >> absent
                 : static_cast<Int>(static_cast<Bits>(d[i]) << planes | static_cast<Bits>(byte >> absent));
    }
  }
}

}  // namespace taut::planes::cuda

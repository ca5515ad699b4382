// Encodes a codec block, 8 differences in the registers of a thread, to bit planes, and decodes it. The
// bytes are those of codecs/planes/format/block.hpp. A row is 8 planes: those of one byte of the differences,
// row 0 of the lowest byte.
#pragma once

#include "compressor/codecs/planes/format/block.hpp"
#include "compressor/gpu/planes/chunk_threads.hpp"
#include "compressor/gpu/simt/bit_planes.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::planes::cuda {

// Returns the width of a block: the number of planes of its longest difference, including the sign plane; 0
// if all differences are 0.
template <class Simt, class Int>
TAUT_DEVICE unsigned width_of(const Simt& simt, const Int (&d)[block_values]) {
  using Bits = std::make_unsigned_t<Int>;
  Bits changes = 0;  // bit k: bits k and k - 1 differ in some difference
  for (unsigned i = 0; i < block_values; ++i)
    changes |= static_cast<Bits>(d[i]) ^ static_cast<Bits>(d[i]) << 1;
  return 8 * sizeof(Int) - simt.leading_zeros(changes);
}

// Returns the number of rows that the widths of a warp's blocks need: a power of two, so that few cases have
// code of their own.
template <class Int, class Simt>
TAUT_DEVICE unsigned rows_of(const Simt& simt, unsigned width) {
  const std::uint32_t greatest = simt.reduce_max(width);
  return greatest <= 8 ? 1 : greatest <= 16 ? 2 : sizeof(Int);
}

// Writes the planes of a row that are below plane `width`, the highest plane first, a byte each.
TAUT_DEVICE void write_row(std::uint8_t* to, const PlaneRow& planes, unsigned row, unsigned width) {
  for (unsigned k = 0; k < 8; ++k) {
    const std::uint32_t word = k < 4 ? planes.low : planes.high;
    if (8 * row + k < width) to[width - 1 - (8 * row + k)] = static_cast<std::uint8_t>(word >> (8 * (k % 4)));
  }
}

template <unsigned Rows, class Simt, class Int>
TAUT_DEVICE void write_rows(const Simt& simt, std::uint8_t* to, const Int (&d)[block_values],
                            unsigned width) {
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned row = 0; row < Rows; ++row)
    write_row(to, to_planes(simt, byte_row(simt, d, row)), row, width);
}

// A block to be written, given by its differences.
template <class Int>
struct Differences {
  const Int (&d)[block_values];

  // Writes `width` bytes, the sign plane first. Called by whole warps.
  template <class Simt>
  TAUT_DEVICE void write(const Simt& simt, std::uint8_t* to, unsigned width) const {
    const unsigned rows = rows_of<Int>(simt, width);
    if (rows == 1) {
      write_rows<1>(simt, to, d, width);
    } else if (rows == 2) {
      write_rows<2>(simt, to, d, width);
    } else {
      write_rows<sizeof(Int)>(simt, to, d, width);
    }
  }
};

// Eight bytes, the first one lowest.
struct Bytes8 {
  std::uint32_t low, high;
};

// Loads `count` <= 8 bytes of a block from byte `first_byte` on, followed by undefined bytes.
template <class Simt>
TAUT_DEVICE Bytes8 load_bytes8(const Simt& simt, const Words& in, std::uint32_t first_byte, unsigned count) {
  const std::uint32_t* const words = in.data + first_byte / 4;
  const unsigned end = first_byte % 4 + count;
  const std::uint32_t first = count > 0 ? words[0] : 0, second = end > 4 ? words[1] : 0,
                      third = end > 8 ? words[2] : 0;
  const std::uint32_t selector = 0x3210 + first_byte % 4 * 0x1111;
  return {simt.permute_bytes(first, second, selector), simt.permute_bytes(second, third, selector)};
}

// Reads a row of a block of `width` planes that begins at byte `first_byte`. Planes above the block's are
// copies of the sign plane. `is_top`: no block of the warp has planes above this row.
template <class Simt>
TAUT_DEVICE PlaneRow read_row(const Simt& simt, const Words& in, std::uint32_t first_byte, unsigned width,
                              unsigned row, bool is_top) {
  // Planes from the row's lowest one up; of a row above the block the sign plane alone.
  const unsigned from_row_up = width > 8 * row ? width - 8 * row : 1;
  const unsigned above = is_top || from_row_up <= 8 ? 0 : from_row_up - 8, planes = from_row_up - above;
  const Bytes8 bytes = load_bytes8(simt, in, first_byte + above, width == 0 ? 0 : planes);
  const std::uint32_t selector = 0x01234567u >> (32 - 4 * planes);  // byte k is plane planes - 1 - k
  return {simt.permute_bytes(bytes.low, bytes.high, selector),
          simt.permute_bytes(bytes.low, bytes.high, selector >> 16)};
}

template <unsigned Rows, class Simt, class Int>
TAUT_DEVICE void read_rows(const Simt& simt, const Words& in, std::uint32_t first_byte, unsigned width,
                           Int (&d)[block_values]) {
  const auto bytes = [&](unsigned row) {
    return to_bytes(simt, read_row(simt, in, first_byte, width, row, row + 1 == Rows));
  };
  // Each step reads 16 bits of each difference, with their sign. Integer i is byte i / 2 of `even` or `odd`.
  // Selector digit 8 + k repeats the sign of byte k. With one row, byte 1 of the result is the sign too.
  for (unsigned row = 0; row < Rows; row += 2) {
    const ByteRow low = bytes(row), high = Rows > 1 ? bytes(row + 1) : low;
    for (unsigned i = 0; i < block_values; ++i) {
      const unsigned at_low = i / 2, at_high = Rows > 1 ? 4 + i / 2 : 8 + i / 2, sign = at_high | 8;
      const std::uint32_t two =
          simt.permute_bytes(i % 2 == 0 ? low.even : low.odd, i % 2 == 0 ? high.even : high.odd,
                             at_low | at_high << 4 | sign << 8 | sign << 12);
      using Bits = std::make_unsigned_t<Int>;
      const Bits below = row == 0 ? 0 : static_cast<Bits>(d[i]) & ((Bits{1} << (8 * row)) - 1);
      d[i] = static_cast<Int>(below | static_cast<Bits>(Int{static_cast<std::int32_t>(two)}) << (8 * row));
    }
  }
}

// Decodes the block of `width` bytes that begins at byte `first_byte`. Called by whole warps.
template <class Simt, class Int>
TAUT_DEVICE void read_block(const Simt& simt, const Words& in, std::uint32_t first_byte, unsigned width,
                            Int (&d)[block_values]) {
  const unsigned rows = rows_of<Int>(simt, width);
  if (rows == 1) {
    read_rows<1>(simt, in, first_byte, width, d);
  } else if (rows == 2) {
    read_rows<2>(simt, in, first_byte, width, d);
  } else {
    read_rows<sizeof(Int)>(simt, in, first_byte, width, d);
  }
}

// Decodes like read_block(), row by row in loops that are not unrolled, for kernels whose registers are
// scarce.
template <class Simt, class Int>
TAUT_DEVICE void read_block_in_loops(const Simt& simt, const Words& in, std::uint32_t first_byte,
                                     unsigned width, Int (&d)[block_values]) {
  using Bits = std::make_unsigned_t<Int>;
  const unsigned rows = (simt.reduce_max(width) + 7) / 8;
  TAUT_ROLLED
  for (unsigned i = 0; i < block_values; ++i) d[i] = 0;
  TAUT_ROLLED
  for (unsigned row = 0; row < rows; ++row) {
    const ByteRow bytes = to_bytes(simt, read_row(simt, in, first_byte, width, row, false));
    TAUT_ROLLED
    for (unsigned i = 0; i < block_values; ++i) {
      const std::uint32_t four = i % 2 == 0 ? bytes.even : bytes.odd;
      const auto byte = static_cast<std::int8_t>(four >> (8 * (i / 2)));  // bits above it: the sign
      const Bits below = static_cast<Bits>(d[i]) & ((Bits{1} << (8 * row)) - 1);
      d[i] = static_cast<Int>(below | static_cast<Bits>(Int{byte}) << (8 * row));
    }
  }
}

}  // namespace taut::planes::cuda

// Conversion between the payload of a chunk and bit slices (slices.hpp), through rows of 16 bytes. A row is
// the planes of one or two blocks. One shuffle reads a row from the payload or writes it there.
//
// C, in this folder: class of the chunk, 8 or 16. No difference has more than C bits. R: registers
// (slices.hpp).
#pragma once

#include <array>

#include "compressor/codecs/planes/kernels/slices/slices.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Number of blocks that share a row: two of class 8, one of class 16.
template <unsigned C>
inline constexpr unsigned row_blocks = 16 / C;
template <unsigned C>
inline constexpr std::size_t lane_rows = lane_blocks / row_blocks<C>;

// Rows of a batch as registers: the same row of all lanes side by side.
template <class R, unsigned C>
struct Rows {
  alignas(32) std::uint8_t data[chunk_blocks / batch_blocks<R>][lane_rows<C>][R::lanes][lane_bytes];
};

// Widths of the blocks of each row: offset in bytes of the shuffle for these widths, and bytes in the
// payload.
template <class R, unsigned C>
struct RowWidths {
  alignas(32) std::uint16_t shuffle[chunk_blocks / row_blocks<C>], bytes[chunk_blocks / row_blocks<C>];

  RowWidths(const std::uint8_t* widths, std::size_t batches) {
    for (std::size_t i = 0; i < batches * R::lanes * lane_rows<C>; i += 16)
      if constexpr (C == 8)
        R::widths_of_pairs(widths + 2 * i, shuffle + i, bytes + i);
      else
        R::widths_of_blocks(widths + i, shuffle + i, bytes + i);
  }
};

// Returns the shuffles for every combination of widths of a row. rule(i, first, second): source of byte i for
// two blocks with these widths, or 0x80 for the byte 0.
template <unsigned C, class Rule>
constexpr auto shuffles_by(Rule rule) {
  constexpr unsigned second_widths = C == 8 ? 9 : 1;
  std::array<std::array<std::uint8_t, lane_bytes>, (C + 1) * second_widths> all{};
  for (unsigned k = 0; k < all.size(); ++k)
    for (unsigned i = 0; i < lane_bytes; ++i)
      all[k][i] = static_cast<std::uint8_t>(rule(i, k / second_widths, k % second_widths));
  return all;
}

// Plane p of block b is at row_blocks * p + b in a row that was read, the sign repeated upwards, and at
// C * b + p in a row to be written. The transpositions start from the former and end with the latter.
template <unsigned C>
alignas(64) constexpr auto from_payload = shuffles_by<C>([](unsigned i, unsigned first, unsigned second) {
  const unsigned p = i / row_blocks<C>, b = i % row_blocks<C>;
  const unsigned width = b == 0 ? first : second, start = b == 0 ? 0 : first;
  return width == 0 ? 0x80 : start + (p < width ? width - 1 - p : 0);
});
template <unsigned C>
alignas(64) constexpr auto to_payload = shuffles_by<C>([](unsigned i, unsigned first, unsigned second) {
  return i < first ? first - 1 - i : i < first + second ? C + first + second - 1 - i : 0x80;
});

// Read the rows of a chunk from its payload, and write them there.
template <class R, unsigned C>
void read_rows(const PlanesIn& in, std::size_t batches, Rows<R, C>& rows) {
  const RowWidths<R, C> widths(in.widths->width, batches);
  const std::byte* at = in.payload;
  for (std::size_t lane = 0, i = 0; lane < R::lanes * batches; ++lane)
#pragma GCC unroll 8
    for (std::size_t row = 0; row < lane_rows<C>; ++row, ++i) {
      R::shuffle_bytes(rows.data[lane / R::lanes][row][lane % R::lanes], at,
                       from_payload<C>.front().data() + widths.shuffle[i]);
      at += widths.bytes[i];
    }
}

template <class R, unsigned C>
void write_rows(const Rows<R, C>& rows, std::size_t batches, PlanesOut& out) {
  const RowWidths<R, C> widths(out.widths.width, batches);
  std::byte* at = out.payload;
  for (std::size_t lane = 0, i = 0; lane < R::lanes * batches; ++lane)
#pragma GCC unroll 8
    for (std::size_t row = 0; row < lane_rows<C>; ++row, ++i) {
      R::shuffle_bytes(at, rows.data[lane / R::lanes][row][lane % R::lanes],
                       to_payload<C>.front().data() + widths.shuffle[i]);
      at += widths.bytes[i];
    }
  out.bytes = static_cast<std::size_t>(at - out.payload);
  const std::size_t written = batches * batch_blocks<R>;
  std::memset(out.widths.width + written, 0, chunk_blocks - written);
}

// Convert the rows of a batch to bit slices and back, by the steps of interleave() in slices.hpp. "k2, k1, k0
// leave p2, p1, p0": registers that were numbered by the bits k are then numbered by the bits p of a plane.
template <class R>
inline BitSlices<R, 8> slices_of_rows(const Rows<R, 8>& rows, std::size_t batch) {
  BitSlices<R, 8> s;
  for (unsigned k = 0; k < 8; ++k) s.plane[k] = R::load(rows.data[batch][k]);
  interleave_each<R, std::uint8_t, 8, 4, 2, 1>(s.plane);  // k2, k1, k0 leave p2, p1, p0
  return s;
}

template <class R>
[[gnu::always_inline]] inline BitSlices<R, 16> slices_of_rows(const Rows<R, 16>& rows, std::size_t batch) {
  typename R::Register r[16];
  for (unsigned x = 0; x < 16; ++x) r[x] = R::load(rows.data[batch][x]);
  interleave_each<R, std::uint8_t, 16, 1, 8, 4, 2>(r);  // b, k2, k1, k0 leave p3, p2, p1, p0
  BitSlices<R, 16> s;
  for (unsigned p = 0; p < 16; ++p) s.plane[p] = r[(p & 7) << 1 | p >> 3];
  return s;
}

template <class R>
inline void write_to_rows(BitSlices<R, 8> s, std::size_t batch, Rows<R, 8>& rows) {
  interleave_each<R, std::uint8_t, 8, 4, 2, 1>(s.plane);  // p2, p1, p0 leave b, k2, k1
  for (unsigned k = 0; k < 8; k += 2) {
    const typename R::Register even = s.plane[k / 2], odd = s.plane[4 + k / 2];
    R::store(rows.data[batch][k], R::template zip_low<std::uint64_t>(even, odd));
    R::store(rows.data[batch][k + 1], R::template zip_high<std::uint64_t>(even, odd));
  }
}

template <class R>
inline void write_to_rows(BitSlices<R, 16> s, std::size_t batch, Rows<R, 16>& rows) {
  interleave_each<R, std::uint8_t, 16, 8, 4, 2, 1>(s.plane);  // p3, p2, p1, p0 leave b, k2, k1, k0
  for (unsigned k = 0; k < 8; ++k)
    for (unsigned b = 0; b < 2; ++b) R::store(rows.data[batch][2 * k + b], s.plane[8 * b + k]);
}

}  // namespace
}  // namespace taut::planes

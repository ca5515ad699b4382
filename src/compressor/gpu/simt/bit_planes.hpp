// Transposes eight integers in a thread's registers to their bit planes, and back; masks of bytes.
#pragma once

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

inline constexpr unsigned matrix_side = 8;  // rows and columns of a bit matrix

// Eight bit planes of eight integers, the lowest first: one byte for each plane, whose bit j is that of
// integer j.
struct PlaneRow {
  std::uint32_t low, high;
};

// One byte of each of eight integers: of integers 0, 2, 4, 6 in `even`, of 1, 3, 5, 7 in `odd`.
struct ByteRow {
  std::uint32_t even, odd;
};

// Does one step of a transposition: exchanges the bits above the diagonal in `a` with the bits below the
// diagonal in `b`, which are `Distance` places apart.
template <unsigned Distance, class Simt>
TAUT_DEVICE void swap_off_diagonal(const Simt& simt, std::uint32_t& a, std::uint32_t& b) {
  constexpr std::uint32_t lower = Distance == 1 ? 0x55555555 : Distance == 2 ? 0x33333333 : 0x0F0F0F0F;
  const std::uint32_t row = simt.bit_select(lower, a, b << Distance);
  b = simt.bit_select(lower, a >> Distance, b);
  a = row;
}

// Transposes an 8 x 8 bit matrix in three steps. Between the steps bytes are moved (each digit of a selector
// names one byte), so that every step exchanges bits between the two words. This takes half the operations of
// a step within the words.
template <class Simt>
TAUT_DEVICE ByteRow to_bytes(const Simt& simt, PlaneRow x) {
  swap_off_diagonal<4>(simt, x.low, x.high);
  std::uint32_t a = simt.permute_bytes(x.low, x.high, 0x5410), b = simt.permute_bytes(x.low, x.high, 0x7632);
  swap_off_diagonal<2>(simt, a, b);
  ByteRow y{simt.permute_bytes(a, b, 0x6240), simt.permute_bytes(a, b, 0x7351)};
  swap_off_diagonal<1>(simt, y.even, y.odd);
  return y;
}
// Transposes in the other direction.
template <class Simt>
TAUT_DEVICE PlaneRow to_planes(const Simt& simt, ByteRow y) {
  swap_off_diagonal<1>(simt, y.even, y.odd);
  std::uint32_t a = simt.permute_bytes(y.even, y.odd, 0x6240), b = simt.permute_bytes(y.even, y.odd, 0x7351);
  swap_off_diagonal<2>(simt, a, b);
  PlaneRow x{simt.permute_bytes(a, b, 0x5410), simt.permute_bytes(a, b, 0x7632)};
  swap_off_diagonal<4>(simt, x.low, x.high);
  return x;
}

// Returns byte `row` of each of eight integers.
template <class Simt, class Int>
TAUT_DEVICE ByteRow byte_row(const Simt& simt, const Int (&d)[matrix_side], unsigned row) {
  std::uint32_t words[matrix_side];  // the 32 bits of each integer that hold the byte
  for (unsigned i = 0; i < matrix_side; ++i) words[i] = static_cast<std::uint32_t>(d[i] >> (row / 4 * 32));
  const std::uint32_t pair = row % 4 | (4 + row % 4) << 4;  // selects the byte of two integers
  const auto four = [&](unsigned first) {
    return simt.permute_bytes(simt.permute_bytes(words[first], words[first + 2], pair),
                              simt.permute_bytes(words[first + 4], words[first + 6], pair), 0x5410);
  };
  return {four(0), four(1)};
}

// Returns integer i of eight integers, given their bytes, the lowest first: joins two bytes, then four.
template <class Word, class Simt>
TAUT_DEVICE Word integer_of(const Simt& simt, const ByteRow (&rows)[sizeof(Word)], unsigned i) {
  const unsigned at = i / 2;
  const auto own_row = [&](unsigned row) { return i % 2 == 0 ? rows[row].even : rows[row].odd; };
  if constexpr (sizeof(Word) == 1) {
    return static_cast<Word>(own_row(0) >> (8 * at));
  } else {
    const auto two_bytes = [&](unsigned row) {
      return simt.permute_bytes(own_row(row), own_row(row + 1), at | (4 + at) << 4);
    };
    Word word = static_cast<Word>(two_bytes(0));
    for (unsigned row = 0; sizeof(Word) > 2 && row < sizeof(Word); row += 4) {
      const std::uint32_t four = simt.permute_bytes(two_bytes(row), two_bytes(row + 2), 0x5410);
      word = row == 0 ? static_cast<Word>(four)
                      : static_cast<Word>(word | static_cast<std::uint64_t>(four) << (8 * row));
    }
    return word;
  }
}

// Returns a mask whose bit i is set if byte i of `v` is not 0. `tops` has the top bit of each such byte; the
// multiplication gathers the four bits.
TAUT_DEVICE std::uint32_t nonzero_bytes(std::uint32_t v) {
  const std::uint32_t tops = (((v & 0x7F7F7F7F) + 0x7F7F7F7F) | v) & 0x80808080;
  return (tops >> 7) * 0x10204080 >> 28;
}

}  // namespace taut::cuda

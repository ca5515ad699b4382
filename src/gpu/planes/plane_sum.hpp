// Adds blocks of differences as they are stored in records, plane by plane: carries propagate from each plane
// to the plane above it, for eight differences at once. No block is transposed.
#pragma once

#include "gpu/planes/block_codec.hpp"

namespace taut::planes::cuda {

// word <- word + other, four planes of each. On entry, the upper byte of `carry` holds the carries out of the
// planes below; on return, the carries out of these planes.
template <class Simt>
TAUT_DEVICE void add_word(const Simt& simt, std::uint32_t& word, std::uint32_t other, std::uint32_t& carry) {
  const auto into = [&](std::uint32_t out) { return simt.permute(carry, out, 0x6543); };
  const std::uint32_t differ = word ^ other;
  std::uint32_t out = word;
  for (unsigned plane = 0; plane < 4; ++plane) out = simt.choose(differ, into(out), word);
  word = differ ^ into(out);
  carry = out;
}

// Sum, modulo 2^32, of one thread's block over several records. Used by whole warps.
class PlaneSum {
 public:
  // Adds the block of `width` planes at byte `at`.
  template <class Simt>
  TAUT_DEVICE void add(const Simt& simt, const Words& in, std::uint32_t at, unsigned width) {
    greatest_ = width > greatest_ ? width : greatest_;
    const unsigned rows = rows_of<std::int32_t>(simt, greatest_ + 32 - simt.leading_zeros(added_));
    if (rows <= 1) {
      add_rows<1>(simt, in, at, width);
    } else if (rows == 2) {
      add_rows<2>(simt, in, at, width);
    } else {
      add_rows<4>(simt, in, at, width);
    }
  }

  // Adds a block; the sum is known to fit in `Rows` rows.
  template <unsigned Rows, class Simt>
  TAUT_DEVICE void add_rows(const Simt& simt, const Words& in, std::uint32_t at, unsigned width) {
    widen<Rows>(simt);
    std::uint32_t carry = 0;
    for (unsigned row = 0; row < Rows; ++row) {
      const PlaneRow planes = read_row(simt, in, at, width, row, row + 1 == Rows);
      if (added_ == 0) {
        words_[2 * row] = planes.low;
        words_[2 * row + 1] = planes.high;
      } else {
        add_word(simt, words_[2 * row], planes.low, carry);
        add_word(simt, words_[2 * row + 1], planes.high, carry);
      }
    }
    ++added_;
  }

  // Returns the number of planes, including the sign plane; 0 if all sums are 0.
  template <class Simt>
  TAUT_DEVICE unsigned width(const Simt& simt) const {
    std::uint32_t top = 0, planes = 4;  // highest word with a plane that differs from the one below
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint32_t changes = words_[i] ^ simt.permute(i == 0 ? 0 : words_[i - 1], words_[i], 0x6543);
      if (i > 0 && (i >= 2 * rows_ || changes == 0)) continue;
      top = changes;
      planes = 4 * (i + 1);
    }
    return planes - simt.leading_zeros(top) / 8;
  }

  template <class Simt>
  TAUT_DEVICE void write(const Simt&, std::uint8_t* to, unsigned width) const {
    for (unsigned row = 0; row < 4; ++row)
      if (row < rows_) write_row(to, {words_[2 * row], words_[2 * row + 1]}, row, width);
  }

 private:
  // Repeats the sign plane up to `Rows` rows.
  template <unsigned Rows, class Simt>
  TAUT_DEVICE void widen(const Simt& simt) {
    for (unsigned i = 2; i < 2 * Rows; ++i)
      if (i >= 2 * rows_) words_[i] = simt.permute(words_[i - 1], 0, 0x3333);
    rows_ = Rows;
  }

  std::uint32_t words_[8] = {};
  unsigned greatest_ = 0, added_ = 0;
  unsigned rows_ = 1;
};

}  // namespace taut::planes::cuda

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

// Sum, modulo 2^32, of one thread's block over several records, in registers. `Rows` rows are enough for the
// sum. Used by whole warps.
template <unsigned Rows>
class PlaneSum {
 public:
  // Adds the block of `width` planes at byte `at`.
  template <class Simt>
  TAUT_DEVICE void add(const Simt& simt, const Words& in, std::uint32_t at, unsigned width) {
    std::uint32_t carry = 0;
    for (unsigned row = 0; row < Rows; ++row) {
      if (Rows > 2)
        simt.sync_warp();  // otherwise the compiler loads all rows at once, without registers for them
      const PlaneRow planes = read_row(simt, in, at, width, row, row + 1 == Rows);
      if (!any_) {
        words_[2 * row] = planes.low;
        words_[2 * row + 1] = planes.high;
      } else {
        add_word(simt, words_[2 * row], planes.low, carry);
        add_word(simt, words_[2 * row + 1], planes.high, carry);
      }
    }
    any_ = true;
  }

  // Returns the number of planes, including the sign plane; 0 if all sums are 0.
  template <class Simt>
  TAUT_DEVICE unsigned width(const Simt& simt) const {
    std::uint32_t top = 0, planes = 4;  // highest word with a plane that differs from the one below
    for (unsigned i = 0; i < 2 * Rows; ++i) {
      const std::uint32_t changes = words_[i] ^ simt.permute(i == 0 ? 0 : words_[i - 1], words_[i], 0x6543);
      if (i > 0 && changes == 0) continue;
      top = changes;
      planes = 4 * (i + 1);
    }
    return planes - simt.leading_zeros(top) / 8;
  }

  TAUT_DEVICE std::uint32_t word(unsigned i) const { return words_[i]; }

 private:
  std::uint32_t words_[2 * Rows] = {};
  bool any_ = false;
};

// Sums of the blocks of all threads, in shared memory: word i has planes 4 i .. 4 i + 3.
struct SummedPlanes {
  std::uint32_t words[8][group_threads];

  template <unsigned Rows>
  TAUT_DEVICE void keep(unsigned thread, const PlaneSum<Rows>& sum) {
    for (unsigned i = 0; i < 2 * Rows; ++i) words[i][thread] = sum.word(i);
  }
};

// The sum of one thread's block, to be written.
struct SummedBlock {
  const SummedPlanes& planes;
  unsigned thread, rows;

  template <class Simt>
  TAUT_DEVICE void write(const Simt&, std::uint8_t* to, unsigned width) const {
    TAUT_ROLLED
    for (unsigned row = 0; row < rows; ++row)
      write_row(to, {planes.words[2 * row][thread], planes.words[2 * row + 1][thread]}, row, width);
  }
};

}  // namespace taut::planes::cuda

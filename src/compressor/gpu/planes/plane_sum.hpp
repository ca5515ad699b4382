// Adds blocks of differences plane by plane, as records store them, without transposing them: carries
// propagate from each plane to the plane above it, for the eight differences of a block at once.
#pragma once

#include "compressor/gpu/planes/block_codec.hpp"
#include "compressor/gpu/planes/packed_widths.hpp"

namespace taut::planes::cuda {

// Computes word <- word + other, four planes of each. On entry, the upper byte of `carry` holds the carries
// out of the planes below; on return, the carries out of these planes.
template <class Simt>
TAUT_DEVICE void add_word(const Simt& simt, std::uint32_t& word, std::uint32_t other, std::uint32_t& carry) {
  // Returns the carries into these planes: byte k, plane k, gets the carries out of the plane below.
  const auto into = [&](std::uint32_t out) { return simt.permute_bytes(carry, out, 0x6543); };
  const std::uint32_t differ = word ^ other;
  std::uint32_t out = word;
  // Each pass makes one more plane final, since a carry needs only the carry of the plane below.
  for (unsigned plane = 0; plane < 4; ++plane) out = simt.bit_select(differ, into(out), word);
  word = differ ^ into(out);
  carry = out;
}

// Sums, modulo 2^32, of one thread's `BlocksPerThread` blocks over several records. `Rows` rows, of 8 planes
// each, are enough for the sums. Up to two rows are in registers, more in local memory. Used by whole warps.
template <unsigned BlocksPerThread, unsigned Rows>
class PlaneSum {
 public:
  // Adds the blocks of `widths` planes from byte `at` on.
  template <class Simt>
  TAUT_DEVICE void add(const Simt& simt, const Words& in, std::uint32_t at, std::uint32_t widths) {
    TAUT_UNROLLED_BY(at_once)
    for (unsigned i = 0; i < BlocksPerThread; ++i) {
      const unsigned width = width_at(widths, i);
      add_block(simt, in, at, width, words_[i]);
      at += width;
    }
    has_blocks_ = true;
  }

  // Returns the widths of the sums: for each the number of planes, including the sign plane; 0 if all
  // differences are 0.
  template <class Simt>
  TAUT_DEVICE std::uint32_t widths(const Simt& simt) const {
    std::uint32_t all = 0;
    TAUT_UNROLLED_BY(at_once)
    for (unsigned i = 0; i < BlocksPerThread; ++i) all |= width_of(simt, words_[i]) << (8 * i);
    return all;
  }

  // Writes the blocks, each with the planes of its width, the sign plane first.
  template <class Simt>
  TAUT_DEVICE void write(const Simt&, std::uint8_t* to, std::uint32_t widths) const {
    TAUT_UNROLLED_BY(at_once)
    for (unsigned i = 0; i < BlocksPerThread; ++i) {
      const unsigned width = width_at(widths, i);
      for (unsigned row = 0; row < Rows; ++row)
        write_row(to, {words_[i][2 * row], words_[i][2 * row + 1]}, row, width);
      to += width;
    }
  }

 private:
  using BlockWords = std::uint32_t[2 * Rows];
  static constexpr unsigned at_once = Rows <= 2 ? BlocksPerThread : 1;

  template <class Simt>
  TAUT_DEVICE void add_block(const Simt& simt, const Words& in, std::uint32_t at, unsigned width,
                             BlockWords& words) const {
    std::uint32_t carry = 0;
    for (unsigned row = 0; row < Rows; ++row) {
      if (Rows > 2)
        simt.sync_warp();  // otherwise the compiler loads all rows at once, without registers for them
      const PlaneRow planes = read_row(simt, in, at, width, row, row + 1 == Rows);
      if (!has_blocks_) {
        words[2 * row] = planes.low;
        words[2 * row + 1] = planes.high;
      } else {
        add_word(simt, words[2 * row], planes.low, carry);
        add_word(simt, words[2 * row + 1], planes.high, carry);
      }
    }
  }

  template <class Simt>
  TAUT_DEVICE static unsigned width_of(const Simt& simt, const BlockWords& words) {
    std::uint32_t top = 0, planes = 4;  // changes in the highest word with any; planes up to that word
    for (unsigned i = 0; i < 2 * Rows; ++i) {
      // The selector 0x6543 moves each plane to the place of the plane above it.
      const std::uint32_t changes =
          words[i] ^ simt.permute_bytes(i == 0 ? 0 : words[i - 1], words[i], 0x6543);
      if (i > 0 && changes == 0) continue;
      top = changes;
      planes = 4 * (i + 1);
    }
    return planes - simt.leading_zeros(top) / 8;
  }

  BlockWords words_[BlocksPerThread] = {};
  bool has_blocks_ = false;  // add() was called
};

}  // namespace taut::planes::cuda

// Running sums and running exclusive-ors of a warp: the inverses of LNV.
#pragma once

#include "codecs/mpc/cuda/chunk.hpp"

namespace taut::mpc::cuda {

// Bitmaps of blocks, each exclusive-or the one before, in two vectors a lane -> the bitmaps.
template <class Word, class Simt>
TAUT_DEVICE void undo_exclusive_or(const Simt& simt, std::uint64_t (&vectors)[2]) {
  constexpr std::uint64_t each = ~std::uint64_t{0} / static_cast<Word>(~Word{0});  // a 1 in every block
  const auto last = [](std::uint64_t blocks) { return blocks >> (64 - bitmap_bits<Word>); };
  for (std::uint64_t& blocks : vectors)
    for (unsigned by = bitmap_bits<Word>; by < 64; by *= 2) blocks ^= blocks << by;
  vectors[1] ^= last(vectors[0]) * each;
  const auto own = static_cast<Word>(last(vectors[1]));
  Word up_to = own;
  for (unsigned by = 1; by < warp_lanes; by *= 2) {
    const Word other = simt.shuffle_up(up_to, by);
    up_to = static_cast<Word>(up_to ^ (simt.thread() % warp_lanes >= by ? other : Word{0}));
  }
  const std::uint64_t before = static_cast<Word>(up_to ^ own) * each;
  vectors[0] ^= before;
  vectors[1] ^= before;
}

// Differences of n words from those `distance` before, in shared memory -> the words. `head`: what stands
// before the first word at places of lane % distance. The words are taken as a matrix with `distance`
// columns, and of this some rows at a time: a lane has `rows` of a column.
template <class Simt, class Word>
TAUT_DEVICE void undo_differences(const Simt& simt, unsigned distance, Word head, std::uint8_t* words,
                                  std::uint32_t n) {
  using Bits = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
  constexpr unsigned rows = 4;
  const unsigned lane = simt.thread() % warp_lanes, column = lane % distance;
  const unsigned lanes = warp_lanes - warp_lanes % distance;  // that have something
  const unsigned at = lane / distance * rows * distance + column;
  Bits before = head;
  TAUT_ROLLED
  for (std::uint32_t first = at; first - at < n; first += lanes * rows) {
    Bits sums[rows];
    for (unsigned row = 0; row < rows; ++row) {
      const std::uint32_t i = first + row * distance;
      sums[row] = lane < lanes && i < n ? load_as<Word>(words + i * sizeof(Word)) : Word{0};
      if (row > 0) sums[row] += sums[row - 1];
    }
    Bits up_to = sums[rows - 1];
    TAUT_ROLLED
    for (unsigned by = distance; by < lanes; by *= 2) {
      const Bits other = simt.shuffle_up(up_to, by);
      up_to += lane >= by ? other : 0;
    }
    const Bits above = before + up_to - sums[rows - 1];
    for (unsigned row = 0; row < rows; ++row) {
      const std::uint32_t i = first + row * distance;
      if (lane < lanes && i < n) store_as(words + i * sizeof(Word), static_cast<Word>(above + sums[row]));
    }
    before += simt.shuffle(up_to, lanes - distance + column);
  }
}

}  // namespace taut::mpc::cuda

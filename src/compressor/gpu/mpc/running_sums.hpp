// Running sums and running exclusive-ors over a warp, which undo the differences of an encoder (step LNV).
#pragma once

#include "compressor/gpu/mpc/chunk.hpp"

namespace taut::mpc::cuda {

// Restores the bitmaps of blocks, each of which was replaced by its exclusive-or with the preceding bitmap.
// Each lane has two vectors.
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

// Restores n words from their differences to the words `distance` before, in shared memory. `head` is the
// value before the first word, for position lane % distance. The words form a matrix with `distance` columns,
// which is processed in tiles of rows: a lane has `rows` rows of a column.
template <class Word, class Simt>
class RunningSums {
 public:
  TAUT_DEVICE RunningSums(const Simt& simt, unsigned distance, Word head, std::uint8_t* words,
                          std::uint32_t n)
      : simt_(simt), distance_(distance), words_(words), n_(n), before_(head) {}

  TAUT_DEVICE void undo() {
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < n_; first += lanes() * rows) undo_tile(first);
  }

  TAUT_DEVICE void undo_tile(std::uint32_t first) {
    const unsigned column = lane() % distance_;
    first += lane() / distance_ * rows * distance_ + column;
    InRegister<Word> sums[rows];
    for (unsigned row = 0; row < rows; ++row) {
      sums[row] = has(first, row) ? load_as<Word>(at(first, row)) : Word{0};
      if (row > 0) sums[row] += sums[row - 1];
    }
    InRegister<Word> up_to = sums[rows - 1];
    for (unsigned by = distance_; by < lanes(); by *= 2) {
      const InRegister<Word> other = simt_.shuffle_up(up_to, by);
      up_to += lane() >= by ? other : 0;
    }
    const InRegister<Word> above = before_ + up_to - sums[rows - 1];
    for (unsigned row = 0; row < rows; ++row)
      if (has(first, row)) store_as(at(first, row), static_cast<Word>(above + sums[row]));
    before_ += simt_.shuffle(up_to, lanes() - distance_ + column);
  }

 private:
  static constexpr unsigned rows = 4;

  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE unsigned lanes() const { return warp_lanes - warp_lanes % distance_; }  // lanes with a column
  TAUT_DEVICE bool has(std::uint32_t first, unsigned row) const {
    return lane() < lanes() && first + row * distance_ < n_;
  }
  TAUT_DEVICE std::uint8_t* at(std::uint32_t first, unsigned row) const {
    return words_ + (first + row * distance_) * sizeof(Word);
  }

  const Simt& simt_;
  unsigned distance_;
  std::uint8_t* words_;
  std::uint32_t n_;
  InRegister<Word> before_;  // last sum of this lane's column
};

}  // namespace taut::mpc::cuda

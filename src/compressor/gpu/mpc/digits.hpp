// Converts the words of a chunk to their differences from earlier words, in negabinary digits: the step LNV
// of codecs/mpc/kernel_set.hpp.
#pragma once

#include "compressor/gpu/mpc/chunk.hpp"

namespace taut::mpc::cuda {

// Converts the blocks that a warp processes, one step after the other.
template <class Word, class Simt>
class Differences {
 public:
  TAUT_DEVICE Differences(const Simt& simt, unsigned distance) : simt_(simt), distance_(distance) {}

  // Converts the words of block `block` to digits. Words from `present` on, and the first words of the chunk,
  // count as equal to their prediction. With distance 0 words are predicted by 0.
  TAUT_DEVICE void convert(Word (&x)[lane_words], unsigned block, unsigned present) {
    Word before[2 * lane_words];
    block_before(x, before);
    for (unsigned i = 0; i < lane_words; ++i) before[lane_words + i] = x[i];
    // Afterwards before[i] is the word `distance` before x[i].
    for (unsigned by = lane_words / 2; by > 0; by /= 2)
      if (((lane_words - distance_) & by) != 0)
        for (unsigned i = 0; i + by < 2 * lane_words; ++i) before[i] = before[i + by];
    const unsigned first = block == 0 ? distance_ : 0;
    for (unsigned i = 0; i < lane_words; ++i) {
      const Word difference = static_cast<Word>(x[i] - (distance_ == 0 ? Word{0} : before[i]));
      x[i] = i >= first && i < present
                 ? static_cast<Word>(static_cast<Word>(difference + negabinary_mask<Word>) ^
                                     negabinary_mask<Word>)
                 : Word{0};
    }
  }

 private:
  static constexpr unsigned parts = lane_words * sizeof(Word) / 4;  // words of 32 bits in a block

  // Copies the block of the preceding lane to `before`; for the first lane, the last lane's block of the
  // previous step.
  TAUT_DEVICE void block_before(const Word (&x)[lane_words], Word* before) {
    std::uint32_t block[parts];
    std::memcpy(block, x, sizeof block);
    const unsigned lane = simt_.thread() % warp_lanes;
    for (unsigned i = 0; i < parts; ++i) {
      const std::uint32_t rotated = simt_.shuffle(block[i], (lane + warp_lanes - 1) % warp_lanes);
      block[i] = lane == 0 ? last_[i] : rotated;
      last_[i] = rotated;
    }
    std::memcpy(before, block, sizeof block);
  }

  const Simt& simt_;
  unsigned distance_;
  std::uint32_t last_[parts] = {};  // block of the preceding lane in the previous step
};

}  // namespace taut::mpc::cuda

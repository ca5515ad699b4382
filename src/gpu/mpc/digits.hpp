// Words of a chunk -> their differences from those before, in negabinary digits. LNV of pipeline.hpp.
#pragma once

#include "gpu/mpc/chunk.hpp"

namespace taut::mpc::cuda {

// A warp's blocks one step after the other.
template <class Word, class Simt>
class Differences {
 public:
  TAUT_DEVICE Differences(const Simt& simt, unsigned distance) : simt_(simt), distance_(distance) {}

  // Words of block `block` -> digits. Those that are not `present`, and the first ones of the chunk, are as
  // predicted.
  TAUT_DEVICE void next(Word (&x)[side], unsigned block, unsigned present) {
    Word before[2 * side];
    block_before(x, before);
    for (unsigned i = 0; i < side; ++i) before[side + i] = x[i];
    for (unsigned by = side / 2; by > 0; by /= 2)  // so that before[i] stands `distance` before x[i]
      if (((side - distance_) & by) != 0)
        for (unsigned i = 0; i + by < 2 * side; ++i) before[i] = before[i + by];
    const unsigned first = block == 0 ? distance_ : 0;
    for (unsigned i = 0; i < side; ++i) {
      const Word difference = static_cast<Word>(x[i] - before[i]);
      x[i] = i >= first && i < present
                 ? static_cast<Word>(static_cast<Word>(difference + negabinary<Word>) ^ negabinary<Word>)
                 : Word{0};
    }
  }

 private:
  static constexpr unsigned parts = side * sizeof(Word) / 4;

  // The block of the lane before; of the first lane, that of the last one a step ago.
  TAUT_DEVICE void block_before(const Word (&x)[side], Word* before) {
    std::uint32_t of[parts];
    std::memcpy(of, x, sizeof of);
    const unsigned lane = simt_.thread() % warp_lanes;
    for (unsigned i = 0; i < parts; ++i) {
      const std::uint32_t rotated = simt_.shuffle(of[i], (lane + warp_lanes - 1) % warp_lanes);
      of[i] = lane == 0 ? last_[i] : rotated;
      last_[i] = rotated;
    }
    std::memcpy(before, of, sizeof of);
  }

  const Simt& simt_;
  unsigned distance_;
  std::uint32_t last_[parts] = {};
};

}  // namespace taut::mpc::cuda

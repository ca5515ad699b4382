// Judging a codec by a few pieces of a message.
#pragma once

#include "core/codec.hpp"

namespace taut {

// Four to eight pieces of 512 values, each in the middle of an equal part of the message; fewer of a short
// one.
struct Pieces {
  static constexpr std::size_t most_values = 512;

  std::size_t values, count;  // of each; how many
  std::size_t part;           // distance between the beginnings of two, and of the first to half of that

  explicit Pieces(std::size_t message_values) noexcept;
  std::size_t first(std::size_t i) const noexcept { return i * part + (part - values) / 2; }
};

// Bytes of scratch that take_sample needs.
std::size_t sample_scratch(const Codec& codec, DType type) noexcept;

// Encodes the pieces.
Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept;

}  // namespace taut

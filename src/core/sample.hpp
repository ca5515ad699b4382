// What a codec is going to make of a message, judged by a few pieces of it.
#pragma once

#include "core/codec.hpp"

namespace taut {

struct Sample {
  Status status = Status::ok;
  std::size_t value_bytes = 0;
  std::size_t frame_bytes = 0;  // without headers

  double ratio() const noexcept {
    return static_cast<double>(value_bytes) / static_cast<double>(frame_bytes == 0 ? 1 : frame_bytes);
  }
};

// Bytes of scratch that take_sample needs.
std::size_t sample_scratch(const Codec& codec, DType type) noexcept;

// Encodes four to eight pieces of 512 values, evenly spread; fewer of a short message.
Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept;

}  // namespace taut

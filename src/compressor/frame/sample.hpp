// Samples: estimates of a codec's ratio from a few pieces of a message.
#pragma once

#include "compressor/frame/codec.hpp"

namespace taut {

// Pieces of a message: four to eight pieces of 512 values, one in each of as many equal parts of the message.
// A short message has fewer.
struct Pieces {
  static constexpr std::size_t max_values = 512, min_pieces = 4;

  std::size_t values, count;  // number of values in each piece; number of pieces

  // Places the pieces: one for each 65536 values of the message, but at least `min_count` of them, and at
  // most 8 or, if that is more, `min_count`. A message that is too short for that has fewer.
  constexpr explicit Pieces(std::size_t message_values, std::size_t min_count = min_pieces) noexcept
      : values(message_values < max_values ? message_values : max_values), count(0), part_(0) {
    if (values == 0) return;
    const std::size_t max_count = min_count < max_pieces ? max_pieces : min_count,
                      by_size = message_values / values_per_piece;
    const std::size_t wanted = by_size < min_count ? min_count : max_count < by_size ? max_count : by_size;
    count = message_values / values < wanted ? message_values / values : wanted;
    part_ = message_values / count;
  }

  // Returns the index of the first value of piece i. A piece at the same position in every part would read
  // the same column of a field whose row length divides the parts. The position in part i is therefore the
  // fraction of 1/2 + i * 0.618..., a golden-ratio sequence: 2654435769 is 0.618... * 2^32.
  constexpr std::size_t first(std::size_t i) const noexcept {
    const std::uint32_t fraction = (1u << 31) + static_cast<std::uint32_t>(i) * 2654435769u;
    return i * part_ + static_cast<std::size_t>(std::uint64_t{fraction} * (part_ - values) >> 32);
  }

 private:
  static constexpr std::size_t max_pieces = 8, values_per_piece = 65536;

  std::size_t part_;  // values of the message in each of the equal parts
};

// Minimum number of values for which a sample chooses among codecs or predictions, unless the coding asks for
// a sample. For more values, the bytes that the choice saves on average take longer on a link of 1 Gbit/s
// than the sample takes (docs/adr/0003-predictors-by-sample.md).
inline constexpr std::size_t min_values_to_sample = 8192;

// Returns the bytes of scratch memory that take_sample needs.
std::size_t sample_scratch(const Codec& codec, DType type) noexcept;

// Encodes the pieces of `values` and returns their total sizes.
Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept;

}  // namespace taut

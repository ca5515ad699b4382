// Samples: estimates of a codec's ratio from a few pieces of a message.
#pragma once

#include "compressor/frame/codec.hpp"

namespace taut {

// Pieces of a message: four to eight pieces of 512 values, one in each of as many equal parts of the message.
// A short message has fewer.
struct Pieces {
  static constexpr std::size_t most_values = 512, least_pieces = 4;

  std::size_t values, count;  // number of values in each piece; number of pieces

  // `least`: number of pieces, unless the message is too short.
  constexpr explicit Pieces(std::size_t message_values, std::size_t least = least_pieces) noexcept
      : values(message_values < most_values ? message_values : most_values), count(0), part_(0) {
    if (values == 0) return;
    const std::size_t most = least < usual_most ? usual_most : least,
                      by_size = message_values / values_a_piece;
    const std::size_t wanted = by_size < least ? least : most < by_size ? most : by_size;
    count = message_values / values < wanted ? message_values / values : wanted;
    part_ = message_values / count;
  }

  // Returns the index of the first value of piece i. The position differs from part to part, as the extents
  // of a field may divide the parts: positions are the fractions of the golden ratio's multiples, from the
  // middle on.
  constexpr std::size_t first(std::size_t i) const noexcept {
    const std::uint32_t fraction = (1u << 31) + static_cast<std::uint32_t>(i) * 2654435769u;
    return i * part_ + static_cast<std::size_t>(std::uint64_t{fraction} * (part_ - values) >> 32);
  }

 private:
  static constexpr std::size_t usual_most = 8, values_a_piece = 65536;

  std::size_t part_;
};

// Least number of values for which a sample chooses among codecs or predictions, unless the coding asks for a
// sample. For more values, the bytes that the choice saves on average take longer on a link of 1 Gbit/s than
// the sample takes (docs/adr/0003-predictors-by-sample.md).
inline constexpr std::size_t least_to_sample = 8192;

// Returns the bytes of scratch memory that take_sample needs.
std::size_t sample_scratch(const Codec& codec, DType type) noexcept;

// Encodes the pieces of `values` and returns their total sizes.
Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept;

}  // namespace taut

#include "core/sample.hpp"

#include <algorithm>

namespace taut {
namespace {

constexpr std::size_t piece_values = 512, least_pieces = 4, most_pieces = 8, values_a_piece = 65536;

}  // namespace

std::size_t sample_scratch(const Codec& codec, DType type) noexcept {
  return codec.max_bytes(type, piece_values);
}

Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept {
  Sample sample;
  const std::size_t n = std::min(piece_values, values.count);
  const std::size_t wanted = std::clamp(values.count / values_a_piece, least_pieces, most_pieces);
  const std::size_t pieces = n == 0 ? 0 : std::min(wanted, values.count / n);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t first = pieces == 1 ? 0 : (values.count - n) / (pieces - 1) * i;
    const Sized size = codec.encode({values.part(first, n)}, scratch);
    if (size.status != Status::ok) return {size.status};
    sample.value_bytes += n * size_of(values.type);
    sample.frame_bytes += size.bytes - frame_header_bytes;
  }
  return sample;
}

}  // namespace taut

#include "compressor/frame/sample.hpp"

namespace taut {
std::size_t sample_scratch(const Codec& codec, DType type) noexcept {
  return codec.max_bytes(type, Pieces::max_values);
}

Sample take_sample(const Codec& codec, ConstSlice values, Bytes scratch) noexcept {
  Sample sample;
  const Pieces pieces(values.count);
  for (std::size_t i = 0; i < pieces.count; ++i) {
    const SizeOrStatus size = codec.encode({values.part(pieces.first(i), pieces.values)}, scratch);
    if (size.status != Status::ok) return {size.status};
    sample.value_bytes += pieces.values * size_of(values.type);
    sample.frame_bytes += size.bytes - frame_header_bytes;
  }
  return sample;
}

Sample Codec::sample(ConstSlice values, Bytes scratch) const noexcept {
  return take_sample(*this, values, scratch);
}

}  // namespace taut

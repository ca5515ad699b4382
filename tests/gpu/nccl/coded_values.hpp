// Values of messages: as the host codes them, and in memory of simulated GPUs.
#pragma once

#include "gpu/nccl/calls.hpp"

namespace taut::test {

// Returns the codec that a message of this type has under a coding.
inline std::unique_ptr<Codec> codec_of(const std::string& coding, DType type) {
  const Coding parsed = parse_coding(coding);
  return candidates(parsed, type, parsed.bound).at(0).make();
}

// Returns the values after they were coded on the host.
inline Values as_coded(const Values& values, const std::string& coding) {
  const auto codec = codec_of(coding, values.type());
  std::vector<std::byte> frame(codec->max_bytes(values.type(), values.count()));
  const SizeOrStatus made = codec->encode(values.slice(), frame);
  Values decoded(values.type(), values.count());
  EXPECT_EQ(codec->decode(ConstBytes(frame).first(made.bytes), decoded.slice()), Status::ok);
  return decoded;
}

// Memory of a GPU with these values, which begin `skipped` bytes behind an aligned address.
inline OnGpu<std::byte> on_gpu(const Values& values, std::size_t skipped = 0) {
  const auto bytes = values.slice().as_bytes();
  return OnGpu<std::byte>(std::vector<std::byte>(bytes.begin(), bytes.end()), skipped);
}

inline Values fetched(const OnGpu<std::byte>& memory, DType type) {
  Values values(type, memory.size() / size_of(type));
  stand_in_copy(values.slice().data, memory.data(), memory.size());
  return values;
}

}  // namespace taut::test

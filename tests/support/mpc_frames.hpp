// Frames of the mpc codec for its tests: values of any type as bytes, in memory of exactly their size.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "compressor/codecs/mpc/kernels.hpp"
#include "compressor/frame/codec.hpp"

namespace taut::test {

using ByteVector = std::vector<std::byte>;

inline std::unique_ptr<Codec> mpc_codec(const char* predictor = "auto", const char* kernels = "",
                                        Bound bound = {}, bool checksum = false) {
  return find_codec("mpc")->make(
      {.bound = bound, .checksum = checksum, .predictor = predictor, .kernels = kernels});
}

inline std::vector<const char*> mpc_kernel_names() {
  std::vector<const char*> names;
  for (const mpc::KernelSet* set : mpc::kernel_sets())
    if (set->supported()) names.push_back(set->name);
  return names;
}

// Returns a frame of exactly its size. The values are read from an unaligned address.
inline ByteVector mpc_frame(const Codec& codec, DType type, const ByteVector& values) {
  ByteVector misaligned(values.size() + 1);
  std::copy(values.begin(), values.end(), misaligned.begin() + 1);
  const std::size_t count = values.size() / size_of(type);
  ByteVector frame(codec.max_bytes(type, count));
  const SizeOrStatus s = codec.encode({{misaligned.data() + 1, count, type}}, frame);
  EXPECT_EQ(s.status, Status::ok);
  EXPECT_LE(s.bytes, frame_header_bytes + values.size());
  return {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(s.bytes)};
}

inline Status mpc_decode(const Codec& codec, DType type, const ByteVector& frame, ByteVector& values) {
  ByteVector misaligned(values.size() + 1);
  const Status status = codec.decode(frame, {{misaligned.data() + 1, values.size() / size_of(type), type}});
  std::copy(misaligned.begin() + 1, misaligned.end(), values.begin());
  return status;
}

template <class T>
ByteVector as_bytes(const std::vector<T>& values) {
  ByteVector bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace taut::test

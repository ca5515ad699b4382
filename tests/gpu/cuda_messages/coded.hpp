// Codes messages twice, on the host and with their values in memory of a simulated GPU.
#pragma once

#include <gtest/gtest.h>

#include "communication/comm/message_coder.hpp"
#include "communication/gpu/frame_codec.hpp"
#include "support/group.hpp"
#include "support/on_gpu.hpp"

namespace taut::test {

inline std::vector<std::byte> bytes_of(const Values& values) {
  const ConstBytes bytes = values.slice().as_bytes();
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::byte> bytes_of(const Message& made) {
  if (made.coded_bytes == 0) return {};
  const ConstBytes bytes = made.memory().first(made.coded_bytes);
  return {bytes.begin(), bytes.end()};
}

struct OneCoder {
  explicit OneCoder(const std::string& text) : policy(parse_policy(text)), coder(policy, {}, place, "", 1) {}

  // Encodes values of this type and number at an address.
  Message encode(const void* at, const Values& like, std::size_t segments = 1) {
    const ConstSlice values = like.slice();
    return coder.encode({{at, values.count, values.type}}, 0,
                        {static_cast<std::uint8_t>(segments - 1), 0, 0});
  }

  // Decodes the message, or its first segment. Its values are one frame.
  Status decode(const Message& made, Bytes values) {
    const ConstBytes rest = made.memory().subspan(made.following.header_bytes());
    FrameHeader header;
    EXPECT_EQ(read_header(rest, header), Status::ok);
    return coder.decode(rest.first(frame_header_bytes + header.payload_bytes), 0, values);
  }

  HostPlace place;
  Policy policy;
  MessageCoder coder;
};

// A message to be coded twice.
struct MessageCase {
  std::string policy;
  DType type = DType::f32;
  std::size_t count = 5003, segments = 1;
  std::size_t skipped = 0;           // bytes before the values
  std::size_t wild_from = SIZE_MAX;  // values from here on do not compress

  Values values() const {
    Values all = make_values(type, count, Pattern::smooth, 7);
    if (wild_from >= count) return all;
    const Values wild = make_values(type, count, Pattern::wild, 8);
    const Slice part = all.slice();
    std::memcpy(part.address(static_cast<std::ptrdiff_t>(wild_from)),
                wild.slice().address(static_cast<std::ptrdiff_t>(wild_from)),
                (count - wild_from) * size_of(type));
    return all;
  }
};

// The segments of a message, as they are sent.
inline std::vector<std::vector<std::byte>> segments_of(OneCoder& coder, const void* at,
                                                       const MessageCase& message, const Values& values,
                                                       Message& made) {
  made = coder.encode(at, values, message.segments);
  std::vector<std::vector<std::byte>> all{bytes_of(made)};
  if (made.fallback != Fallback::none) return all;
  for (std::size_t i = 1; i < message.segments; ++i) {
    const ConstBytes one = coder.coder.encode_segment({{at, message.count, message.type}}, i, made);
    all.emplace_back(one.begin(), one.end());
  }
  return all;
}

// Expects that both messages have the same bytes, and that both are decoded to the same values on both sides.
inline void expect_same_bits(const MessageCase& message) {
  SCOPED_TRACE(message.policy + " " + name_of(message.type) + " " + std::to_string(message.count));
  const Values values = message.values();
  const OnGpu<std::byte> there(bytes_of(values), message.skipped);
  OneCoder host(message.policy + ",when=always,min_bytes=1"), gpu(host.policy.text);
  Message from_host, from_gpu;
  const unsigned long launches = stand_in_launches();
  const auto wanted = segments_of(host, values.slice().data, message, values, from_host);
  EXPECT_EQ(stand_in_launches(), launches);
  const auto got = segments_of(gpu, there.data(), message, values, from_gpu);
  ASSERT_EQ(from_gpu.fallback, from_host.fallback);
  EXPECT_EQ(from_gpu.failure, Status::ok);
  EXPECT_EQ(got, wanted);
  if (from_host.fallback != Fallback::none) return;
  EXPECT_TRUE(stand_in_launches() > launches || message.skipped % size_of(message.type) != 0);
  const std::size_t first = block(values.slice(), 0, message.segments).bytes();
  std::vector<std::byte> here(first);
  const OnGpu<std::byte> decoded(first, message.skipped);
  EXPECT_EQ(host.decode(from_gpu, here), Status::ok);
  EXPECT_EQ(gpu.decode(from_host, {decoded.data(), first}), Status::ok);
  EXPECT_EQ(decoded.peek(first), here);
}

}  // namespace taut::test

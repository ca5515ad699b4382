// The header of coded messages: it is read as it was written, and refused if damaged.
#include "communication/comm/envelope.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace taut::test {
namespace {

using Message = std::vector<std::byte>;

constexpr MessageFormat format{.mark = 0xF0E0D0C0B0A09080};

// Returns a sealed message whose frames are `frames` bytes of value 7.
Message sealed(std::size_t frames, std::uint64_t bytes, std::uint8_t type = 1,
               const MessageFormat& of = format) {
  Message message(of.length(envelope_bytes + frames), std::byte{7});
  EXPECT_EQ(seal(of, type, bytes, frames, message), message.size());
  return message;
}

TEST(Envelope, IsReadAsItWasWritten) {
  for (const std::size_t frames : {1u, 400u, 472u, 473u, 5000u}) {
    for (const std::uint64_t bytes : {std::uint64_t{100000}, (std::uint64_t{1} << 56) - 1}) {
      const Message message = sealed(frames, bytes, 14);
      const auto read = open_message(format, message);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->type, 14);
      EXPECT_EQ(read->bytes, bytes);
      EXPECT_EQ(read->frames.data(), message.data() + envelope_bytes);
      EXPECT_EQ(read->frames.size(), frames);
    }
  }
}

TEST(Envelope, StandsAsSpecified) {
  const Message message = sealed(100, 0x02030405060708, 2);
  const unsigned char expected[] = {0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0, 8,    7,
                                    6,    5,    4,    3,    2,    2,    0x74, 0x01, 0x00, 0x00};
  EXPECT_EQ(message.size(), 496u);
  EXPECT_EQ(std::memcmp(message.data(), expected, sizeof expected), 0);
  EXPECT_EQ(message.back(), std::byte{0});
}

TEST(Envelope, LengthsAreFew) {
  EXPECT_EQ(format.length(1), 496u);
  EXPECT_EQ(format.length(496), 496u);
  EXPECT_EQ(format.length(497), 624u);
  EXPECT_EQ(format.length(66032), 66032u);
  EXPECT_EQ(format.length(66033), 67056u);
  const MessageFormat longer{.least_bytes = 65536 + 496};
  EXPECT_EQ(longer.length(1), 66032u);
  EXPECT_EQ(longer.length(66033), 67056u);
  for (const std::size_t bytes : {496u, 624u, 1520u, 66032u, 67056u}) {
    EXPECT_TRUE(format.may_have(bytes));
    EXPECT_EQ(longer.may_have(bytes), bytes >= 66032);
  }
  for (const std::size_t bytes : {0u, 112u, 495u, 512u, 1024u, 65536u, 66160u})
    EXPECT_FALSE(format.may_have(bytes));
}

// A message without its mark is a plain one.
TEST(Envelope, NoBitMayChange) {
  const Message good = sealed(40, 5000);
  ASSERT_TRUE(open_message(format, good));
  for (std::size_t bit = 0; bit < 8 * (envelope_bytes + 40); ++bit) {
    Message bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(open_message(format, bad)) << "bit " << bit;
    EXPECT_EQ(has_mark(format, bad), bit >= 64);
  }
}

TEST(Envelope, WhatIsNotInTheFormatIsRefused) {
  const auto opens = [](const Message& message) { return open_message(format, message).has_value(); };
  EXPECT_TRUE(opens(sealed(40, 497)));
  EXPECT_FALSE(opens(sealed(40, 496))) << "as long as the values";
  EXPECT_FALSE(opens(sealed(40, 5000, 0))) << "no type";
  EXPECT_FALSE(opens(sealed(40, 5000, 15))) << "no such type";
  EXPECT_FALSE(open_message({.mark = 1}, sealed(40, 5000))) << "another job's";
  Message message = sealed(40, 5000);
  message.resize(envelope_bytes);
  EXPECT_FALSE(opens(message));
  message.resize(7);
  EXPECT_FALSE(has_mark(format, message));
}

// The first segment of a long message.
TEST(Envelope, NamesTheSegmentsThatFollow) {
  const FollowingSegments following{.segments = 15, .source = 3, .tag = 700};
  Message message(format.length(following.header_bytes() + 500), std::byte{7});
  EXPECT_EQ(seal(format, 1, 9000000, 500, message, following), message.size());
  const auto read = open_message(format, message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, 9000000u);
  EXPECT_EQ(read->following.segments, 15);
  EXPECT_EQ(read->following.source, 3u);
  EXPECT_EQ(read->following.tag, 700u);
  EXPECT_EQ(read->frames.data(), message.data() + 32);
  EXPECT_EQ(read->frames.size(), 500u);
  for (const std::size_t at : {19u, 24u, 28u, 32u}) {
    Message bad = message;
    bad[at] ^= std::byte{1};
    EXPECT_FALSE(open_message(format, bad)) << at;
  }
}

// The states of a history (docs/adr/0110).
TEST(Envelope, NamesStates) {
  for (const std::uint8_t segments : {std::uint8_t{0}, std::uint8_t{15}}) {
    const FollowingSegments following{.segments = segments, .source = 3, .tag = 700};
    const StateNotice notice{.number = 0x1234567890ABCDEF, .source = 9, .dropped = {5, 7}};
    const std::size_t header = following.header_bytes() + StateNotice::header_bytes;
    Message message(format.length(header + 500), std::byte{7});
    EXPECT_EQ(seal(format, 14, 9000000, 500, message, following, notice), message.size());
    EXPECT_EQ(message[15], std::byte{0x80 | 14});
    const auto read = open_message(format, message);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->type, 14);
    EXPECT_EQ(read->following.segments, segments);
    EXPECT_EQ(read->state.number, notice.number);
    EXPECT_EQ(read->state.source, 9u);
    EXPECT_EQ(read->state.dropped, notice.dropped);
    EXPECT_EQ(read->frames.data(), message.data() + header);
    EXPECT_EQ(read->frames.size(), 500u);
    for (std::size_t at = 8; at < header; ++at) {
      Message bad = message;
      bad[at] ^= std::byte{1};
      EXPECT_FALSE(open_message(format, bad)) << at;
    }
  }
}

TEST(Envelope, MarksDiffer) { EXPECT_NE(random_mark(), random_mark()); }

}  // namespace
}  // namespace taut::test

// The header of point-to-point messages: what is written is read, what is damaged is refused.
#include "comm/envelope.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace taut::test {
namespace {

using Head = std::array<std::byte, envelope_bytes>;

Head head_of(const Envelope& envelope, ConstBytes payload = {}) {
  Head head;
  write_envelope(envelope, payload, head);
  return head;
}

TEST(Envelope, IsReadAsItWasWritten) {
  const std::vector<std::byte> payload(100, std::byte{7});
  for (const Envelope& written :
       {Envelope{0, 1, 100, 0}, Envelope{0, 0, 100, ~0u}, Envelope{Envelope::coded, 14, 101, 77},
        Envelope{Envelope::coded, 0, ~std::uint64_t{0}, 1}, Envelope{Envelope::checksummed, 2, 100, 5}}) {
    Envelope read;
    ASSERT_EQ(read_envelope(head_of(written, payload), payload, read), Status::ok);
    EXPECT_EQ(read.flags, written.flags);
    EXPECT_EQ(read.type, written.type);
    EXPECT_EQ(read.bytes, written.bytes);
    EXPECT_EQ(read.sequence, written.sequence);
  }
}

TEST(Envelope, StandsAsSpecified) {
  const Head head = head_of({Envelope::coded, 2, 0x0102030405060708, 0xA0B0C0D0});
  const unsigned char expected[] = {'T', 'A', 'U', 'M', 1, 1, 2,    0,    8,    7,
                                    6,   5,   4,   3,   2, 1, 0xD0, 0xC0, 0xB0, 0xA0};
  EXPECT_EQ(std::memcmp(head.data(), expected, sizeof expected), 0);
}

TEST(Envelope, NoBitMayChange) {
  const std::vector<std::byte> payload(40, std::byte{1});
  for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{Envelope::checksummed}}) {
    const Head good = head_of({flags, 1, 40, 3}, payload);
    for (std::size_t bit = 0; bit < 8 * envelope_bytes; ++bit) {
      Head bad = good;
      bad[bit / 8] ^= std::byte{1} << (bit % 8);
      Envelope read;
      EXPECT_EQ(read_envelope(bad, payload, read), Status::corrupt_frame) << "bit " << bit;
    }
  }
}

TEST(Envelope, AChecksumCoversThePayload) {
  std::vector<std::byte> payload(40, std::byte{1});
  const Head head = head_of({Envelope::checksummed, 1, 40, 3}, payload);
  payload[39] ^= std::byte{16};
  Envelope read;
  EXPECT_EQ(read_envelope(head, payload, read), Status::corrupt_frame);
}

// With a checksum that fits.
TEST(Envelope, WhatIsNotInTheFormatIsRefused) {
  const std::vector<std::byte> payload(40, std::byte{1});
  Envelope read;
  const auto status = [&](const Envelope& envelope) {
    return read_envelope(head_of(envelope, payload), payload, read);
  };
  EXPECT_EQ(status({0, 1, 40, 0}), Status::ok);
  EXPECT_EQ(status({0, 1, 41, 0}), Status::corrupt_frame) << "plain, and another size";
  EXPECT_EQ(status({0, 1, 39, 0}), Status::corrupt_frame);
  EXPECT_EQ(status({Envelope::coded, 1, 40, 0}), Status::corrupt_frame) << "frames as long as the values";
  EXPECT_EQ(status({Envelope::coded, 1, 41, 0}), Status::ok);
  EXPECT_EQ(status({0, 15, 40, 0}), Status::corrupt_frame) << "no such type";
  EXPECT_EQ(status({4, 1, 40, 0}), Status::corrupt_frame) << "no such flag";
  EXPECT_EQ(status({3, 1, 41, 0}), Status::corrupt_frame) << "flags that exclude each other";
  EXPECT_EQ(read_envelope(ConstBytes{}, payload, read), Status::corrupt_frame);
  EXPECT_EQ(read_envelope(ConstBytes{payload}.first(envelope_bytes - 1), {}, read), Status::corrupt_frame);
}

TEST(Envelope, SequencesGoRound) {
  EXPECT_TRUE(is_before(1, 2));
  EXPECT_FALSE(is_before(2, 1));
  EXPECT_FALSE(is_before(5, 5));
  EXPECT_TRUE(is_before(~0u, 0));
  EXPECT_TRUE(is_before(~0u - 10, 1000));
}

}  // namespace
}  // namespace taut::test

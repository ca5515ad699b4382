#include "compressor/frame/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace taut {
namespace {

FrameHeader sample() {
  FrameHeader h{.codec = 2, .type = DType::f64, .flags = FrameHeader::checksummed, .count = 0x010203};
  h.bound = 1e-3;
  h.step = 1.9e-3;
  h.payload_bytes = 8;
  h.addends = 7;
  h.parameters[0] = 1;
  h.payload_checksum = 0xDEADBEEF;
  h.failure = 41;
  return h;
}

std::vector<std::byte> written(const FrameHeader& header, std::size_t payload = 8) {
  std::vector<std::byte> bytes(frame_header_bytes + payload);
  write_header(header, bytes);
  return bytes;
}

// Writes `value` at `at` and updates the header's own checksum.
template <class T>
std::vector<std::byte> patched(std::vector<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  const std::uint32_t crc = crc32c(ConstBytes(bytes).first(60));
  std::memcpy(bytes.data() + 60, &crc, 4);
  return bytes;
}

TEST(FrameHeader, RoundTrip) {
  const FrameHeader in = sample();
  FrameHeader out;
  ASSERT_EQ(read_header(written(in), out), Status::ok);
  EXPECT_EQ(out.codec, in.codec);
  EXPECT_EQ(out.type, in.type);
  EXPECT_EQ(out.flags, in.flags);
  EXPECT_EQ(out.count, in.count);
  EXPECT_EQ(out.bound, in.bound);
  EXPECT_EQ(out.step, in.step);
  EXPECT_EQ(out.payload_bytes, in.payload_bytes);
  EXPECT_EQ(out.addends, in.addends);
  EXPECT_EQ(out.parameters[0], 1);
  EXPECT_EQ(out.payload_checksum, in.payload_checksum);
  EXPECT_EQ(out.failure, in.failure);
}

TEST(FrameHeader, LayoutIsPinned) {
  const std::vector<std::byte> bytes = written(sample());
  EXPECT_EQ(std::memcmp(bytes.data(), "TAUT\x01\x02\x02\x04\x03\x02\x01\x00\x00\x00\x00\x00", 16), 0);
  EXPECT_EQ(bytes[32], std::byte{8});
  EXPECT_EQ(bytes[40], std::byte{7});
  EXPECT_EQ(bytes[44], std::byte{1});
  EXPECT_EQ(bytes[48], std::byte{0xEF});
  EXPECT_EQ(bytes[52], std::byte{41});
}

TEST(FrameHeader, EveryTruncationIsRejected) {
  const std::vector<std::byte> bytes = written(sample());
  FrameHeader out;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(read_header(cut, out), Status::corrupt_frame) << n;
  }
}

TEST(FrameHeader, EveryBitFlipIsRejected) {
  std::vector<std::byte> bytes = written(sample());
  FrameHeader out;
  for (std::size_t bit = 0; bit < 8 * frame_header_bytes; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_NE(read_header(bytes, out), Status::ok) << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  EXPECT_EQ(read_header(bytes, out), Status::ok);
}

TEST(FrameHeader, ImpossibleFieldsAreRejected) {
  const std::vector<std::byte> good = written(sample());
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  FrameHeader out;
  ASSERT_EQ(read_header(patched(good, 4, std::uint8_t{1}), out), Status::ok);
  EXPECT_EQ(read_header(patched(good, 4, std::uint8_t{2}), out), Status::unsupported_version);
  EXPECT_EQ(read_header(patched(good, 6, std::uint8_t{0}), out), Status::corrupt_frame);
  EXPECT_EQ(read_header(patched(good, 6, std::uint8_t{dtypes + 1}), out), Status::corrupt_frame);
  EXPECT_EQ(read_header(patched(good, 7, std::uint8_t{8}), out), Status::corrupt_frame);
  for (const std::size_t at : {16u, 24u})
    for (const double x : {infinity, nan, -1.0})
      EXPECT_EQ(read_header(patched(good, at, x), out), Status::corrupt_frame);
  for (const std::uint64_t bytes : {std::uint64_t{9}, ~std::uint64_t{0}, ~std::uint64_t{0} - 63})
    EXPECT_EQ(read_header(patched(good, 32, bytes), out), Status::corrupt_frame);
  EXPECT_EQ(read_header(patched(good, 16, 0.0), out), Status::corrupt_frame);  // only the bound says: exact
  for (const std::uint8_t kind : {std::uint8_t{0}, frame_bound_kinds})
    EXPECT_EQ(read_header(patched(good, 56, kind), out), Status::corrupt_frame);
  for (const std::size_t at : {57u, 58u, 59u})
    EXPECT_EQ(read_header(patched(good, at, std::uint8_t{1}), out), Status::corrupt_frame);
}

TEST(FrameHeader, CountsHaveLimits) {
  FrameHeader header = sample(), out;
  const auto status = [&](std::uint64_t count, std::uint64_t payload_bytes, std::uint8_t flags) {
    header.count = count;
    header.payload_bytes = payload_bytes;
    header.flags = flags;
    return read_header(written(header, static_cast<std::size_t>(payload_bytes)), out);
  };
  EXPECT_EQ(status(0, 0, 0), Status::ok);
  EXPECT_EQ(status(1, 0, 0), Status::corrupt_frame);
  EXPECT_EQ(status(1, 1, 0), Status::ok);  // a stored byte
  for (const std::uint64_t words : {1u, 2u, 1u << 14}) {
    const std::uint64_t most = words * max_values_per_word;
    EXPECT_EQ(status(most, 4 * words, 0), Status::ok) << words;
    EXPECT_EQ(status(most + 1, 4 * words, 0), Status::corrupt_frame) << words;
    EXPECT_EQ(min_frame_bytes(most), frame_header_bytes + 4 * words);
  }
  EXPECT_EQ(status(max_frame_values, 0, FrameHeader::failed), Status::ok);
  for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{FrameHeader::failed}})
    for (const std::uint64_t count : {std::uint64_t{max_frame_values} + 1, ~std::uint64_t{0}})
      EXPECT_EQ(status(count, 1 << 17, flags), Status::corrupt_frame) << count;
}

}  // namespace
}  // namespace taut

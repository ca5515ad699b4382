#include "core/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace taut {
namespace {

FrameHeader sample() {
  FrameHeader h{
      .codec = 2, .type = DType::f64, .flags = FrameHeader::checksummed, .count = 0x0102030405060708};
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
  EXPECT_EQ(std::memcmp(bytes.data(), "TAUT\x01\x02\x02\x04\x08\x07\x06\x05\x04\x03\x02\x01", 16), 0);
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

}  // namespace
}  // namespace taut

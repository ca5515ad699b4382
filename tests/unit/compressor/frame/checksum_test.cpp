#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compressor/frame/frame.hpp"

namespace taut {
namespace {

std::uint32_t bit_by_bit(ConstBytes bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc ^= static_cast<std::uint32_t>(b);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

TEST(Crc32c, VectorsOfRfc3720) {
  std::vector<std::byte> bytes(32, std::byte{0});
  EXPECT_EQ(crc32c(bytes), 0x8A9136AAu);
  bytes.assign(32, std::byte{0xFF});
  EXPECT_EQ(crc32c(bytes), 0x62A8AB43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = std::byte(i);
  EXPECT_EQ(crc32c(bytes), 0x46DD794Eu);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = std::byte(31 - i);
  EXPECT_EQ(crc32c(bytes), 0x113FDB5Cu);
}

TEST(Crc32c, AgreesWithItsDefinitionAndContinues) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& b : bytes) b = std::byte(random());
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    const ConstBytes part = ConstBytes(bytes).first(n);
    ASSERT_EQ(crc32c(part), bit_by_bit(part)) << n;
    ASSERT_EQ(crc32c(part.subspan(n / 3), crc32c(part.first(n / 3))), crc32c(part)) << n;
  }
}

}  // namespace
}  // namespace taut

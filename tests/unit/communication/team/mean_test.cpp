#include "communication/team/place.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "compressor/values/half.hpp"

namespace taut {
namespace {

TEST(Divide, RoundsOnce) {
  float f[] = {
      1, 10, -7, std::numeric_limits<float>::infinity(), 0.0F, std::numeric_limits<float>::denorm_min()};
  divide({{f, 6, DType::f32}}, 3);
  const float want[] = {1.0F / 3, 10.0F / 3, -7.0F / 3, std::numeric_limits<float>::infinity(), 0, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(f[i], want[i]);
  double d[] = {1, 10};
  divide({{d, 2, DType::f64}}, 3);
  EXPECT_EQ(d[0], 1.0 / 3);
  f16 h[] = {f16(1.0F), f16(10.0F)};
  divide({{h, 2, DType::f16}}, 3);
  EXPECT_EQ(h[1].bits, f16(10.0F / 3).bits);
}

TEST(Divide, ANaNIsMadeQuietAndKeepsItsOtherBits) {
  double d[] = {std::bit_cast<double>(0xFFF3'4000'0000'0001)};
  divide({{d, 1, DType::f64}}, 3);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(d[0]), 0xFFFB'4000'0000'0001u);
}

TEST(Divide, BothPartsOfComplexNumbers) {
  float c[] = {2, 4, 6, 8};
  divide({{c, 2, DType::c64}}, 2);
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[3], 4);
}

}  // namespace
}  // namespace taut

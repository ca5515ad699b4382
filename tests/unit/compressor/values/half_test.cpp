// Conversions of the 16-bit types, for all of their patterns, against definitions in exact arithmetic.
#include "compressor/values/half.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

namespace taut {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Returns the value of a bit pattern, from the definition of the format.
template <class Half>
double meaning(std::uint16_t bits) {
  constexpr FloatLayout of = Half::layout;
  const int exponent = (bits & 0x7FFF) >> of.fraction_bits, fraction = bits & ((1 << of.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << of.exponent_bits) - 1) return fraction != 0 ? std::nan("") : sign * infinity;
  const int least = 1 - of.bias() - of.fraction_bits;
  if (exponent == 0) return sign * std::ldexp(fraction, least);
  return sign * std::ldexp(fraction + (1 << of.fraction_bits), least + exponent - 1);
}

template <class Half>
class Halves : public testing::Test {};
using HalfTypes = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Halves, HalfTypes);

TYPED_TEST(Halves, EveryPatternWidensExactlyAndComesBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = TypeParam::of_bits(static_cast<std::uint16_t>(bits));
    const double want = meaning<TypeParam>(half.bits), wide = static_cast<double>(half);
    const float single = static_cast<float>(half);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(wide) && std::isnan(single));
      ASSERT_EQ(std::signbit(wide), bits >= 0x8000);
      constexpr std::uint32_t quiet = 1 << (TypeParam::layout.fraction_bits - 1);
      ASSERT_EQ(TypeParam(single).bits, bits | quiet);
      ASSERT_EQ(TypeParam(wide).bits, bits | quiet);
    } else {
      ASSERT_EQ(wide, want) << bits;
      ASSERT_EQ(static_cast<double>(single), want) << bits;
      ASSERT_EQ(std::signbit(wide), bits >= 0x8000);
      ASSERT_EQ(TypeParam(single).bits, bits);
      ASSERT_EQ(TypeParam(wide).bits, bits);
    }
  }
}

// Between two neighbours the middle rounds to the even one, and values beside the middle round to the nearer
// one.
TYPED_TEST(Halves, NarrowingRoundsToNearestEven) {
  constexpr std::uint16_t past_greatest = ((1 << TypeParam::layout.exponent_bits) - 1)
                                          << TypeParam::layout.fraction_bits;
  for (std::uint16_t low = 0; low < past_greatest; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double a = meaning<TypeParam>(low);
    const double b = high == past_greatest ? 2 * a - meaning<TypeParam>(static_cast<std::uint16_t>(low - 1))
                                           : meaning<TypeParam>(high);
    const double middle = (a + b) / 2;
    const std::uint16_t even = low % 2 == 0 ? low : high;
    for (const double sign : {1.0, -1.0}) {
      const auto expect = [&](double x, std::uint16_t want) {
        want = static_cast<std::uint16_t>(want | (sign < 0 ? 0x8000 : 0));
        ASSERT_EQ(TypeParam(sign * x).bits, want) << x;
        const auto single = static_cast<float>(sign * x);
        if (static_cast<double>(single) == sign * x) {
          ASSERT_EQ(TypeParam(single).bits, want) << x;
        }
      };
      expect(middle, even);
      expect(std::nextafter(middle, 0.0), low);
      expect(std::nextafter(middle, infinity), high);
      const auto single = static_cast<float>(middle);
      if (static_cast<double>(single) != middle) continue;
      expect(static_cast<double>(std::nextafter(single, 0.0f)), low);
      expect(static_cast<double>(std::nextafter(single, INFINITY)), high);
    }
  }
}

TYPED_TEST(Halves, EndsOfTheRange) {
  constexpr std::uint16_t inf = ((1 << TypeParam::layout.exponent_bits) - 1)
                                << TypeParam::layout.fraction_bits;
  EXPECT_EQ(TypeParam(infinity).bits, inf);
  EXPECT_EQ(TypeParam(-1e308).bits, 0x8000 | inf);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::infinity()).bits, inf);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, inf);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::denorm_min()).bits, 0);
  EXPECT_EQ(TypeParam(-1e-300).bits, 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::denorm_min()).bits, 0);
  const auto nan = std::bit_cast<float>(0x7F80'0001u);  // signalling, with only zeros in the upper bits
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(nan))));
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::quiet_NaN()).bits,
            inf | 1 << (TypeParam::layout.fraction_bits - 1));
}

TYPED_TEST(Halves, TheRoundingModeDoesNotMatter) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const double wide = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 110);
    const std::uint16_t a = TypeParam(single).bits, b = TypeParam(wide).bits;
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      const std::uint16_t x = TypeParam(single).bits, y = TypeParam(wide).bits;
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(x == a && y == b);
    }
  }
}

}  // namespace
}  // namespace taut

#include "cli/quality.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace taut::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Quality compared(Bound bound, const std::vector<T>& x, const std::vector<T>& y,
                 std::optional<double> fill = {}) {
  Quality quality(bound, fill);
  quality.compare({{x.data(), x.size(), dtype_of<T>}}, {{y.data(), y.size(), dtype_of<T>}});
  return quality;
}

TEST(Quality, FiguresAreThoseOfTheDefinition) {
  const auto quality = compared<double>(1, {0, 1, 2, 10}, {0, 1.5, 2, 9.5});
  EXPECT_EQ(quality.beyond(), 0u);
  EXPECT_EQ(quality.max_error(), 0.5);
  EXPECT_EQ(quality.range_width(), 10);
  EXPECT_DOUBLE_EQ(quality.rmse(), std::sqrt(0.5 / 4));
  EXPECT_DOUBLE_EQ(quality.nrmse(), std::sqrt(0.5 / 4) / 10);
  EXPECT_DOUBLE_EQ(quality.psnr(), 20 * std::log10(10 / std::sqrt(0.5 / 4)));
}

TEST(Quality, EachValueBeyondTheBoundCounts) {
  std::vector<float> x(1003, 1), y(1003, 1.25f);
  y[0] = y[500] = y[1002] = 1.5f;
  EXPECT_EQ(compared(Bound(0.25), x, y).beyond(), 3u);
  EXPECT_EQ(compared(Bound(0.5), x, y).beyond(), 0u);
  EXPECT_EQ(compared(Bound(Bound::Kind::pointwise, 0.25), x, y).beyond(), 3u);
  EXPECT_EQ(compared(Bound(Bound::Kind::rate, 8), x, y).beyond(), 0u);
}

TEST(Quality, WhatIsNotFiniteMustComeBackAsSuch) {
  const std::vector<double> x{nan, infinity, -infinity, 1};
  EXPECT_EQ(compared<double>(1, x, x).beyond(), 0u);
  EXPECT_EQ(compared<double>(1, x, {0, 0, 0, 1}).beyond(), 3u);
  EXPECT_EQ(compared<double>(1, x, {nan, -infinity, nan, nan}).beyond(), 3u);
  EXPECT_EQ(compared<double>(1, x, {nan, infinity, -infinity, infinity}).beyond(), 1u);
  EXPECT_EQ(compared<double>(1, x, x).range_width(), 0);
}

TEST(Quality, ExactMeansBitForBit) {
  EXPECT_EQ(compared<double>({}, {0.0, 1, nan}, {0.0, 1, nan}).beyond(), 0u);
  EXPECT_EQ(compared<double>({}, {0.0, 1, nan}, {-0.0, 1, -nan}).beyond(), 2u);
}

TEST(Quality, FillValuesCountInTheBoundAlone) {
  const auto quality = compared<float>(1, {1e20f, 0, 4, 1e20f}, {1e20f, 1, 4, 2e20f}, 1e20);
  EXPECT_EQ(quality.range_width(), 4);
  EXPECT_DOUBLE_EQ(quality.rmse(), std::sqrt(0.5));
  EXPECT_EQ(quality.beyond(), 1u);
}

TEST(Quality, PartsOfComplexNumbersCountOneByOne) {
  const auto quality = compared<std::complex<float>>(1, {{0, 8}, {4, 4}}, {{0, 8}, {6, 4}});
  EXPECT_EQ(quality.beyond(), 1u);
  EXPECT_EQ(quality.range_width(), 8);
  EXPECT_EQ(quality.rmse(), 1);
}

TEST(Quality, LargeIntegersAreSubtractedAsSuch) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(compared<std::int64_t>(1, {least, 5}, {least + 2, 5}).max_error(), 2);
  EXPECT_EQ(compared<std::uint64_t>(1, {~0ull}, {~0ull - 1}).beyond(), 0u);
  EXPECT_EQ(compared<std::int64_t>(1, {least}, {-(least + 1)}).max_error(), 0x1p64);
}

TEST(Quality, WithoutLossPsnrIsInfinite) {
  EXPECT_EQ(compared<float>({}, {1, 2}, {1, 2}).psnr(), infinity);
  EXPECT_EQ(compared<float>({}, {}, {}).beyond(), 0u);
}

}  // namespace
}  // namespace taut::cli

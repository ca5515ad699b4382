#include "compressor/values/value_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace taut {
namespace value_range_test {

template <class T>
ValueRange range(const std::vector<T>& x, std::optional<double> fill = {}) {
  return range_of({{x.data(), x.size(), dtype_of<T>}}, fill);
}

template <class T>
class RangeOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(RangeOf, Reals);

TYPED_TEST(RangeOf, FindsTheExtremesWhereverTheyStand) {
  std::mt19937 random(1);
  for (const std::size_t n : {1u, 2u, 7u, 15u, 16u, 17u, 33u, 1000u}) {
    for (std::size_t low = 0; low < n; low += 1 + n / 20) {
      std::vector<TypeParam> x(n);
      for (auto& v : x) v = static_cast<TypeParam>(random() % 1000) / 1000;
      x[low] = -2;
      const std::size_t high = random() % n;
      if (high != low) x[high] = 3;
      const ValueRange found = range(x);
      ASSERT_EQ(found.least, -2);
      ASSERT_EQ(found.greatest, n == 1 || high == low ? *std::ranges::max_element(x) : 3);
    }
  }
}

TYPED_TEST(RangeOf, LeavesOutWhatIsNotFiniteAndFills) {
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity(),
                  nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const std::vector<TypeParam> x{nan, 1, infinity, static_cast<TypeParam>(1e20), 2, -infinity, -nan};
  EXPECT_EQ(range(x, 1e20).greatest, 2);
  EXPECT_EQ(range(x, 1e20).least, 1);
  EXPECT_EQ(range(x).greatest, static_cast<double>(static_cast<TypeParam>(1e20)));
  for (const std::vector<TypeParam>& none : {std::vector<TypeParam>{}, {nan, infinity}, {nan}})
    EXPECT_GT(range(none).least, range(none).greatest);
}

TEST(RangeOf, ComplexValuesCountByTheirParts) {
  const std::vector<float> parts{1, -5, 2, 9};
  const ValueRange found = range_of({{parts.data(), 2, DType::c64}}, {});
  EXPECT_EQ(found.least, -5);
  EXPECT_EQ(found.greatest, 9);
}

TEST(GridOfSteps, IsAtMostAFifthBelow) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const double bound = std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, i % 2040 - 1020);
    const Bound lower = rounded_for_equal_steps({Bound::Kind::absolute, bound});
    ASSERT_LE(lower.value, bound);
    ASSERT_GT(lower.value, 0.84 * bound);
    ASSERT_EQ(rounded_for_equal_steps(lower).value, lower.value);
  }
  for (const double odd : {0x1p-1070, 0.0, HUGE_VAL})
    EXPECT_EQ(rounded_for_equal_steps({Bound::Kind::absolute, odd}).value, odd);
  EXPECT_TRUE(rounded_for_equal_steps({}).exact());
}

TEST(Resolved, IsNeverAboveWhatWasAsked) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const double a = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 250),
                 b = a + std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 250);
    const double part = std::ldexp(1.0, -static_cast<int>(random() % 30));
    if (!(a < b)) continue;
    const long double whole = static_cast<long double>(b) - a;
    const Bound relative = resolved({Bound::Kind::range, part}, {a, b});
    ASSERT_LE(relative.value, whole * part);
    ASSERT_GE(relative.value, whole * part * (1 - 0x1p-19));
    const Bound psnr = resolved({Bound::Kind::psnr, 80}, {a, b});
    ASSERT_GE(20 * std::log10(whole / psnr.value), 80);
    ASSERT_LE(20 * std::log10(whole / psnr.value), 80.0001);
  }
}

TEST(Resolved, LeavesNothingToLoseWithoutARange) {
  for (const ValueRange& none : {ValueRange{}, ValueRange{1, 1}, ValueRange{0, 5e-324}})
    EXPECT_TRUE(resolved({Bound::Kind::range, 1e-3}, none).exact());
  EXPECT_EQ(resolved(Bound(0.5), {}), Bound(0.5));
  EXPECT_LE(resolved({Bound::Kind::range, 1}, {-1.7e308, 1.7e308}).value, std::numeric_limits<double>::max());
}

}  // namespace value_range_test
}  // namespace taut

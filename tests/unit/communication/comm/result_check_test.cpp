#include "communication/comm/result_check.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace taut {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Number>
ConstSlice slice(const std::vector<Number>& values) {
  return {{values.data(), values.size(), dtype_of<Number>}};
}

// Compares results, and returns what is counted.
template <class Number>
ResultChecks compared(const Promise& promise, const std::vector<Number>& plain,
                      const std::vector<Number>& served, double rounding = 0) {
  ResultComparison comparison(promise, rounding);
  comparison.add(slice(plain), slice(served));
  ResultChecks sums;
  comparison.count(sums, 7);
  return sums;
}

TEST(ResultCheck, FindsTheGreatestErrorAndItsPlace) {
  const ResultChecks found = compared<double>({Bound(0.5)}, {1, 2, 3, 4}, {1, 2.25, 2.625, 4});
  EXPECT_EQ(found.calls, 1u);
  EXPECT_EQ(found.calls_over_bound, 0u);
  EXPECT_EQ(found.nanoseconds, 7u);
  EXPECT_EQ(found.greatest.error, 0.375);
  EXPECT_EQ(found.greatest.bound, 0.5);
  EXPECT_EQ(found.greatest.share(), 0.75);
  EXPECT_EQ(found.greatest.element, 2u);
}

TEST(ResultCheck, CountsCallsThatBreakTheirBound) {
  EXPECT_EQ(compared<float>({Bound(0.5)}, {1, 2}, {1.5F, 2.5F}).calls_over_bound, 0u);
  EXPECT_EQ(compared<float>({Bound(0.5)}, {1, 2}, {1, 2.75F}).calls_over_bound, 1u);
  EXPECT_EQ(compared<float>({Bound(0.5)}, {1, 2}, {1, 2.75F}, 0.25).calls_over_bound, 0u);
  EXPECT_EQ(compared<float>({Bound()}, {1, 2}, {1, 2.75F}).calls_over_bound, 1u);
  EXPECT_EQ(compared<std::int64_t>({Bound()}, {std::int64_t{1} << 60}, {(std::int64_t{1} << 60) + 1})
                .calls_over_bound,
            1u);
}

TEST(ResultCheck, ABoundThatMayFailIsNotBroken) {
  const Promise likely{Bound(0.5), false}, none{{Bound::Kind::rate, 8}};
  EXPECT_EQ(compared<float>(likely, {1}, {2}).calls_over_bound, 0u);
  const ResultChecks by_rate = compared<float>(none, {1}, {2});
  EXPECT_EQ(by_rate.calls_over_bound, 0u);
  EXPECT_EQ(by_rate.greatest.error, 1);
  EXPECT_EQ(by_rate.greatest.share(), 0);
}

TEST(ResultCheck, APointwiseBoundFollowsTheValue) {
  const Promise tenth{{Bound::Kind::pointwise, 0.1}};
  const ResultChecks found = compared<double>(tenth, {100, 1}, {105, 1.0625});
  EXPECT_EQ(found.greatest.element, 1u);
  EXPECT_EQ(found.calls_over_bound, 0u);
  EXPECT_EQ(compared<double>(tenth, {100, 0}, {100, 0.01}).calls_over_bound, 1u);
}

TEST(ResultCheck, NumbersThatAreNotFiniteMustStay) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compared<double>({Bound(1)}, {nan, infinity}, {nan, infinity}).greatest.error, 0);
  EXPECT_EQ(compared<double>({Bound(1)}, {nan}, {0}).greatest.error, infinity);
  EXPECT_EQ(compared<double>({Bound(1)}, {infinity}, {-infinity}).calls_over_bound, 1u);
}

TEST(ResultCheck, PartsOfAComplexValueAreOneElement) {
  const ResultChecks found = compared<std::complex<float>>({Bound(1)}, {{1, 1}, {1, 1}}, {{1, 1}, {1, 1.5F}});
  EXPECT_EQ(found.greatest.element, 1u);
  EXPECT_EQ(found.greatest.error, 0.5);
}

TEST(ResultCheck, SumsKeepTheGreaterShare) {
  ResultChecks sums = compared<float>({Bound(1)}, {0}, {0.5F});
  sums += compared<float>({Bound(0.25)}, {0, 0}, {0, 0.25F});
  sums += compared<float>({Bound(100)}, {0}, {2});
  EXPECT_EQ(sums.calls, 3u);
  EXPECT_EQ(sums.greatest.share(), 1);
  EXPECT_EQ(sums.greatest.element, 1u);
  sums += {};
  EXPECT_EQ(sums.greatest.share(), 1);
}

TEST(ResultCheck, OneInNIsDrawnAndTheFirstAlways) {
  int drawn = 0, even = 0;
  for (std::uint64_t number = 0; number < 1600; ++number) {
    drawn += is_checked(number, 16);
    even += is_checked(number, 16) && number % 2 == 0;
    EXPECT_TRUE(is_checked(number, 1));
    EXPECT_FALSE(is_checked(number, 0));
  }
  EXPECT_TRUE(is_checked(0, 65536));
  EXPECT_NEAR(drawn, 100, 20);
  EXPECT_NEAR(even, 50, 20);  // calls of two kinds that alternate are both checked
}

}  // namespace
}  // namespace taut

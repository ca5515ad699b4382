// Tests of the power of two that all values of an array are multiples of.
#include "compressor/frame/common_unit.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace taut::test {
namespace common_unit_test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t count = 50001;

template <class T>
std::vector<T> multiples(double unit) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(unit * (static_cast<double>(i * 7919 % 4000) - 2000));
  return x;
}

template <class T>
ValueRange units(const std::vector<T>& x) {
  return common_unit_of({{x.data(), x.size(), dtype_of<T>}});
}

template <class T>
class CommonUnit : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CommonUnit, Types);

TYPED_TEST(CommonUnit, IsThatOfAllValuesWhereverTheyAre) {
  using T = TypeParam;
  for (const double unit : {1.0, 0.125, 0x1p40, 0x1p-70}) {
    std::vector<T> x = multiples<T>(unit);
    EXPECT_EQ(units(x).least, unit);
    EXPECT_EQ(units(x).greatest, 2000 * unit);
    for (const std::size_t at : {std::size_t{0}, count / 3, count - 1}) {
      std::vector<T> finer = x;
      finer[at] = static_cast<T>(-4000.25 * unit);
      EXPECT_EQ(units(finer).least, unit / 4) << at;
      EXPECT_EQ(units(finer).greatest, 4000.25 * unit) << at;
    }
  }
}

TYPED_TEST(CommonUnit, OneValueThatHasNoneIsEnough) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const std::vector<T> x = multiples<T>(1);
  for (const T other : {-T{0}, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                        Limits::denorm_min(), Limits::min(), Limits::max(), T(0.1), T(0x1p50), -T(0x1p-50)})
    for (const std::size_t at : {std::size_t{1}, count / 2 + 5, count - 1}) {
      std::vector<T> with_other = x;
      with_other[at] = other;
      EXPECT_EQ(units(with_other).least, 0) << other << " at " << at;
      EXPECT_EQ(units(with_other).greatest, infinity) << other << " at " << at;
    }
}

TYPED_TEST(CommonUnit, OfZerosIsAny) {
  const std::vector<TypeParam> none, zeros(count), tail = [] {
    std::vector<TypeParam> x(count);
    x[count - 2] = 3;
    return x;
  }();
  EXPECT_EQ(units(none).least, infinity);
  EXPECT_EQ(units(zeros).least, infinity);
  EXPECT_EQ(units(zeros).greatest, 0);
  EXPECT_EQ(units(tail).least, 1);
}

TEST(CommonUnitOfOtherTypes, IsThatOfThePartsOrNone) {
  const std::vector<float> parts = {1, -0.5F, 4, 0};
  const ValueRange found = common_unit_of({{parts.data(), 2, DType::c64}});
  EXPECT_EQ(found.least, 0.5);
  EXPECT_EQ(found.greatest, 4);
  for (const DType type : {DType::f16, DType::bf16, DType::i32, DType::u8})
    EXPECT_EQ(common_unit_of({{parts.data(), 2, type}}).least, 0) << name_of(type);
}

TEST(CommonUnitOfOtherTypes, TheCallersEnvironmentChangesNothing) {
  const std::vector<double> x = multiples<double>(0.25);
  std::fesetround(FE_UPWARD);
  const ValueRange found = units(x);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(found.least, 0.25);
}

TEST(BoundOfExactSums, IsExactWhereASumMayNeedRounding) {
  const auto bound = [](DType type, double unit, double greatest, int addends) {
    return bound_of_exact_sums(type, {unit, greatest}, addends);
  };
  const Bound of_ones{Bound::Kind::snap, 0.5};
  EXPECT_EQ(bound(DType::f32, 1, 4194303, 4), of_ones);
  EXPECT_EQ(bound(DType::f32, 1, 4194303, 5), Bound());
  EXPECT_EQ(bound(DType::c64, 1, 255, 65536), of_ones);
  EXPECT_EQ(bound(DType::c64, 1, 257, 65536), Bound());
  EXPECT_EQ(bound(DType::f64, 1, 0x1p43 - 1, 1024), of_ones);
  EXPECT_EQ(bound(DType::f64, 1, 0x1p43 - 1, 1025), Bound());
  EXPECT_FALSE(bound(DType::f32, infinity, 0, 1000000).exact());
  EXPECT_EQ(bound(DType::f64, 0, infinity, 2), Bound());
  EXPECT_EQ(bound(DType::f16, 1, 1, 2), Bound());
  // Units of ranks merge to one whose integers may have too many bits.
  EXPECT_EQ(bound(DType::f32, 0x1p-10, 8192, 2), Bound());
}

// The bound names the unit as the step, at the ends of the range of units too.
TYPED_TEST(CommonUnit, IsTheStepOfFrames) {
  using T = TypeParam;
  const bool single = sizeof(T) == 4;
  for (const double unit : {1.0, single ? 0x1p-100 : 0x1p-900, single ? 0x1p90 : 0x1p900}) {
    const std::vector<T> x = multiples<T>(unit);
    const Bound bound = bound_of_exact_sums(dtype_of<T>, units(x), 2);
    ASSERT_FALSE(bound.exact()) << unit;
    const auto codec = find_codec("planes")->make({.bound = bound});
    std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, count));
    const SizeOrStatus size = codec->encode({{x.data(), count, dtype_of<T>}}, frame);
    ASSERT_EQ(size.status, Status::ok);
    FrameHeader header;
    frame.resize(size.bytes);
    ASSERT_EQ(read_header(frame, header), Status::ok);
    EXPECT_EQ(header.step, unit);
    std::vector<T> decoded(count);
    ASSERT_EQ(codec->decode(frame, {{decoded.data(), count, dtype_of<T>}}), Status::ok);
    EXPECT_EQ(decoded, x);
  }
}

}  // namespace common_unit_test
}  // namespace taut::test

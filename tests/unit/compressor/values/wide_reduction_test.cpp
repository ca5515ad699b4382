#include "compressor/values/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace taut {
namespace {

template <class T>
std::vector<T> reduced(const std::vector<T>& operands, std::size_t n, Reduction op = Reduction::sum,
                       int divisor = 1) {
  std::vector<T> result(operands.size() / n);
  reduce_widely(operands.data(), n, {{result.data(), result.size(), dtype_of<T>}}, op, divisor);
  return result;
}

template <class T>
void expect_rounded_once() {
  const float tiny = std::is_same_v<T, bf16> ? 0x1p-9F : std::is_same_v<T, f16> ? 0x1p-12F : 0x1p-25F;
  // In the type itself each small operand would be lost; together they are an ulp of 1.
  std::vector<T> operands = {T(1.0F)};
  for (int i = 0; i < 4; ++i) operands.push_back(T(tiny * 2));
  EXPECT_EQ(static_cast<double>(reduced<T>(operands, 5)[0]), 1 + 8.0 * static_cast<double>(tiny));
}

TEST(WideReduction, RoundsOnce) {
  expect_rounded_once<f16>();
  expect_rounded_once<bf16>();
  expect_rounded_once<float>();
}

TEST(WideReduction, TakesOperandsFromLeftToRight) {
  EXPECT_EQ(reduced<double>({1e16, 1, -1e16, 1}, 4)[0], 1);
  EXPECT_EQ(reduced<double>({1, 1e16, -1e16, 1}, 4)[0], 1);
  EXPECT_EQ(reduced<double>({1e16, -1e16, 1, 1}, 4)[0], 2);
}

TEST(WideReduction, AMeanIsRoundedOnce) {
  EXPECT_EQ(reduced<f16>({f16(1.0F), f16(0x1p-11F)}, 2, Reduction::sum, 2)[0].bits,
            f16(0.5F + 0x1p-12F).bits);
  EXPECT_EQ(reduced<float>({1, 0, 0}, 3, Reduction::sum, 3)[0], static_cast<float>(1.0 / 3));
}

TEST(WideReduction, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), max = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::signbit(reduced<float>({-0.0F, -0.0F}, 2)[0]));
  EXPECT_EQ(reduced<float>({max, max, -max}, 3)[0], max);  // the partial sum has room
  EXPECT_EQ(reduced<float>({max, max}, 2)[0], inf);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(reduced<float>({inf, -inf}, 2)[0]), 0xFFC00000u);
  const float denormal = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(reduced<float>({denormal, denormal}, 2)[0], 2 * denormal);
}

TEST(WideReduction, ManyValuesOfEachRank) {
  constexpr std::size_t n = 3, count = 1003;  // more than one piece
  std::vector<float> operands(n * count);
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = std::sin(static_cast<float>(i)) * 1e6F;
  const std::vector<float> sums = reduced(operands, n), least = reduced(operands, n, Reduction::min);
  for (std::size_t i = 0; i < count; ++i) {
    const double a = operands[i], b = operands[count + i], c = operands[2 * count + i];
    EXPECT_EQ(sums[i], static_cast<float>(a + b + c));
    EXPECT_EQ(least[i], static_cast<float>(std::min({a, b, c})));
  }
}

TEST(WideReduction, ComplexNumbersByParts) {
  const std::vector<std::complex<float>> sums =
      reduced<std::complex<float>>({{1, 2}, {0x1p-25F, 4}, {0x1p-25F, 5}, {1, 1}}, 2);
  EXPECT_EQ(sums[0], std::complex<float>(1 + 0x1p-25F, 7));
  EXPECT_EQ(sums[1], std::complex<float>(1, 5));
}

}  // namespace
}  // namespace taut

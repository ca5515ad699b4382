#include "compressor/values/reduction.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

namespace taut {
namespace {

template <class T>
std::vector<T> reduced(std::vector<T> values, const std::vector<T>& operand, Reduction op) {
  reduce_values({{values.data(), values.size(), dtype_of<T>}},
                {{operand.data(), operand.size(), dtype_of<T>}}, op);
  return values;
}

TEST(Reduction, SumMinMax) {
  const std::vector<float> a{1, -2, 3}, b{4, -5, 0.5};
  EXPECT_EQ(reduced(a, b, Reduction::sum), (std::vector<float>{5, -7, 3.5}));
  EXPECT_EQ(reduced(a, b, Reduction::min), (std::vector<float>{1, -5, 0.5}));
  EXPECT_EQ(reduced(a, b, Reduction::max), (std::vector<float>{4, -2, 3}));
  EXPECT_EQ(reduced<double>({1e300}, {1e-300}, Reduction::max), std::vector<double>{1e300});
}

TEST(Reduction, NaNWinsFromEitherSide) {
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
    EXPECT_TRUE(std::isnan(reduced<double>({NAN}, {1}, op)[0]));
    EXPECT_TRUE(std::isnan(reduced<double>({1}, {NAN}, op)[0]));
  }
}

// The bits of a sum that is a NaN depend neither on the processor nor on the order of the operands.
TEST(Reduction, ASumThatIsNaNHasItsBitsFromARule) {
  const auto bits_of = [](double a, double b) {
    std::vector<std::uint64_t> bits;
    for (const std::size_t n : {1u, 64u, 100u}) {  // in vectors, and in the values that remain
      std::vector<double> y(n, 1.0), x(n, 2.0);
      y[n - 1] = a;
      x[n - 1] = b;
      bits.push_back(std::bit_cast<std::uint64_t>(reduced(y, x, Reduction::sum)[n - 1]));
      y[0] = b;
      x[0] = a;
      bits.push_back(std::bit_cast<std::uint64_t>(reduced(y, x, Reduction::sum)[0]));
    }
    for (const std::uint64_t each : bits) EXPECT_EQ(each, bits[0]);
    return bits[0];
  };
  const double signalling = std::bit_cast<double>(0xFFF3'4000'0000'0001);
  for (const double number : {1.0, -0.0, double{INFINITY}})
    EXPECT_EQ(bits_of(signalling, number), 0xFFFB'4000'0000'0001u);
  for (const double other : {signalling, -signalling, double{NAN}})
    EXPECT_EQ(bits_of(signalling, other), 0xFFF8'0000'0000'0000u);
  EXPECT_EQ(bits_of(INFINITY, -INFINITY), 0xFFF8'0000'0000'0000u);
}

// Minima and maxima of three values have the same bits in every order, in vectors and in single values.
template <class T>
void check_extremes_in_every_order() {
  using Limits = std::numeric_limits<ComputedIn<T>>;
  std::vector<T> special;
  for (const auto x : {Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min(),
                       Limits::quiet_NaN(), ComputedIn<T>{0}, ComputedIn<T>{1}})
    special.insert(special.end(), {static_cast<T>(x), static_cast<T>(-x)});
  const auto infinity = std::bit_cast<BitsOf<T>>(static_cast<T>(Limits::infinity()));
  for (const BitsOf<T> bits : {BitsOf<T>{1}, BitsOf<T>{2}, static_cast<BitsOf<T>>(infinity + 1)})
    special.push_back(std::bit_cast<T>(bits));  // denormal numbers, a signalling NaN
  std::vector<T> a, b, c;
  for (const T x : special)
    for (const T y : special)
      for (const T z : special) a.push_back(x), b.push_back(y), c.push_back(z);
  const auto bits = [](const std::vector<T>& values) {
    std::vector<BitsOf<T>> all;
    for (const T value : values) all.push_back(std::bit_cast<BitsOf<T>>(value));
    return all;
  };
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    const auto once = bits(reduced(reduced(a, b, op), c, op));
    EXPECT_EQ(bits(reduced(reduced(b, a, op), c, op)), once) << name_of(op);
    EXPECT_EQ(bits(reduced(reduced(c, b, op), a, op)), once) << name_of(op);
    EXPECT_EQ(bits(reduced(a, reduced(b, c, op), op)), once) << name_of(op);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(std::bit_cast<BitsOf<T>>(combine(op, combine(op, a[i], b[i]), c[i])), once[i]) << i;
  }
}

TEST(Reduction, MinimaAndMaximaHaveTheSameBitsInEveryOrder) {
  check_extremes_in_every_order<float>();
  check_extremes_in_every_order<double>();
  check_extremes_in_every_order<f16>();
  check_extremes_in_every_order<bf16>();
  EXPECT_TRUE(std::signbit(reduced<double>({0.0}, {-0.0}, Reduction::min)[0]));
  EXPECT_FALSE(std::signbit(reduced<double>({-0.0}, {0.0}, Reduction::max)[0]));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(reduced<float>({1}, {NAN}, Reduction::min)[0]), 0xFFC0'0000u);
}

#if defined(__x86_64__)
// Denormals are told apart although the caller flushes them, and a NaN does not trap although the caller
// asks.
TEST(Reduction, MinimaAndMaximaIgnoreTheCallersEnvironment) {
  constexpr unsigned usual = 0x1F80, flushes = 0x8040, traps_invalid = 0x80;
  const float one = std::bit_cast<float>(1), two = std::bit_cast<float>(2);
  std::vector<std::uint32_t> bits;
  __builtin_ia32_ldmxcsr((usual | flushes) & ~traps_invalid);
  for (const Reduction op : {Reduction::min, Reduction::max})
    for (const float value : {reduced<float>({one}, {two}, op)[0], reduced<float>({two}, {NAN}, op)[0]})
      bits.push_back(std::bit_cast<std::uint32_t>(value));
  __builtin_ia32_ldmxcsr(usual);
  EXPECT_EQ(bits, (std::vector<std::uint32_t>{1, 0xFFC0'0000, 2, 0xFFC0'0000}));
}
#endif

TEST(Reduction, IntegersAddModuloTheirRange) {
  EXPECT_EQ(reduced<std::int8_t>({127, -128, 5}, {1, -1, -7}, Reduction::sum),
            (std::vector<std::int8_t>{-128, 127, -2}));
  EXPECT_EQ(reduced<std::int64_t>({INT64_MAX}, {1}, Reduction::sum), std::vector<std::int64_t>{INT64_MIN});
  EXPECT_EQ(reduced<std::uint16_t>({65535}, {3}, Reduction::sum), std::vector<std::uint16_t>{2});
  EXPECT_EQ(reduced<std::int32_t>({-5, 7}, {-6, 8}, Reduction::min), (std::vector<std::int32_t>{-6, 7}));
  EXPECT_EQ(reduced<std::uint64_t>({UINT64_MAX}, {1}, Reduction::max),
            std::vector<std::uint64_t>{UINT64_MAX});
}

TEST(Reduction, ComplexNumbersAddAndHaveNoOrder) {
  using Complex = std::complex<float>;
  EXPECT_EQ(reduced<Complex>({{1, 2}, {3, -4}}, {{10, 20}, {0, 0.5}}, Reduction::sum),
            (std::vector<Complex>{{11, 22}, {3, -3.5}}));
  EXPECT_TRUE(is_defined(Reduction::sum, DType::c128));
  EXPECT_FALSE(is_defined(Reduction::min, DType::c64));
  EXPECT_TRUE(is_defined(Reduction::max, DType::u8));
}

// Sums of any two halves, rounded once: their exact sum fits a double.
template <class Half>
void check_halves() {
  std::vector<Half> x(65536), y(65536);
  for (std::uint32_t shift = 1; shift < 65536; shift = shift * 3 + 1) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
      x[i] = Half::of_bits(static_cast<std::uint16_t>(i));
      y[i] = Half::of_bits(static_cast<std::uint16_t>(i * 40503u + shift));
    }
    const std::vector<Half> sum = reduced(x, y, Reduction::sum), least = reduced(x, y, Reduction::min);
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
      if (std::isnan(a + b)) {
        const Half quiet =
            Half::of_bits((std::isnan(a) ? x[i] : y[i]).bits | 1 << (Half::layout.fraction_bits - 1));
        ASSERT_EQ(sum[i].bits, std::isnan(a) != std::isnan(b)
                                   ? quiet.bits
                                   : Half(-std::numeric_limits<float>::quiet_NaN()).bits);
      }
      if (std::isnan(a) || std::isnan(b)) {
        ASSERT_EQ(least[i].bits, Half(-std::numeric_limits<float>::quiet_NaN()).bits);
      } else {
        const double far = std::abs(a) > 0x1p50 * std::abs(b)   ? a
                           : std::abs(b) > 0x1p50 * std::abs(a) ? b
                                                                : a + b;
        ASSERT_TRUE(std::isnan(a + b) || sum[i].bits == Half(far).bits);
        ASSERT_EQ(static_cast<double>(least[i]), std::min(a, b));
      }
    }
  }
}

TEST(Reduction, HalvesAreRoundedOnce) {
  check_halves<f16>();
  check_halves<bf16>();
}

TEST(Slice, PartsCoverEverythingOnce) {
  for (std::size_t count : {0u, 1u, 5u, 16u, 1003u}) {
    for (std::size_t parts : {1u, 2u, 3u, 7u, 17u}) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const Range range = part_range(count, i, parts);
        EXPECT_EQ(range.first, next);
        next += range.count;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace taut

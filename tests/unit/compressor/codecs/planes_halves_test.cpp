// The promise of planes for halves and for snapping bounds: all patterns, sums, multiples of a power of two.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "support/frames.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace {

template <class T>
class PlanesHalves : public testing::Test {
 protected:
  static std::vector<T> all_patterns() {
    std::vector<T> x(65536);
    for (std::uint32_t i = 0; i < 65536; ++i) x[i] = T::of_bits(static_cast<std::uint16_t>(i));
    return x;
  }
  // Returns bounds from below any spacing to above any value.
  static std::vector<double> bounds() {
    std::vector<double> all;
    for (int exponent = -160; exponent <= 140; exponent += 7) all.push_back(std::ldexp(1.37, exponent));
    for (int exponent = -30; exponent <= 20; ++exponent) all.push_back(std::ldexp(1, exponent));
    return all;
  }
};
using HalfTypes = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(PlanesHalves, HalfTypes);

// Checks that a finite value is within the bound, that the step attains the bound, and that other values come
// back unchanged.
template <class T>
double check(T x, T y, double bound) {
  const double want = static_cast<double>(x), got = static_cast<double>(y);
  if (!std::isfinite(want)) {
    EXPECT_EQ(x.bits, y.bits);
    return 0;
  }
  EXPECT_LE(std::abs(want - got), bound) << want << " became " << got;
  return std::abs(want - got) / bound;
}

TYPED_TEST(PlanesHalves, EveryPatternAmongItsNeighbours) {
  for (const char* kernels : {"scalar", ""}) {
    for (const double bound : this->bounds()) {
      const auto codec = planes(bound, kernels);
      const std::vector<TypeParam> x = this->all_patterns(),
                                   y = decoded<TypeParam>(*codec, encoded(*codec, x), x.size()),
                                   z = decoded<TypeParam>(*codec, encoded(*codec, y), x.size());
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        worst = std::max(worst, check(x[i], y[i], bound));
        ASSERT_EQ(y[i].bits, z[i].bits);
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << bound;
      const double spacing = static_cast<double>(TypeParam::of_bits(1)), greatest = 16;
      if (bound > std::max(4 * spacing, 1e-36) && bound < greatest) {  // finer bounds are not coded
        EXPECT_GT(worst, 0.1) << bound;
      }
    }
  }
}

// Encodes 64 values of one pattern: a value decodes to the same result with any neighbours.
TYPED_TEST(PlanesHalves, EveryPatternAlone) {
  for (const double bound : {1e-40, 1e-9, 1e-3, 0.25, 3.0, 1e30}) {
    const auto codec = planes(bound);
    const std::vector<TypeParam> x = this->all_patterns(),
                                 y = decoded<TypeParam>(*codec, encoded(*codec, x), x.size());
    for (std::uint32_t i = 0; i < 65536; i += bound == 1e-3 ? 1 : 7) {
      const std::vector<TypeParam> same(65, x[i]),
          back = decoded<TypeParam>(*codec, encoded(*codec, same), same.size());
      for (const TypeParam value : back) {
        check(x[i], value, bound);
        ASSERT_EQ(value.bits, y[i].bits) << bound;
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << bound;
    }
  }
}

// The sum of frames is the exact sum of their decoded values, rounded once, also where 2^24 is too small for
// it.
TYPED_TEST(PlanesHalves, SumsAreRoundedOnce) {
  std::mt19937_64 random(4);
  for (const double bound : {1e-4, 0.01, 0.3}) {
    const auto codec = planes(bound);
    for (const double size : {1.0, 100.0, 3000.0}) {
      if (!is_sampled()) continue;
      std::vector<TypeParam> x(5001), y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<TypeParam>(size * (static_cast<double>(random() >> 11) * 0x1p-52 - 1));
        y[i] = random() % 50 == 0 ? static_cast<TypeParam>(INFINITY)
                                  : static_cast<TypeParam>(static_cast<double>(x[i]) / 3);
      }
      std::vector<double> exact(x.size(), 0);
      Frame total;
      for (std::uint32_t addends = 1; addends <= 4096; addends *= 2) {
        total = addends == 1 ? encoded(*codec, x) : summed(*codec, {total, total});
        const std::vector<TypeParam> one = decoded<TypeParam>(*codec, encoded(*codec, x), x.size()),
                                     sum = decoded<TypeParam>(*codec, total, x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(sum[i].bits, TypeParam(static_cast<double>(one[i]) * addends).bits) << addends;
      }
      const Frame both = summed(*codec, {encoded(*codec, x), encoded(*codec, y)});
      const std::vector<TypeParam> a = decoded<TypeParam>(*codec, encoded(*codec, x), x.size()),
                                   b = decoded<TypeParam>(*codec, encoded(*codec, y), x.size()),
                                   sum = decoded<TypeParam>(*codec, both, x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(sum[i].bits, TypeParam(static_cast<double>(a[i]) + static_cast<double>(b[i])).bits);
    }
  }
}

// The sum of any number and a decoded one is that of floats, rounded once, in every kernel set: integers
// about as great as halves hold exactly, steps at their limits, NaN and infinities.
TYPED_TEST(PlanesHalves, FramesAreAddedToEveryPattern) {
  using T = TypeParam;
  const double greatest = std::is_same_v<T, f16> ? 0x1p5 : 0x1p120;
  for (const planes::KernelSet* set : planes::kernel_sets())
    for (const char* predictor : {"delta", "none", "pairs", "second"})
      for (const double step : {0x1p-24, 0x1p-9, 1.0, greatest})
        for (const int range : {100, 256, 260, 1024, 1030, 2100, 16000}) {
          std::vector<T> x(65536), y = this->all_patterns();
          for (std::size_t i = 0; i < x.size(); ++i) {
            const int q = static_cast<int>(i * 37 % static_cast<std::size_t>(2 * range)) - range;
            x[i] = static_cast<T>(i % 200 < 150 ? std::clamp(q * step, -0x1p14 * step, 0x1p13 * step)
                                                : q % 50 * step);
          }
          if (!set->supported()) continue;
          const auto codec = planes(step / 2, set->name, predictor);
          const Frame frame = encoded(*codec, x);
          const std::vector<T> decoded_x = decoded<T>(*codec, frame, x.size());
          ASSERT_EQ(codec->reduce(frame, slice(y), Reduction::sum), Status::ok);
          for (std::uint32_t i = 0; i < 65536; ++i) {
            const T before = T::of_bits(static_cast<std::uint16_t>(i));
            const auto sum = static_cast<T>(static_cast<float>(before) + static_cast<float>(decoded_x[i]));
            ASSERT_EQ(y[i].bits, sum.bits) << set->name << predictor << step << " " << range << " " << i;
          }
        }
}

// Fine integers of a coarse type need more than its 16 bits; such a chunk is stored as it is.
TYPED_TEST(PlanesHalves, FramesAreHardlyLargerThanTheirValues) {
  std::mt19937_64 random(5);
  for (const double bound : {1e-7, 1e-5, 3e-5, 1e-4}) {
    std::vector<TypeParam> x(3 * 4096 + 77);
    for (TypeParam& v : x) v = static_cast<TypeParam>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    EXPECT_LE(encoded(*planes(bound), x).size(), x.size() * 2 * 17 / 16 + 64 + 4 * 16);
  }
}

template <class T>
void check_snapped() {
  std::mt19937_64 random(6);
  for (const double bound : {1e-6, 0.3, 0.5, 17.0}) {
    const double step = std::ldexp(1, std::ilogb(2 * bound));
    std::vector<T> x(20000);
    for (std::size_t i = 0; i < x.size(); ++i) {  // small, large, wide and beyond, chunk by chunk and mixed
      const int decade = i < 16384 ? static_cast<int>(i / 1024 * 4) : static_cast<int>(random() % 64);
      x[i] = static_cast<T>(std::ldexp(step * (static_cast<double>(random() >> 11) * 0x1p-52 - 1), decade));
    }
    const auto codec = find_codec("planes")->make({.bound = {Bound::Kind::snap, bound}});
    const std::vector<T> y = decoded<T>(*codec, encoded(*codec, x), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(std::abs(x[i] - y[i]), bound);
      ASSERT_EQ(std::remainder(static_cast<double>(y[i]), step), 0) << x[i] << " " << step;
    }
  }
}

TEST(PlanesSnap, ValuesAreMultiplesOfAPowerOfTwo) {
  check_snapped<float>();
  check_snapped<double>();
}

}  // namespace
}  // namespace taut::test

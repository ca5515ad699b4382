// Tests that round numbers stay round under absolute bounds (docs/error-model.md, theorem 1b).
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "support/frames.hpp"
#include "support/subjects.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace planes_round_numbers_test {

using taut::planes::as_decoded;
using taut::planes::dequantise;
using taut::planes::Predictor;
using taut::planes::Quantiser;

// The theorem promises round numbers under bounds up to this one.
constexpr double greatest_bound = 1.0 / 520;

template <class T>
Quantiser<T> quantiser(double bound) {
  return Quantiser<T>::make({Bound::Kind::absolute, bound}, Predictor::delta);
}

// Returns the integer that stands for 1, or 0 if 1 is no multiple of the step.
template <class T>
std::int64_t integer_of_one(const Quantiser<T>& z) {
  const double q = std::nearbyint(1 / static_cast<double>(z.step));
  return std::abs(q * static_cast<double>(z.step) - 1) < 1e-7 ? static_cast<std::int64_t>(q) : 0;
}

// Calls action(bound) with bounds of even spacing on a logarithmic scale.
template <class Action>
void for_bounds(double least, double most, int count, Action action) {
  for (int i = 0; i <= count && !testing::Test::HasFatalFailure(); ++i)
    action(std::min(least * std::pow(most / least, double(i) / count), most));
}

template <class T>
class PlanesRoundNumbers : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanesRoundNumbers, Types);

TYPED_TEST(PlanesRoundNumbers, WholeNumbersAndHalvesComeBack) {
  using T = TypeParam;
  const int count = static_cast<int>(number_from_environment("TEST_BOUNDS", 20000));
  for_bounds(1e-7, greatest_bound, count, [](double bound) {
    const Quantiser<T> z = quantiser<T>(bound);
    for (const int number : {1, 2, 3, 7, 10, 100, 1000, 99999, -1, -127}) {
      const T x = static_cast<T>(number);
      ASSERT_EQ(as_decoded(x, z), x) << bound;
    }
    for (double power = 0.5; power > 520 * bound; power /= 2)  // every time the bound is as small beside it
      for (const double k : {1, 3, 1001}) {
        const T x = static_cast<T>(k * power);
        ASSERT_EQ(as_decoded(x, z), x) << bound;
      }
  });
}

// A step between 1/n and 1/(n+1) for n from 256 to 511, times a power of two, is every step below 1/256. So
// this test shows that there is a step for each bound up to greatest_bound.
TYPED_TEST(PlanesRoundNumbers, EveryNumberOfPartsHasANearOne) {
  using T = TypeParam;
  for (int parts = 256; parts < 512; ++parts) {
    const T step = taut::planes::round_step<T>(1 / (parts * (1 + 0x1p-40)));
    ASSERT_TRUE(taut::planes::keeps_round_numbers(step, std::nearbyint(1 / static_cast<double>(step))))
        << parts;
  }
}

TYPED_TEST(PlanesRoundNumbers, SumsOfOnesAreTheNumberOfRanks) {
  using T = TypeParam;
  for_bounds(1e-7, greatest_bound, 500, [](double bound) {
    for (int ranks = 1; ranks <= 128; ++ranks) {
      const Quantiser<T> z = quantiser<T>(bound / ranks);
      ASSERT_EQ(dequantise<T>(ranks * integer_of_one(z), static_cast<double>(z.step)), ranks) << bound;
    }
  });
}

TYPED_TEST(PlanesRoundNumbers, StepsLoseLittleAndStayBelowTheProvenOne) {
  using T = TypeParam;
  for_bounds(1e-30, 1e29, 20000, [](double bound) {
    const double most = 2 * bound * (1 - 0x1p-7), step = static_cast<double>(quantiser<T>(bound).step);
    ASSERT_LE(step, most);
    ASSERT_GE(step, most * (1 - taut::planes::round_step_loss));
  });
}

TYPED_TEST(PlanesRoundNumbers, LowestStepsAreStillSteps) {
  using T = TypeParam;
  const double lowest = taut::planes::StepRange<T>::min;
  for_bounds(lowest, 1.05 * lowest, 1000, [&](double most) {
    ASSERT_TRUE(taut::planes::step_fits<T>(static_cast<double>(taut::planes::round_step<T>(most)))) << most;
  });
}

// Coarse bounds keep 1 where that loses little.
TYPED_TEST(PlanesRoundNumbers, OneComesBackUnderUsualCoarseBounds) {
  using T = TypeParam;
  for (const double bound : {1e-2, 5e-3, 2e-3, 1e-3})
    for (const double x : {1, 2, 10, 100})
      ASSERT_EQ(as_decoded(static_cast<T>(x), quantiser<T>(bound)), static_cast<T>(x)) << bound;
}

TYPED_TEST(PlanesRoundNumbers, FramesOfEveryKernelSetKeepThem) {
  using T = TypeParam;
  for (const char* kernels : set_names)
    for (const double bound : {1e-3, 1e-4, 1e-5, 1e-6, 3.3e-7}) {
      if (!can_be_made(*find_codec("planes"), dtype_of<T>, {.bound = bound, .kernels = kernels})) continue;
      for (const std::uint32_t ranks : {1u, 2u, 3u, 7u}) {
        const auto codec = taut::test::planes(bound / ranks, kernels);
        std::vector<T> x(5000, T{1});
        for (std::size_t i = 4200; i < x.size(); ++i) x[i] = static_cast<T>(i % 100) / 4;
        const std::vector<Frame> frames(ranks, encoded(*codec, x));
        std::vector<T> want(x);
        for (T& v : want) v *= static_cast<T>(ranks);
        EXPECT_EQ(decoded<T>(*codec, frames[0], x.size()), x) << kernels << bound;
        EXPECT_EQ(decoded<T>(*codec, summed(*codec, frames), x.size()), want) << kernels << bound;
      }
    }
}

// 16-bit numbers and snapping bounds have powers of two as steps.
TEST(PlanesRoundNumbers, PowersOfTwoKeepOne) {
  for_bounds(1e-7, 0.5, 2000, [](double bound) {
    ASSERT_EQ(static_cast<float>(as_decoded(f16(1.0f), quantiser<f16>(bound))), 1.0f) << bound;
    ASSERT_EQ(static_cast<float>(as_decoded(bf16(1.0f), quantiser<bf16>(bound))), 1.0f) << bound;
    const auto z = Quantiser<float>::make({Bound::Kind::snap, bound}, Predictor::delta);
    ASSERT_EQ(as_decoded(1.0f, z), 1.0f) << bound;
  });
}

}  // namespace planes_round_numbers_test
}  // namespace taut::test

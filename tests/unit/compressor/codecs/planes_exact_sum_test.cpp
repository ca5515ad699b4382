// Sums that are hard for ExactSum: their values need many parts at the same time.
#include "compressor/codecs/planes/record/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace taut::planes {
namespace {

// Shewchuk's grow-expansion without a limit on the parts.
using Parts = std::vector<double>;
Parts grown(const Parts& parts, double x) {
  Parts kept;
  for (double y : parts) {
    if (std::abs(x) < std::abs(y)) std::swap(x, y);
    const double sum = x + y, error = y - (sum - x);
    if (error != 0) kept.push_back(error);
    x = sum;
  }
  kept.push_back(x);
  return kept;
}

// Returns values after which an expansion has at least `wanted` parts: repeatedly the best of a few random
// ones.
std::vector<double> awkward_values(std::size_t wanted, std::mt19937_64& random) {
  std::vector<double> values;
  for (Parts parts; parts.size() < wanted;) {
    Parts best;
    for (int k = 0; k < 30; ++k) {
      const int bits = 1 + static_cast<int>(random() % 53);
      const double magnitude = static_cast<double>(random() >> (64 - bits));
      const double x =
          std::ldexp(random() % 2 == 0 ? magnitude : -magnitude, -900 + static_cast<int>(random() % 1740));
      Parts next = grown(parts, x);
      if (k > 0 && next.size() <= best.size()) continue;
      best = std::move(next);
      values.resize(values.size() + (k == 0));
      values.back() = x;
    }
    parts = std::move(best);
  }
  return values;
}

TEST(ExactSum, HasRoomForAnyValuesAndLosesNothing) {
  std::mt19937_64 random(3);
  for (const std::size_t parts : {30u, 60u, 100u, 160u}) {
    const std::vector<double> x = awkward_values(parts, random);
    ExactSum forward, backward, nothing;
    for (const double v : x) forward.add(v);
    for (std::size_t i = x.size(); i-- > 0;) backward.add(x[i]);
    EXPECT_EQ(forward.rounded<double>(), backward.rounded<double>());
    EXPECT_EQ(forward.rounded<float>(), backward.rounded<float>());

    std::vector<double> back = x;
    std::shuffle(back.begin(), back.end(), random);
    for (const double v : x) nothing.add(v);
    for (const double v : back) nothing.add(-v);
    EXPECT_EQ(nothing.rounded<double>(), 0) << parts;
    nothing.add(0x1p-1074);
    EXPECT_EQ(nothing.rounded<double>(), 0x1p-1074) << parts;
  }
}

}  // namespace
}  // namespace taut::planes

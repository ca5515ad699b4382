#include "core/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

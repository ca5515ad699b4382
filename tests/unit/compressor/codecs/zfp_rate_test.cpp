// Tests of the zfp codec at a fixed rate.
#include "unit/compressor/codecs/zfp_fields.hpp"

namespace taut::test {
namespace {

TEST(ZfpRate, ARateGivesThatManyBits) {
  const auto x = waves<double>({{100000}, 1});
  for (const double bits : {4.0, 8.0, 13.5, 32.0}) {
    const double size = static_cast<double>(encoded(*zfp_codec(rate(bits)), x).size());
    EXPECT_NEAR(size * 8 / 100000, bits, 0.01);
  }
  EXPECT_LT(greatest_error(x, there_and_back(*zfp_codec(rate(24)), x)), 1e-5);
  EXPECT_EQ(there_and_back(*zfp_codec(rate(64)), x), x);
}

template <class T>
void expect_same_size_whatever_the_values(double bits) {
  for (const Dims& dims :
       {Dims{}, Dims{{3, 7}, 2}, Dims{{5, 6, 7}, 3}, Dims{{2, 3, 2, 9}, 4}, Dims{{70, 100}, 2}}) {
    const auto codec = zfp_codec(rate(bits), dims);
    ASSERT_EQ(codec->contract().fixed_size, dims.n == 0);
    for (std::size_t n = 1; n < 300; ++n) {
      const std::size_t count = n == 299 && dims.n > 0 ? dims.count() : n;
      std::vector<T> x(count, T(1.5));
      const std::size_t size = encoded(*codec, x).size(), most = codec->max_bytes(dtype_of<T>, count);
      ASSERT_TRUE(dims.n == 0 ? size == most : size <= most) << count;
      for (std::size_t i = 0; i < count; ++i)
        x[i] = static_cast<T>(i % 3 == 0 ? std::nan("") : i % 3 == 1 ? infinity : -infinity);
      if (n % 2 == 0) x[n / 2] = T(3);
      ASSERT_EQ(encoded(*codec, x).size(), size) << count;
      const auto y = there_and_back(*codec, x);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(y[i] == x[i] || (std::isnan(x[i]) && std::isnan(y[i])) ||
                    (std::isfinite(x[i]) && std::isfinite(y[i])));
    }
  }
}

TEST(ZfpRate, FromSevenBitsOnSizesNeverDependOnTheValues) {
  for (const double bits : {7.0, 8.0, 9.7, 31.0, 64.0}) {
    expect_same_size_whatever_the_values<float>(bits);
    expect_same_size_whatever_the_values<double>(bits);
  }
}

TEST(ZfpRate, BelowSevenBitsBoxesOfNaNsMayTakeMore) {
  const auto codec = zfp_codec(rate(3));
  EXPECT_FALSE(codec->contract().fixed_size);
  std::vector<float> x(5000, 1.5f);
  const std::size_t usual = encoded(*codec, x).size();
  x[77] = NAN;
  EXPECT_EQ(encoded(*codec, x).size(), usual);  // few find room
  EXPECT_TRUE(std::isnan(there_and_back(*codec, x)[77]));
  x[77] = 0;
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = -INFINITY;
  EXPECT_GT(encoded(*codec, x).size(), usual);
  EXPECT_EQ(there_and_back(*codec, x), x);
}

TEST(ZfpRate, AtARateFiniteValuesStayFiniteAndTinyOnesHarmless) {
  std::mt19937_64 random(5);
  std::vector<float> x(4000);
  for (float& v : x)
    v = random() % 2 == 0 ? std::numeric_limits<float>::max() : -std::numeric_limits<float>::max();
  for (const double bits : {3.0, 8.0})
    for (const float v : there_and_back(*zfp_codec(rate(bits)), x)) ASSERT_TRUE(std::isfinite(v));
  for (float& v : x) v = std::ldexp(static_cast<float>(random() % 1000), -149);
  for (const float v : there_and_back(*zfp_codec(rate(16)), x)) ASSERT_LE(std::abs(v), 0x1p-95f);
}

}  // namespace
}  // namespace taut::test

// Tests the bound of the szx codec: the claims of src/compressor/codecs/szx/bound.md, at the places where
// they could fail.
#include <cmath>
#include <limits>
#include <random>

#include "compressor/codecs/szx/grid.hpp"
#include "support/frames.hpp"

namespace taut::test {
namespace szx_bound_test {

std::unique_ptr<Codec> make(double bound) { return find_codec("szx")->make({.bound = bound}); }

std::mt19937_64 random_bits(5);
double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }

// Encodes and decodes `x` and checks each value: NaN and infinities are equal bit for bit. Other values are
// within the bound in exact arithmetic (a long double holds the difference where it is close to the bound),
// and x' = x or a multiple of the step.
template <class T>
std::vector<T> checked(const std::vector<T>& x, double bound, double* worst = nullptr) {
  const auto codec = make(bound);
  const Frame frame = encoded(*codec, x);
  const std::vector<T> y = decoded<T>(*codec, frame, x.size());
  const double step = static_cast<double>(szx::Grid<T>::make(bound).step);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&x[i], &y[i], sizeof(T)) == 0) continue;
    const long double error = std::abs(static_cast<long double>(x[i]) - static_cast<long double>(y[i]));
    if (!(error <= bound) || std::remainder(static_cast<double>(y[i]), step) != 0) {
      ADD_FAILURE() << "value " << i << ": " << x[i] << " became " << y[i] << ", bound " << bound;
      return y;
    }
    if (worst != nullptr) *worst = std::max(*worst, static_cast<double>(error / bound));
  }
  return y;
}

template <class T>
class SzxBound : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SzxBound, Types);

// Tests values half way between multiples and beside these, in blocks of every width and at every distance
// from zero.
TYPED_TEST(SzxBound, TiesOfAllSizes) {
  using T = TypeParam;
  double worst = 0;
  for (const double bound : {1e-3, 0.5, 1.0, 3e5}) {
    const double step = static_cast<double>(szx::Grid<T>::make(bound).step);
    std::vector<T> x;
    for (int width = 0; width <= szx::max_width<T> + 1; ++width) {
      for (int far = 0; far <= szx::max_width<T> + 1; ++far) {
        const double base = std::floor(std::ldexp(uniform(), far));
        for (std::size_t i = 0; i < szx::block_values; ++i) {
          const double q = base + std::floor(std::ldexp(std::abs(uniform()), width));
          auto tie = static_cast<T>((q + 0.5) * step);
          if (i % 3 != 0)
            tie = std::nextafter(tie, std::numeric_limits<T>::infinity() * (i % 3 == 1 ? T{1} : T{-1}));
          x.push_back(tie);
        }
      }
    }
    checked(x, bound, &worst);
  }
  EXPECT_GT(worst, 0.95);
}

// Tests the greatest integers of either sign in one block; with one more the block is stored as it is.
TYPED_TEST(SzxBound, WidestBlock) {
  using T = TypeParam;
  const double greatest = static_cast<double>(szx::max_integer<T>);
  const double step = static_cast<double>(szx::Grid<T>::make(1).step);
  std::vector<T> x(4 * szx::block_values);
  const auto fill = [&](double q) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(q * step * (i % 2 == 0 ? 1 : -1));
  };
  fill(greatest - 0.375);
  const std::vector<T> y = checked(x, 1);
  EXPECT_EQ(static_cast<double>(y[0]), greatest * step);
  EXPECT_EQ(encoded(*make(1), x).size(),
            64 + 4 + szx::head_bytes<T> + 4 + 4 * szx::max_width<T> * szx::block_values / 8);
  fill(greatest + 0.375);
  EXPECT_EQ(checked(x, 1), x);
}

// Tests blocks that become narrower when the values at their ends move by a multiple, up to the last value
// for which the bound allows that.
TYPED_TEST(SzxBound, EndsOfBlocks) {
  using T = TypeParam;
  for (const double bound : {1e-3, 1.0, 7e4}) {
    const double step = static_cast<double>(szx::Grid<T>::make(bound).step);
    std::vector<T> x;
    for (int k = -200; k < 200; ++k) {
      const auto low = static_cast<T>(k * step - bound),
                 high = static_cast<T>((k + std::abs(k) % 5) * step + bound);
      for (std::size_t i = 0; i < szx::block_values; ++i) {
        T v = i % 2 == 0 ? low : high;
        for (std::size_t n = 0; n < static_cast<std::size_t>(std::abs(k) % 4); ++n)
          v = std::nextafter(v, T(k * step));
        x.push_back(v);
      }
    }
    checked(x, bound);
  }
}

TYPED_TEST(SzxBound, BoundsOfAllSizes) {
  using T = TypeParam;
  const int least = std::numeric_limits<T>::min_exponent - 40,
            most = std::numeric_limits<T>::max_exponent - 1;
  for (int e = std::max(least, -1070); e < most; e += sizeof(T) == 8 ? 7 : 1) {
    const double bound = std::ldexp(1 + 0.5 * (1 + uniform()), e);
    std::vector<T> x(256);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<T>(std::ldexp(bound * uniform(), static_cast<int>(i % 64) / 2 - 4));
    checked(x, bound);
  }
}

// Tests values of any bits, with one exponent in a block, so that many blocks are coded.
TYPED_TEST(SzxBound, ValuesOfAllBits) {
  using T = TypeParam;
  using Bits = BitsOf<T>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  std::vector<T> x;
  for (int i = 0; i < 4000; ++i) {
    const Bits exponent = static_cast<Bits>(random_bits()) >> (mantissa + 1) << mantissa;
    for (std::size_t j = 0; j < szx::block_values; ++j) {
      const Bits bits = static_cast<Bits>(random_bits());
      const Bits kept =
          (bits & ((Bits{1} << mantissa) - 1)) | (bits >> (8 * sizeof(T) - 1) << (8 * sizeof(T) - 1));
      x.push_back(std::bit_cast<T>(static_cast<Bits>(kept | (i % 2 == 0 ? exponent : bits))));
    }
  }
  for (const double bound : {1e-30, 1e-4, 1.0, 1e15}) checked(x, bound);
}

// A decoded value stays the same when encoded again among any other values: minima and maxima rely on this.
TYPED_TEST(SzxBound, MultiplesStayInAnyBlock) {
  using T = TypeParam;
  constexpr double highest = szx::Limits<T>::max_step;
  for (const double bound : {1e-3, 0.3, 1.0, highest, 1e4 * highest}) {
    const double scale = std::min(bound, highest / 2);  // limits the scale so that all values have an integer
    std::vector<T> x(20 * szx::block_values);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<T>(std::ldexp(scale * uniform(), static_cast<int>(i / szx::block_values)));
    const std::vector<T> once = checked(x, bound);
    for (int round = 0; round < 50; ++round) {
      std::vector<T> other = once;
      for (std::size_t i = 0; i < other.size(); ++i)
        if (random_bits() % 3 == 0) other[i] = static_cast<T>(4 * scale * uniform());
      const std::vector<T> twice = checked(other, bound);
      for (std::size_t i = 0; i < other.size(); ++i)
        if (other[i] == once[i]) {
          ASSERT_EQ(twice[i], once[i]) << i;
        }
    }
  }
}

}  // namespace szx_bound_test
}  // namespace taut::test

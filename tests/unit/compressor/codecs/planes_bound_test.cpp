// Tests of the theorems of docs/error-model.md where their bounds are tight.
//   TEST_STRIDE=1 codecs_test --gtest_filter=*FloatsOfAllSizes   every float there is
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <limits>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/frame/codec.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace planes_bound_test {

using FrameBytes = std::vector<std::byte>;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Codec> planes(double bound) { return find_codec("planes")->make({.bound = bound}); }

template <class T>
FrameBytes encoded(const Codec& codec, const std::vector<T>& x) {
  FrameBytes frame(codec.max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus size = codec.encode({{x.data(), x.size(), dtype_of<T>}}, frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

template <class T>
std::vector<T> decoded(const Codec& codec, const FrameBytes& frame, std::size_t n) {
  std::vector<T> x(n);
  EXPECT_EQ(codec.decode(frame, {{x.data(), n, dtype_of<T>}}), Status::ok);
  return x;
}

template <class T>
FrameBytes added(const Codec& codec, const FrameBytes& a, const FrameBytes& b, std::size_t n,
                 std::uint32_t addends) {
  FrameBytes out(codec.max_bytes(dtype_of<T>, n, addends));
  const ConstBytes both[] = {a, b};
  const SizeOrStatus size = codec.arithmetic()->sum(both, out);
  EXPECT_EQ(size.status, Status::ok);
  out.resize(size.bytes);
  return out;
}

// Checks that every finite value is within the bound and other values are the same; returns the greatest
// error / bound.
template <class T>
double check_round_trip(const Codec& codec, const std::vector<T>& x) {
  const double bound = codec.contract().bound.value;
  const std::vector<T> y = decoded<T>(codec, encoded(codec, x), x.size());
  using Exact = std::conditional_t<sizeof(T) == 4, double, long double>;
  Exact worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) {
      worst = std::max(worst, std::abs(static_cast<Exact>(x[i]) - static_cast<Exact>(y[i])));
    } else if (std::memcmp(&x[i], &y[i], sizeof(T)) != 0) {
      worst = std::numeric_limits<Exact>::infinity();
    }
  }
  EXPECT_LE(worst, bound);
  return static_cast<double>(worst / bound);
}

// Returns values half way between multiples of the step, and their neighbours, just below |q| = 2^14.
std::vector<float> ties(float step, std::size_t n, std::mt19937_64& random) {
  std::vector<float> x(n);
  for (float& v : x) {
    v = static_cast<float>((16383.5 - static_cast<double>(random() % 64)) * static_cast<double>(step));
    for (std::uint64_t k = random() % 5; k > 0; --k) v = std::nextafter(v, random() % 2 == 0 ? 0.0f : 1e38f);
    v = random() % 2 == 0 ? v : -v;
  }
  return x;
}

TEST(PlanesBound, TiesAtTheEndOfTheSmallRange) {
  std::mt19937_64 random(1);
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    const double e =
        std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 180) - 100);
    const auto z = taut::planes::Quantiser<float>::make(e, taut::planes::Predictor::delta);
    worst = std::max(worst, check_round_trip(*planes(e), ties(z.step, 4096, random)));
  }
  std::printf("worst error %.5f of the bound\n", worst);
  EXPECT_GT(worst, 0.993);
  EXPECT_LE(worst, 1 - 0x1p-9);
}

TEST(PlanesBound, FloatsOfAllSizes) {
  const std::uint64_t stride = number_from_environment("TEST_STRIDE", 4099);
  for (const double bound : {1e-38, 1e-20, 3e-4, 1.0, 7e5, 1e36}) {
    const auto codec = planes(bound);
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride) {
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      if (x.size() < (1 << 16) && bits + stride < std::uint64_t{1} << 32) continue;
      check_round_trip(*codec, x);
      x.clear();
    }
    ASSERT_FALSE(HasFailure()) << bound;
  }
}

template <class T>
void check_bounds_of_all_sizes() {
  constexpr int bits[] = {13, 21, 42, 200};  // a chunk of each range: small, large, wide, beyond
  std::mt19937_64 random(2);
  for (double bound = std::numeric_limits<double>::denorm_min(); bound < infinity; bound *= 37.7) {
    std::vector<T> x;
    for (std::size_t i = 0; i < 4 * 4096; ++i) {
      const double most = std::ldexp(bound, bits[i / 4096]);
      x.push_back(static_cast<T>(most * (static_cast<double>(random() >> 11) * 0x1p-52 - 1)));
    }
    check_round_trip(*planes(bound), x);
    ASSERT_FALSE(testing::Test::HasFailure()) << bound;
  }
}

TEST(PlanesBound, BoundsOfAllSizes) {
  check_bounds_of_all_sizes<float>();
  check_bounds_of_all_sizes<double>();
}

// Adds P equal addends, each off by nearly the whole bound to the same side. The sum with its rounding is
// within P bounds while the result is below 2^16 bounds.
TEST(PlanesBound, SumsKeepTheBoundWithTheirRounding) {
  std::mt19937_64 random(3);
  const std::size_t n = 4096;
  for (const double e : {1e-4, 0.01, 3.0}) {
    const auto codec = planes(e);
    const float step = taut::planes::Quantiser<float>::make(e, taut::planes::Predictor::delta).step;
    std::vector<float> x = ties(step, n, random);
    x[0] = 40000 * step;  // sometimes a large chunk
    for (const bool large : {false, true}) {
      if (!large) x[0] = 0;
      FrameBytes sum = encoded(*codec, x);
      for (std::uint32_t P = 2; P <= 4096; P *= 2) {  // small sums leave float arithmetic above 1024
        sum = added<float>(*codec, sum, sum, n, P);
        const std::vector<float> y = decoded<float>(*codec, sum, n);
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_LE(std::abs(static_cast<double>(P) * x[i] - y[i]), P * e) << P << " " << i;
      }
    }
  }
}

// Chunks of the ranks take different forms; every step of the minimum encodes them again.
TEST(PlanesBound, MinimaSurviveAnyMixtureOfForms) {
  std::mt19937_64 random(4);
  const std::size_t n = 4096;
  for (int round = 0; round < 200; ++round) {
    const double e = 0.01 + 0.001 * round;
    const auto codec = planes(e);
    const float step = taut::planes::Quantiser<float>::make(e, taut::planes::Predictor::delta).step;
    const std::vector<float> about = ties(step, n, random);
    std::vector<float> least(n, std::numeric_limits<float>::infinity()), partial = least;
    for (int rank = 0; rank < 6; ++rank) {
      std::vector<float> x = about;
      for (float& v : x) v += step * static_cast<float>(static_cast<int>(random() % 21) - 10) * 0.05f;
      if (random() % 3 == 0) x[7] = -300000 * step;  // large
      if (random() % 3 == 0) x[9] = -1e30f;          // with an exact value
      for (std::size_t i = 0; i < n; ++i) {
        least[i] = std::min(least[i], x[i]);
        partial[i] = std::min(partial[i], x[i]);
      }
      partial = decoded<float>(*codec, encoded(*codec, partial), n);
    }
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LE(std::abs(static_cast<double>(partial[i]) - least[i]), e) << round << " " << i;
  }
}

// The test includes making the codec: ranks under different rounding modes must compute the same step.
TEST(PlanesBound, TheCallersRoundingModeChangesNothing) {
  std::mt19937_64 random(5);
  const Values x = make_values(DType::f32, 5000, Pattern::noisy, 1),
               y = make_values(DType::f64, 5000, Pattern::wild, 2);
  const auto frame_of = [](const Codec& codec, const Values& values) {
    FrameBytes frame(codec.max_bytes(values.type(), values.count()));
    frame.resize(codec.encode(values.slice(), frame).bytes);
    return frame;
  };
  for (int round = 0; round < 20; ++round) {
    const double e = 1e-3 * (1 + static_cast<double>(random() >> 11) * 0x1p-53);
    const auto usual = planes(e);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      const auto other = planes(e);
      const FrameBytes fx = frame_of(*other, x), fy = frame_of(*other, y);
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(fx == frame_of(*usual, x) && fy == frame_of(*usual, y))
          << "mode " << mode << " bound " << e;
    }
  }
}

TEST(PlanesBound, ExactValuesInSums) {
  const auto codec = planes(1e-3);
  const std::size_t n = 1000;
  std::vector<double> a(n, 0.25), b(n, 0.5), c(n, -1);
  a[1] = b[1] = c[1] = 1e20;
  a[2] = infinity;
  a[3] = infinity, b[3] = -infinity;
  b[4] = std::numeric_limits<double>::quiet_NaN();
  a[5] = 1e300, b[5] = -1e300;
  const FrameBytes fa = encoded(*codec, a), fb = encoded(*codec, b), fc = encoded(*codec, c);
  const FrameBytes ab = added<double>(*codec, fa, fb, n, 2), cb = added<double>(*codec, fc, fb, n, 2);
  const std::vector<double> y = decoded<double>(*codec, added<double>(*codec, ab, fc, n, 3), n);
  EXPECT_NEAR(y[0], -0.25, 3e-3);
  EXPECT_EQ(y[1], 3e20);
  EXPECT_EQ(y[2], infinity);
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_NEAR(y[5], -1, 1e-3);  // one quantised addend
  const std::vector<double> other = decoded<double>(*codec, added<double>(*codec, fa, cb, n, 3), n);
  EXPECT_EQ(std::memcmp(y.data(), other.data(), n * sizeof(double)), 0);
}

// Exact values are at every other position, beside 43-bit integers. Each frame fits a layer; the sum, whose
// runs are those of 64-bit records, still fits the capacity for two addends.
TEST(PlanesBound, SumsOfTheLargestFramesFit) {
  const double e = 1e-3, step = taut::planes::Quantiser<double>::make(e, taut::planes::Predictor::delta).step;
  const auto codec = planes(e);
  std::mt19937_64 random(6);
  std::vector<double> a(3 * 4096), b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = i % 2 == 0 || i % 4096 > 4080 ? 0 : infinity;
    b[i] = i % 10 == 0 && i % 4096 < 4000 ? -infinity : std::ldexp(step, static_cast<int>(random() % 42));
  }
  const FrameBytes fa = encoded(*codec, a), fb = encoded(*codec, b);
  EXPECT_GT(fa.size(), a.size() * 8 - 1000);
  decoded<double>(*codec, added<double>(*codec, fa, fb, a.size(), 2), a.size());
}

}  // namespace planes_bound_test
}  // namespace taut::test

// Values that are stored exactly: fill values, NaN, infinities, outliers, raw chunks; alone and in sums.
#include <cstring>
#include <ctime>

#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "support/exact_values.hpp"

namespace taut::test {
namespace planes_exact_test {

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Positions of exact values.
using Mask = std::vector<bool>;
std::vector<Mask> masks() {
  std::vector<Mask> all;
  const auto add = [&](auto marked) {
    Mask mask(count);
    for (std::size_t i = 0; i < count; ++i) mask[i] = marked(i);
    all.push_back(mask);
  };
  for (const std::size_t at :
       std::initializer_list<std::size_t>{0, 1, 63, 64, 4094, 4095, 4096, 8191, 8192, count - 2, count - 1})
    add([=](std::size_t i) { return i == at; });
  add([](std::size_t) { return true; });
  add([](std::size_t i) { return i / 4096 == 1; });
  add([](std::size_t i) { return i >= 8192; });
  add([](std::size_t i) { return i % 4096 == 0 || i % 4096 == 4095; });
  add([](std::size_t i) { return i % 2 == 0; });
  add([](std::size_t i) { return i % 8 == 7; });
  add([](std::size_t i) { return i / 64 % 2 == 1; });
  add([](std::size_t i) { return i / 37 % 3 == 1; });
  add([](std::size_t i) { return i > 100 && i < 4200; });
  return all;
}

template <class T>
std::vector<T> masked(const Mask& mask, T fill) {
  std::vector<T> x = smooth<T>();
  for (std::size_t i = 0; i < count; ++i)
    if (mask[i]) x[i] = fill;
  return x;
}

template <class T>
class PlanesExact : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanesExact, Types);

TYPED_TEST(PlanesExact, FillValuesKeepTheirBitsWhereverTheyStand) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  for (const char* kernels : kernel_names()) {
    for (const char* predictor : {"delta", "none"}) {
      const auto codec = planes(bound, kernels, predictor);
      for (const T fill : {T(1e20), T(-1e34), special_nan<T>(), infinity, -infinity}) {
        for (const Mask& mask : masks()) {
          const std::vector<T> x = masked(mask, fill), y = decoded<T>(*codec, encoded(*codec, x), count);
          for (std::size_t i = 0; i < count; ++i) {
            if (mask[i]) {
              ASSERT_TRUE(same_bits(x[i], y[i])) << kernels << " " << i;
            } else {
              ASSERT_LE(std::abs(double{x[i]} - double{y[i]}), bound) << kernels << " " << i;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(PlanesExact, NegativeZeroStaysZeroAmongFillValues) {
  using T = TypeParam;
  std::vector<T> x(count, T(-0.0));
  x[17] = T(1e20);
  const auto codec = planes(bound);
  const std::vector<T> y = decoded<T>(*codec, encoded(*codec, x), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], x[i]);
}

// ---- Sums

// Returns the sum that the format defines: the sum of all integers times the step, and of all exact values,
// rounded once.
template <class T>
T exact_result(const std::vector<std::vector<T>>& operands, std::size_t i, double step) {
  planes::ExactSum sum;
  double integers = 0;
  std::size_t exact = 0;
  T last = 0;
  for (const std::vector<T>& x : operands) {
    if (travels_exactly(x[i])) {
      sum.add(static_cast<double>(x[i]));
      last = x[i];
      ++exact;
    } else {
      integers += std::nearbyint(static_cast<double>(x[i]) / step);
    }
  }
  if (exact == 0) return static_cast<T>(integers * step);
  if (exact == 1 && integers == 0) return last;
  sum.add_product(integers, step);
  return sum.rounded<T>();
}

double step_of(const Frame& frame) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  return header.step;
}

// Returns operands whose values are integers times the step, so that a reference knows the integers.
template <class T>
std::vector<std::vector<T>> random_operands(const Codec& codec, std::size_t n, bool with_layers) {
  std::vector<std::vector<T>> operands;
  while (operands.size() < n) {
    const auto kind = static_cast<Kind>(random_bits() % kinds);
    if (kind == Kind::layers && !with_layers) continue;
    operands.push_back(decoded<T>(codec, encoded(codec, operand<T>(kind)), count));
  }
  return operands;
}

Frame in_random_groups(const Codec& codec, std::vector<Frame> frames) {
  while (frames.size() > 1) {
    std::shuffle(frames.begin(), frames.end(), random_bits);
    const std::size_t n = 1 + random_bits() % std::min(frames.size(), planes::max_operands);
    const std::vector<Frame> some(frames.end() - static_cast<std::ptrdiff_t>(n), frames.end());
    frames.resize(frames.size() - n);
    frames.push_back(summed(codec, some));
  }
  return frames[0];
}

template <class T>
void check_sums(const char* kernels, const char* predictor, std::size_t n, bool with_layers) {
  SCOPED_TRACE(testing::Message() << kernels << " " << predictor << " " << n << " layers " << with_layers);
  const auto codec = planes(bound, kernels, predictor);
  const auto operands = random_operands<T>(*codec, n, with_layers);
  std::vector<Frame> frames;
  for (const auto& x : operands) frames.push_back(encoded(*codec, x));
  const Frame total = summed(*codec, frames), again = in_random_groups(*codec, frames);
  if (!with_layers) {
    ASSERT_TRUE(total == again);
  }
  const std::vector<T> y = decoded<T>(*codec, total, count), same = decoded<T>(*codec, again, count);
  const double step = step_of(total);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(same_bits(y[i], same[i])) << i;
    ASSERT_TRUE(same_bits(y[i], exact_result(operands, i, step))) << i << ": " << y[i];
  }
}

TYPED_TEST(PlanesExact, SumsAreRoundedOnceAndKnowNoOrder) {
  for (const char* kernels : kernel_names())
    for (const char* predictor : {"delta", "none"})
      for (std::size_t n = 2; n <= planes::max_operands; ++n)
        for (const bool with_layers : {false, true})
          for (int round = 0; round < 3; ++round) check_sums<TypeParam>(kernels, predictor, n, with_layers);
}

TYPED_TEST(PlanesExact, AccumulateIsEncodeThenSum) {
  using T = TypeParam;
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(bound, kernels);
    for (int k = 0; k < kinds * kinds; ++k) {
      const auto a = static_cast<Kind>(k / kinds), b = static_cast<Kind>(k % kinds);
      const std::vector<T> x = operand<T>(a), y = operand<T>(b);
      const Frame fx = encoded(*codec, x);
      Frame room(codec->max_bytes(dtype_of<T>, count, 2));
      const SizeOrStatus size = codec->arithmetic()->accumulate(fx, slice(y), room);
      ASSERT_TRUE(taken(std::move(room), size) == summed(*codec, {fx, encoded(*codec, y)})) << kernels << k;
    }
  }
}

// A bound below every step of the type: all values are exact values, also beside a stored frame.
TYPED_TEST(PlanesExact, AccumulateWithoutAStepIsExact) {
  using T = TypeParam;
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> numbers(1, 2);
  constexpr std::size_t n = 4096 + 77;
  const auto field = [&](unsigned zeros_in_64) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = static_cast<T>(i % 64 < zeros_in_64 ? (i % 2 == 0 ? 0.0 : -0.0) : numbers(random));
    return x;
  };
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(1e-38, kernels);
    for (const unsigned zeros : {0u, 4u, 16u, 40u, 64u}) {
      const std::vector<T> x = field(16), y = field(zeros);
      const Frame fx = encoded(*codec, x);
      Frame room(codec->max_bytes(dtype_of<T>, n, 2));
      const SizeOrStatus size = codec->arithmetic()->accumulate(fx, slice(y), room);
      const Frame total = taken(std::move(room), size);
      ASSERT_TRUE(total == summed(*codec, {fx, encoded(*codec, y)})) << kernels << " " << zeros;
      const std::vector<T> sums = decoded<T>(*codec, total, n);
      for (std::size_t i = 0; i < n; ++i) {
        const T sum = static_cast<T>(static_cast<double>(x[i]) + static_cast<double>(y[i]));
        ASSERT_EQ(sums[i], sum) << kernels << " " << zeros << " " << i;
      }
    }
  }
}

// Exact values from a few to so many that a layer takes fewer bytes, among small and large integers.
TYPED_TEST(PlanesExact, AccumulateIsEncodeThenSumAtAnyDensity) {
  using T = TypeParam;
  std::mt19937_64 random(12);
  constexpr std::size_t n = 2 * 4096 + 77;
  const auto field = [&](unsigned per_mille, double offset) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      const T number = static_cast<T>(offset + std::sin(static_cast<double>(i) / 50));
      x[i] = random() % 1000 >= per_mille ? number : random() % 8 == 0 ? T(1e20) : special_nan<T>();
    }
    return x;
  };
  for (const char* kernels : kernel_names())
    for (const char* predictor : {"delta", "none", "pairs", "second"}) {
      const auto codec = planes(bound, kernels, predictor);
      for (const unsigned per_mille : {1u, 10u, 50u, 100u, 140u, 145u, 150u, 300u, 990u})
        for (const double offset : {0.0, 3e4 * bound, 1e6 * bound}) {
          const std::vector<T> y = field(per_mille, offset);
          for (const unsigned other : {0u, 10u, 140u}) {
            const Frame fx = encoded(*codec, field(other, offset));
            Frame room(codec->max_bytes(dtype_of<T>, n, 2));
            const SizeOrStatus size = codec->arithmetic()->accumulate(fx, slice(y), room);
            ASSERT_TRUE(taken(std::move(room), size) == summed(*codec, {fx, encoded(*codec, y)}))
                << kernels << " " << predictor << " " << per_mille << " " << other << " " << offset;
          }
        }
    }
}

// A record of layers may have integers as well, which are all equal: it has a base and no planes.
TYPED_TEST(PlanesExact, ConstantsBesideLayersAreKept) {
  using T = TypeParam;
  constexpr std::size_t n = 40;
  const std::vector<T> constant(n, T(1));
  std::vector<T> beyond(n);
  for (std::size_t i = 0; i < n; ++i)
    beyond[i] = std::is_same_v<T, double> ? T(1e40 + 1e38 * static_cast<double>(i))
                                          : T(3e4 + 100 * static_cast<double>(i));
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(bound, kernels);
    Frame total = encoded(*codec, constant);
    std::vector<std::vector<T>> operands{constant};
    for (int k = 0; k < 3; ++k) {
      operands.push_back(beyond);
      Frame room(codec->max_bytes(dtype_of<T>, n, 5));
      const SizeOrStatus size = codec->arithmetic()->accumulate(total, slice(beyond), room);
      total = taken(std::move(room), size);
      const std::vector<T> y = decoded<T>(*codec, total, n);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same_bits(y[i], exact_result(operands, i, step_of(total))))
            << kernels << i << ": " << y[i];
    }
  }
}

// Runs overlap in more ways than a decoder has buffers for.
TYPED_TEST(PlanesExact, ManyRunsMayOverlap) {
  using T = TypeParam;
  const auto codec = planes(bound);
  std::vector<std::vector<T>> operands;
  std::vector<Frame> frames;
  for (std::size_t k = 0; k < 80; ++k) {
    std::vector<T> x(500, T(0));
    for (std::size_t i = k; i < 300 + 2 * k; ++i) x[i] = T(1e20);
    operands.push_back(x);
    frames.push_back(encoded(*codec, x));
  }
  const Frame total = in_random_groups(*codec, frames);
  const std::vector<T> y = decoded<T>(*codec, total, 500);
  for (std::size_t i = 0; i < 500; ++i)
    ASSERT_TRUE(same_bits(y[i], exact_result(operands, i, step_of(total))));
}

// Runs overlap so much that a decoder adds them up by their ends.
TYPED_TEST(PlanesExact, HundredsOfLongRunsMayOverlap) {
  using T = TypeParam;
  const auto codec = planes(bound);
  constexpr std::size_t n = 600;
  std::vector<std::vector<T>> operands;
  std::vector<Frame> frames;
  for (std::size_t k = 0; k < 520; ++k) {
    std::vector<T> x = smooth<T>();
    x.resize(n);
    for (std::size_t i = k % 64; i < n - k % 100; ++i) x[i] = k % 7 == 0 ? T(1e20) : x[k % 9] * T(1e9);
    if (k == 500) x[70] = std::numeric_limits<T>::infinity();
    if (k == 510) x[71] = special_nan<T>();
    frames.push_back(encoded(*codec, x));
    operands.push_back(decoded<T>(*codec, frames.back(), n));
  }
  const Frame total = in_random_groups(*codec, frames);
  const std::vector<T> y = decoded<T>(*codec, total, n);
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_TRUE(same_bits(y[i], exact_result(operands, i, step_of(total)))) << i;
}

// Returns a frame of a chunk of float32 values under `runs` runs of 1e20 with different places.
Frame nested_runs(std::size_t runs) {
  Frame frame(frame_header_bytes + 8 + 8 + 4 + runs * planes::run_bytes<float>(false));
  std::byte* to = frame.data() + frame_header_bytes;
  to = store(store(to, std::uint32_t{0}),
             static_cast<std::uint32_t>((frame.size() - frame_header_bytes - 8) / 4));
  to = planes::write_record_header(to, {.flags = planes::has_runs});
  to = store(to, static_cast<std::uint32_t>(runs));
  const std::size_t lengths = 2000;
  for (std::size_t k = 0; k < runs; ++k) {
    const auto start = static_cast<std::uint32_t>(k / lengths),
               length = static_cast<std::uint32_t>(k % lengths);
    to = planes::write_run(to, planes::Run<float>{start << 16 | (2000 + length), 0, 1e20F}, false);
  }
  seal_frame({.codec = 2,
              .count = planes::chunk_values,
              .bound = {Bound::Kind::absolute, bound},
              .step = 0x1p-9,
              .addends = static_cast<std::uint32_t>(runs)},
             frame.data(), frame.size() - frame_header_bytes);
  return frame;
}

// A hostile frame takes no more time than some hundred additions for each of its runs.
TEST(PlanesRuns, OverlapTakesLinearTime) {
  constexpr std::size_t runs = 100000;
  const std::clock_t begin = std::clock();
  const std::vector<float> x = decoded<float>(*planes(bound), nested_runs(runs), planes::chunk_values);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);
  EXPECT_EQ(x[0], static_cast<float>(2000 * double{1e20F}));
  EXPECT_EQ(x[1999], static_cast<float>(double{runs} * double{1e20F}));
  EXPECT_EQ(x[planes::chunk_values - 1], 0.0F);
}

// Adds one exact value to numbers that start at zero: the numbers count unless they vanish beside the exact
// value.
TYPED_TEST(PlanesExact, NumbersUnderARunCount) {
  using T = TypeParam;
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(bound, kernels);
    std::vector<T> x(300, T(1)), y(300, T(0));
    const T big = outlier<T>();
    std::fill(x.begin() + 50, x.begin() + 250, big);
    for (std::size_t i = 150; i < 300; ++i) y[i] = T(static_cast<double>(i) - 140);
    const std::vector<Frame> frames{encoded(*codec, x), encoded(*codec, y)};
    const Frame total = summed(*codec, frames);
    const std::vector<std::vector<T>> operands{decoded<T>(*codec, frames[0], 300),
                                               decoded<T>(*codec, frames[1], 300)};
    const std::vector<T> z = decoded<T>(*codec, total, 300);
    for (std::size_t i = 0; i < 300; ++i)
      ASSERT_TRUE(same_bits(z[i], exact_result(operands, i, step_of(total)))) << kernels << " " << i;
    EXPECT_NE(z[249], big);
  }
}

// Under a run the integers repeat the last number: the record holds only the base and the run.
TYPED_TEST(PlanesExact, RunsLeaveThePlanesSmooth) {
  using T = TypeParam;
  for (const char* kernels : kernel_names()) {
    std::vector<T> x(3000, T(8));
    std::fill(x.begin() + 1000, x.begin() + 2000, T(1e20));
    constexpr std::size_t record = 8 + 4 + (8 + sizeof(T)), index = 2 * 4;
    EXPECT_EQ(encoded(*planes(bound, kernels), x).size(), frame_header_bytes + index + record);
  }
}

// Repeated doubling makes the integers wide.
TYPED_TEST(PlanesExact, SumsOfVeryManyBecomeWide) {
  using T = TypeParam;
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(bound, kernels);
    std::vector<T> x(100);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<double>(i) - 40);
    x[3] = x[4] = T(1e20);
    x[99] = T(-1e20);
    Frame frame = encoded(*codec, x);
    const std::vector<T> once = decoded<T>(*codec, frame, x.size());
    const double step = step_of(frame);
    for (int k = 1; k <= 17; ++k) {
      frame = summed(*codec, {frame, frame});
      const std::vector<T> y = decoded<T>(*codec, frame, x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double integer = travels_exactly(x[i]) ? 0 : std::nearbyint(double{once[i]} / step);
        const T expected =
            travels_exactly(x[i]) ? std::ldexp(x[i], k) : static_cast<T>(std::ldexp(integer, k) * step);
        ASSERT_EQ(y[i], expected) << kernels << " " << k << " " << i;
      }
    }
  }
}

}  // namespace planes_exact_test
}  // namespace taut::test

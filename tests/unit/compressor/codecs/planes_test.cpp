// Tests specific to planes: every kernel set writes the same bytes, also where chunks take the general path.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "compressor/frame/codec.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace planes_test {

using Frame = std::vector<std::byte>;
std::mt19937_64 random_bits(20);
double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }

enum class Data { smooth, noise, constant, any_bits, special, fill, outliers, wide, count };

template <class T>
T value_at(Data data, std::size_t i) {
  switch (data) {
    case Data::smooth: return static_cast<T>(10 * std::sin(0.01 * static_cast<double>(i)));
    case Data::constant: return static_cast<T>(5.0);
    case Data::special:
      return static_cast<T>(i % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : uniform());
    case Data::fill: return i / 50 % 3 == 0 ? static_cast<T>(1e20) : static_cast<T>(280 + uniform());
    case Data::outliers: return static_cast<T>(i % 500 == 0 ? 1e9 * uniform() : uniform());
    case Data::wide: return static_cast<T>(1e6 * uniform());
    case Data::any_bits: {
      T x;
      const std::uint64_t bits = random_bits();
      std::memcpy(&x, &bits, sizeof x);
      return x;
    }
    default: return static_cast<T>(uniform());
  }
}

template <class T>
std::vector<T> values(Data data, std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = value_at<T>(data, i);
  return x;
}

std::unique_ptr<Codec> codec(Bound bound, const char* predictor, const char* kernels) {
  return find_codec("planes")->make({.bound = bound, .predictor = predictor, .kernels = kernels});
}

template <class T>
Frame encode(const Codec& codec, const std::vector<T>& x) {
  Frame frame(codec.max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus s = codec.encode({{x.data(), x.size(), dtype_of<T>}}, frame);
  EXPECT_EQ(s.status, Status::ok);
  frame.resize(s.bytes);
  return frame;
}

Frame sum(const Codec& codec, DType type, std::size_t n, const Frame& a, const Frame& b) {
  const ConstBytes both[] = {a, b};
  Frame out(codec.max_bytes(type, n, 2));
  const SizeOrStatus s = codec.arithmetic()->sum(both, out);
  EXPECT_EQ(s.status, Status::ok);
  out.resize(s.bytes);
  return out;
}

template <class T>
void expect_same_bytes(Data data, std::size_t n, Bound bound, const char* predictor, const char* kernels) {
  SCOPED_TRACE(testing::Message() << kernels << " data " << static_cast<int>(data) << " n " << n << " bound "
                                  << bound.value << " predictor " << predictor << " "
                                  << name_of(dtype_of<T>));
  const auto reference = codec(bound, predictor, "scalar"), tested = codec(bound, predictor, kernels);
  const std::vector<T> x = values<T>(data, n);
  const Frame frame = encode(*reference, x);
  EXPECT_EQ(encode(*tested, x), frame);
  EXPECT_EQ(sum(*tested, dtype_of<T>, n, frame, frame), sum(*reference, dtype_of<T>, n, frame, frame));

  std::vector<T> a(n), b(n);
  ASSERT_EQ(reference->decode(frame, {{a.data(), n, dtype_of<T>}}), Status::ok);
  ASSERT_EQ(tested->decode(frame, {{b.data(), n, dtype_of<T>}}), Status::ok);
  EXPECT_TRUE(n == 0 || std::memcmp(a.data(), b.data(), n * sizeof(T)) == 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double want = static_cast<double>(x[i]), got = static_cast<double>(b[i]);
    if (!std::isfinite(want)) continue;
    ASSERT_LE(std::abs(static_cast<long double>(want) - static_cast<long double>(got)), bound.value)
        << "value " << i;
  }
  ASSERT_EQ(reference->reduce(frame, {{a.data(), n, dtype_of<T>}}, Reduction::sum), Status::ok);
  ASSERT_EQ(tested->reduce(frame, {{b.data(), n, dtype_of<T>}}, Reduction::sum), Status::ok);
  EXPECT_TRUE(n == 0 || std::memcmp(a.data(), b.data(), n * sizeof(T)) == 0);
}

TEST(PlanesKernels, AllSetsWriteTheSameBytes) {
  for (const planes::KernelSet* set : planes::kernel_sets()) {
    if (!set->supported()) continue;
    for (int data = 0; data < static_cast<int>(Data::count); ++data) {
      for (const std::size_t n : {0u, 1u, 2u, 7u, 8u, 63u, 64u, 65u, 255u, 4095u, 4096u, 4097u, 9001u}) {
        for (const double bound : {1e-8, 1e-5, 1e-3, 0.5}) {
          for (const char* predictor : {"delta", "pairs", "none", "second", "delta+64", "pairs+65+300",
                                        "second+100", "none+4096+8193", "second+64+64"}) {
            if (!test::is_sampled()) continue;
            const Data kind{data};
            expect_same_bytes<float>(kind, n, bound, predictor, set->name);
            expect_same_bytes<double>(kind, n, bound, predictor, set->name);
            expect_same_bytes<f16>(kind, n, bound, predictor, set->name);
            expect_same_bytes<bf16>(kind, n, bound, predictor, set->name);
            if (n % 64 != 1) continue;
            expect_same_bytes<float>(kind, n, {Bound::Kind::snap, bound}, predictor, set->name);
            expect_same_bytes<double>(kind, n, {Bound::Kind::snap, bound}, predictor, set->name);
          }
        }
      }
    }
  }
}

// Returns two interleaved series: each is smooth, but neighbouring values are unrelated.
std::vector<float> interleaved(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>((i % 2 == 0 ? 100 : -100) + std::sin(0.001 * static_cast<double>(i)));
  return x;
}

TEST(PlanesPredictor, AutoTakesTheOneThatFits) {
  const auto smooth = values<float>(Data::smooth, 100000), mixed = interleaved(100000);
  auto rough = smooth;
  for (float& x : rough) x += static_cast<float>(0.1 * uniform());
  const auto bytes = [](const std::vector<float>& x, const char* predictor) {
    return encode(*codec(1e-3, predictor, ""), x).size();
  };
  EXPECT_EQ(bytes(smooth, "auto"), bytes(smooth, "second"));
  EXPECT_EQ(bytes(rough, "auto"), bytes(rough, "delta"));
  EXPECT_EQ(bytes(mixed, "auto"), bytes(mixed, "pairs"));
  EXPECT_LT(3 * bytes(mixed, "auto"), bytes(mixed, "delta"));
}

TEST(PlanesPredictor, ComplexNumbersAreTwoSeries) {
  for (const std::size_t n : {1000u, 70000u}) {  // too few for a sample, and enough
    const std::vector<float> x = interleaved(n);
    const auto bytes = [&](const char* predictor, ConstSlice values) {
      const auto planes = codec(1e-3, predictor, "");
      Frame frame(planes->max_bytes(values.type, values.count));
      return planes->encode(values, frame).bytes;
    };
    EXPECT_EQ(bytes("auto", {{x.data(), n / 2, DType::c64}}), bytes("pairs", {{x.data(), n, DType::f32}}));
  }
}

TEST(PlanesPredictor, EveryCodecReadsFramesOfAllPredictors) {
  const auto x = interleaved(50000);
  for (const char* predictor : {"delta", "pairs", "none", "second", "delta+500"}) {
    const Frame frame = encode(*codec(1e-3, predictor, ""), x);
    std::vector<float> y(x.size());
    for (const char* reader : {"auto", "delta", "none", "second+64"}) {
      ASSERT_EQ(codec(1e-3, reader, "")->decode(frame, {y.data(), y.size(), DType::f32}), Status::ok);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), 1e-3f) << predictor << i;
    }
  }
}

TEST(PlanesKernels, UnknownSetsAreRefused) {
  EXPECT_EQ(choose_kernels(planes::kernel_sets(), "abacus"), nullptr);
  EXPECT_THROW(codec(1e-3, "delta", "abacus"), Error);
}

TEST(ExactSum, DoesNotDependOnOrderOrSize) {
  planes::ExactSum a, b;
  for (const double x : {1e300, 1.0, -1e300, 1e-30}) a.add(x);
  for (const double x : {1e-30, -1e300, 1e300, 1.0}) b.add(x);
  EXPECT_EQ(a.rounded<double>(), 1.0);
  EXPECT_EQ(b.rounded<double>(), 1.0);
  EXPECT_EQ(a.rounded<float>(), 1.0f);
}

TEST(ExactSum, RoundsOnceToFloat) {
  planes::ExactSum sum;  // half way between two floats, and a little more
  sum.add(1.0);
  sum.add(0x1p-24);
  sum.add(0x1p-80);
  EXPECT_EQ(sum.rounded<float>(), 1.0f + 0x1p-23f);
}

}  // namespace planes_test
}  // namespace taut

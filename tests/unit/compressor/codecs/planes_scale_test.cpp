// Frames times a number, and the statistics of frames.
#include <gtest/gtest.h>

#include <algorithm>

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_statistics.hpp"
#include "support/frames.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace planes_scale_test {

struct Case {
  DType type;
  double bound;
  const char* predictor;
  Pattern pattern;
  std::size_t n;
};

// Every type and form of chunks: small, large and wide integers, runs, layers, stored frames, lags.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64})
    for (const double bound : {1e-1, 1e-5, 1e-10, 1e-305})
      for (const Pattern pattern : {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::wild})
        for (const std::size_t n : {0u, 1u, 70u, 4096u, 9001u}) {
          constexpr const char* predictors[] = {"delta", "none", "second", "pairs", "delta+100"};
          const char* predictor = predictors[all.size() % std::size(predictors)];
          all.push_back({type, bound, n > 1000 ? predictor : "delta", pattern, n});
        }
  return all;
}

std::unique_ptr<Codec> codec_of(const Case& c, const char* kernels = "") {
  return find_codec("planes")->make(
      {.bound = c.bound, .checksum = c.n == 70, .predictor = c.predictor, .kernels = kernels});
}

Frame frame_of(const Codec& codec, const Values& x) {
  Frame frame(codec.max_bytes(x.type(), x.count()));
  const SizeOrStatus size = codec.encode(x.slice(), frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

Frame scaled(const Codec& codec, DType type, std::size_t n, std::uint32_t addends, const Frame& frame,
             double factor) {
  Frame out(codec.max_bytes(type, n, addends));
  const SizeOrStatus size = FrameScaling::of(codec)->scale(frame, factor, out);
  EXPECT_EQ(size.status, Status::ok);
  out.resize(size.bytes);
  return out;
}

Values decoded(const Codec& codec, DType type, std::size_t n, const Frame& frame) {
  Values values(type, n);
  EXPECT_EQ(codec.decode(frame, values.slice()), Status::ok);
  return values;
}

Frame total_of(const Codec& codec, DType type, std::size_t n, const Frame& a, const Frame& b) {
  const ConstBytes both[] = {a, b};
  Frame out(codec.max_bytes(type, n, 2));
  const SizeOrStatus size = codec.arithmetic()->sum(both, out);
  EXPECT_EQ(size.status, Status::ok);
  out.resize(size.bytes);
  return out;
}

bool is_half_type(DType type) { return type == DType::f16 || type == DType::bf16; }
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Returns the product as a value of the type, as it is stored.
double product(DType type, double x, double factor) {
  Values value(component_of(type), 1);
  value.set(0, x * factor);
  return value.at(0);
}

// Returns true if a factor keeps the frame's step in the range of its type.
bool serves(const Case& c, double factor) {
  if (is_half_type(c.type)) return c.type == DType::bf16 ? true : factor == -1;
  return true;
}

TEST(PlanesScale, PowersOfTwoAreExactAndTheBoundFollows) {
  for (const Case& c : cases())
    for (const double factor : {-1.0, 0.25, -8.0}) {
      if (!serves(c, factor)) continue;
      SCOPED_TRACE(testing::Message() << name_of(c.type) << " " << c.bound << " " << c.predictor << " "
                                      << static_cast<int>(c.pattern) << " " << c.n << " x " << factor);
      const auto codec = codec_of(c);
      const Values x = make_values(c.type, c.n, c.pattern, 1);
      const Frame frame = frame_of(*codec, x), result = scaled(*codec, c.type, c.n, 1, frame, factor);
      const Values before = decoded(*codec, c.type, c.n, frame), after = decoded(*codec, c.type, c.n, result);
      for (std::size_t i = 0; i < x.numbers(); ++i) {
        ASSERT_TRUE(same(after.at(i), product(c.type, before.at(i), factor))) << i << " " << before.at(i);
      }
      FrameHeader header;
      ASSERT_EQ(read_header(result, header), Status::ok);
      EXPECT_EQ(header.bound, Bound(Bound::Kind::absolute, c.bound * std::abs(factor)));
      EXPECT_EQ(header.addends, 1u);
    }
}

TEST(PlanesScale, AnyFactorKeepsTheBound) {
  for (const Case& c : cases()) {
    if (is_half_type(c.type)) continue;
    for (const double factor : {3.7, -1e-3}) {
      SCOPED_TRACE(testing::Message() << name_of(c.type) << " " << c.bound << " " << c.predictor << " "
                                      << static_cast<int>(c.pattern) << " " << c.n << " x " << factor);
      const auto codec = codec_of(c);
      const Values x = make_values(c.type, c.n, c.pattern, 1);
      const Frame result = scaled(*codec, c.type, c.n, 1, frame_of(*codec, x), factor);
      const Values after = decoded(*codec, c.type, c.n, result);
      for (std::size_t i = 0; i < x.numbers(); ++i) {
        const double exact = x.at(i) * factor;
        ASSERT_LE(std::abs(after.at(i) - exact), std::abs(factor) * c.bound + 3 * spacing(c.type, exact))
            << i;
      }
    }
  }
}

TEST(PlanesScale, SumsOfScaledFramesAreScaledSums) {
  for (const Case& c : cases())
    for (const double factor : {-1.0, -0.5}) {
      if (!serves(c, factor) || c.pattern == Pattern::wild) continue;
      SCOPED_TRACE(testing::Message()
                   << name_of(c.type) << " " << c.bound << " " << c.predictor << " " << c.n);
      const auto codec = codec_of(c);
      const Frame a = frame_of(*codec, make_values(c.type, c.n, c.pattern, 1)),
                  b = frame_of(*codec, make_values(c.type, c.n, Pattern::noisy, 2));
      const Frame sum = scaled(*codec, c.type, c.n, 2, total_of(*codec, c.type, c.n, a, b), factor);
      const Frame parts = total_of(*codec, c.type, c.n, scaled(*codec, c.type, c.n, 1, a, factor),
                                   scaled(*codec, c.type, c.n, 1, b, factor));
      const Values x = decoded(*codec, c.type, c.n, sum), y = decoded(*codec, c.type, c.n, parts);
      for (std::size_t i = 0; i < x.numbers(); ++i) ASSERT_TRUE(same(x.at(i), y.at(i))) << i;
    }
}

TEST(PlanesScale, KernelSetsAgree) {
  for (const Case& c : cases()) {
    if (c.n != 9001) continue;
    const auto reference = codec_of(c, "scalar");
    const Frame frame = frame_of(*reference, make_values(c.type, c.n, c.pattern, 3));
    const Frame expected = scaled(*reference, c.type, c.n, 1, frame, -1);
    for (const planes::KernelSet* set : planes::kernel_sets())
      if (set->supported()) {
        ASSERT_EQ(scaled(*codec_of(c, set->name), c.type, c.n, 1, frame, -1), expected) << set->name;
      }
  }
}

TEST(PlanesScale, FactorsWithoutAFrameAreRefused) {
  const auto refused = [](DType type, double bound, Bound::Kind kind, double factor) {
    const auto codec = find_codec("planes")->make({.bound = {kind, bound}});
    const Frame frame = frame_of(*codec, make_values(type, 100, Pattern::smooth, 1));
    Frame out(codec->max_bytes(type, 100));
    return FrameScaling::of(*codec)->scale(frame, factor, out).status == Status::invalid_argument;
  };
  constexpr auto absolute = Bound::Kind::absolute;
  EXPECT_TRUE(refused(DType::f16, 1e-2, absolute, 3));
  EXPECT_TRUE(refused(DType::bf16, 1e-2, absolute, -0.1));
  EXPECT_FALSE(refused(DType::bf16, 1e-2, absolute, -0.5));
  EXPECT_TRUE(refused(DType::f64, 1e-2, Bound::Kind::snap, 3));
  EXPECT_FALSE(refused(DType::f64, 1e-2, Bound::Kind::snap, 4));
  EXPECT_TRUE(refused(DType::f32, 1e-2, absolute, 0x1p120));
  EXPECT_TRUE(refused(DType::f32, 1e-2, absolute, 0x1p-120));
  EXPECT_TRUE(refused(DType::f64, 1e-2, absolute, 1e308));
}

TEST(PlanesScale, StatisticsAreThoseOfTheDecodedValues) {
  for (const Case& c : cases()) {
    if (c.type == DType::c64) continue;
    const auto codec = codec_of(c);
    Values x = make_values(c.type, c.n, c.pattern, 5);
    for (std::size_t i = 0; i < c.n; i += 71) x.set(i, std::numeric_limits<double>::quiet_NaN());
    const Frame frame = frame_of(*codec, x);
    ValueStatistics statistics;
    ASSERT_EQ(FrameScaling::of(*codec)->summarize(frame, statistics), Status::ok);
    const Values y = decoded(*codec, c.type, c.n, frame);
    std::uint64_t numbers = 0;
    long double sum = 0, magnitude = 0;
    double least = INFINITY, greatest = -INFINITY;
    for (std::size_t i = 0; i < c.n; ++i) {
      if (std::isnan(y.at(i))) continue;
      ++numbers;
      sum += y.at(i);
      magnitude += std::abs(y.at(i));
      least = std::min(least, y.at(i));
      greatest = std::max(greatest, y.at(i));
    }
    ASSERT_EQ(statistics.count(), numbers);
    if (numbers == 0) {
      ASSERT_TRUE(std::isnan(statistics.mean()) && std::isnan(statistics.least()));
      continue;
    }
    ASSERT_EQ(statistics.least(), least);
    ASSERT_EQ(statistics.greatest(), greatest);
    ASSERT_NEAR(statistics.mean() * static_cast<double>(numbers), static_cast<double>(sum),
                static_cast<double>(magnitude) * 1e-12);
  }
}

}  // namespace planes_scale_test
}  // namespace taut::test

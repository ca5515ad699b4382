// Frames with integers predicted across chunks: they decode to the same values as frames without such
// prediction, alone and in sums.
#include <cstring>

#include "compressor/codecs/planes/prediction.hpp"
#include "compressor/frame/sample.hpp"
#include "support/exact_values.hpp"

namespace taut::test {
namespace planes_lags_test {

std::unique_ptr<Codec> lagged(const char* predictor, double e = bound, Dims dims = {}) {
  return find_codec("planes")->make({.bound = e, .predictor = predictor, .dims = dims});
}

unsigned lags_in(const Frame& frame) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  return header.parameters[1];
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Returns a field with rows of `row` values: rough along a row, smooth from one row to the next.
template <class T>
std::vector<T> waves(std::size_t n, std::size_t row, double height = 5) {
  const double phase = 3 * uniform();
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double down = static_cast<double>(i / row), along = static_cast<double>(i % row);
    x[i] = static_cast<T>(height * std::sin(phase + 0.004 * down) * std::cos(1.7 * along * along));
  }
  return x;
}

constexpr const char* predictors[] = {"delta+64",     "none+4097",       "second+500",      "pairs+64+128",
                                      "delta+70+500", "none+8192+20000", "second+1000+1064"};

template <class T>
class PlanesLags : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanesLags, Types);

TYPED_TEST(PlanesLags, ValuesAreThoseWithoutLags) {
  using T = TypeParam;
  for (const double e : {1e-3, 1e-5}) {  // small and large integers
    for (const std::size_t n : {0u, 1u, 64u, 65u, 501u, 4096u, 4160u, 8191u, 30001u, 200000u}) {
      const std::vector<T> x = waves<T>(n, 500);
      const std::vector<T> expected = decoded<T>(*planes(e), encoded(*planes(e), x), n);
      for (const char* predictor : predictors) {
        const auto codec = lagged(predictor, e);
        const Frame frame = encoded(*codec, x);
        ASSERT_TRUE(same(decoded<T>(*codec, frame, n), expected)) << predictor << " " << n;
        ASSERT_EQ(lags_in(frame) > 0, n > NamedPredictor(predictor).lags.lag[0]) << predictor << n;
        std::vector<T> sum(n, T(1)), other(n, T(1));
        codec->reduce(frame, slice(sum), Reduction::sum);
        for (std::size_t i = 0; i < n; ++i) other[i] += expected[i];
        ASSERT_TRUE(same(sum, other)) << predictor << " " << n;
      }
    }
  }
}

TYPED_TEST(PlanesLags, RowsThatAreAlikeTakeLittleRoom) {
  using T = TypeParam;
  const std::vector<T> x = waves<T>(100000, 500);
  const std::size_t alone = encoded(*planes(bound), x).size();
  EXPECT_LT(2 * encoded(*lagged("none+500"), x).size(), alone);
  EXPECT_LT(3 * encoded(*lagged("none+500+1000"), x).size(), alone);
}

TYPED_TEST(PlanesLags, ExactValuesTravelAsRuns) {
  using T = TypeParam;
  const auto codec = lagged("delta+500");
  std::vector<T> x = waves<T>(20000, 500);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % 500 < 60 && i > 700) x[i] = i > 9000 ? special_nan<T>() : T(1e20);
  const Frame frame = encoded(*codec, x);
  EXPECT_EQ(lags_in(frame), 1u);
  EXPECT_TRUE(same(decoded<T>(*codec, frame, x.size()),
                   decoded<T>(*planes(bound), encoded(*planes(bound), x), x.size())));
}

TYPED_TEST(PlanesLags, LayersAndWideIntegersDoWithout) {
  using T = TypeParam;
  const auto codec = lagged("delta+500");
  for (const Kind kind : {Kind::layers, Kind::fill, Kind::outliers, Kind::nan}) {
    std::vector<T> x = operand<T>(kind);
    const Frame frame = encoded(*codec, x);
    EXPECT_EQ(frame == encoded(*planes(bound), x), kind == Kind::layers);
    EXPECT_TRUE(same(decoded<T>(*codec, frame, count),
                     decoded<T>(*planes(bound), encoded(*planes(bound), x), count)));
  }
  const std::vector<double> wide = waves<double>(9000, 500, 1e8);
  EXPECT_TRUE(encoded(*codec, wide) == encoded(*planes(bound), wide));
}

// ---- Sums

template <class T>
Frame added(const Codec& codec, const Frame& frame, const std::vector<T>& x) {
  Frame room(codec.max_bytes(dtype_of<T>, x.size(), addends_of(frame) + 1));
  const SizeOrStatus size = codec.arithmetic()->accumulate(frame, slice(x), room);
  return taken(std::move(room), size);
}

TYPED_TEST(PlanesLags, SumsAreThoseWithoutLagsHoweverTheyMeet) {
  using T = TypeParam;
  const auto plain = planes(bound);
  constexpr const char* mixture[] = {"delta+64",   "delta+64",     "delta+64",
                                     "second+500", "none+64+4100", "delta"};
  for (int round = 0; round < 60; ++round) {
    const bool alike = round % 2 == 0, with_layers = round % 3 == 0;
    std::vector<Frame> frames, reference;
    std::vector<std::vector<T>> more;
    for (std::size_t k = 0; k < 2 + random_bits() % 7; ++k) {
      const auto kind = static_cast<Kind>(random_bits() % kinds);
      const std::vector<T> x = operand<T>(kind == Kind::layers && !with_layers ? Kind::smooth : kind);
      frames.push_back(encoded(*lagged(alike ? "second+500" : mixture[random_bits() % 6]), x));
      reference.push_back(encoded(*plain, x));
    }
    const std::vector<T> x = operand<T>(static_cast<Kind>(random_bits() % kinds));
    const std::vector<T> expected = decoded<T>(*plain, added(*plain, summed(*plain, reference), x), count);
    while (frames.size() > 1) {
      std::shuffle(frames.begin(), frames.end(), random_bits);
      const std::size_t n = 1 + random_bits() % std::min(frames.size(), planes::max_operands);
      const std::vector<Frame> some(frames.end() - static_cast<std::ptrdiff_t>(n), frames.end());
      frames.resize(frames.size() - n);
      frames.push_back(summed(*plain, some));
    }
    ASSERT_TRUE(same(decoded<T>(*plain, added(*plain, frames[0], x), count), expected)) << round;
  }
}

TYPED_TEST(PlanesLags, SumsOfEqualLagsKeepThem) {
  using T = TypeParam;
  const auto codec = lagged("delta+64+500");
  const std::vector<T> x = waves<T>(9000, 500), y = waves<T>(9000, 500);
  const Frame fx = encoded(*codec, x), fy = encoded(*codec, y), sum = summed(*codec, {fx, fy});
  EXPECT_EQ(lags_in(sum), 2u);
  EXPECT_TRUE(added(*codec, fx, y) == sum);
  EXPECT_EQ(lags_in(summed(*codec, {fx, encoded(*planes(bound), y)})), 0u);
  EXPECT_EQ(lags_in(summed(*codec, {fx, encoded(*lagged("delta+64"), y)})), 0u);
}

// Adds frames until the integers might exceed 30 bits.
TYPED_TEST(PlanesLags, SumsOfVeryManyDoWithout) {
  using T = TypeParam;
  const auto codec = lagged("second+500");
  for (const double scale : {1.0, 500.0}) {
    std::vector<T> x = waves<T>(5000, 500, 5 * scale);
    x[100] = T(1e20);
    Frame frame = encoded(*codec, x), plain = encoded(*planes(bound), x);
    for (int k = 1; k <= 12; ++k) {
      frame = summed(*codec, {frame, frame});
      plain = summed(*codec, {plain, plain});
      ASSERT_EQ(lags_in(frame), k < 8 ? 1u : 0u);
      ASSERT_TRUE(same(decoded<T>(*codec, frame, x.size()), decoded<T>(*codec, plain, x.size()))) << k;
    }
    Frame almost = encoded(*codec, x);
    for (int k = 1; k < 255; ++k) almost = added(*codec, almost, x);
    ASSERT_EQ(lags_in(almost), 1u);
    ASSERT_EQ(lags_in(added(*codec, almost, x)), 0u);
  }
}

// ---- Damage

// Returns the frame with other lags; its header says that there are `n`.
Frame with_lags(const Frame& frame, std::uint8_t n, const std::vector<std::uint32_t>& lags) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  Frame other(frame.begin(), frame.begin() + frame_header_bytes);
  for (const std::uint32_t lag : lags)
    for (unsigned k = 0; k < 4; ++k) other.push_back(std::byte(lag >> (8 * k)));
  other.insert(other.end(), frame.begin() + frame_header_bytes + 4 * header.parameters[1], frame.end());
  header.parameters[1] = n;
  header.payload_bytes = other.size() - frame_header_bytes;
  write_header(header, other);
  return other;
}

TYPED_TEST(PlanesLags, LagsThatCannotBeAreRejected) {
  using T = TypeParam;
  const auto codec = lagged("delta+500+1000");
  std::vector<T> x = waves<T>(9000, 500);
  const Frame good = encoded(*codec, x);
  const auto status = [&](const Frame& frame) { return codec->decode(frame, slice(x)); };
  EXPECT_EQ(status(with_lags(good, 2, {500, 1000})), Status::ok);
  EXPECT_EQ(status(with_lags(good, 2, {64, 64})), Status::ok);
  for (const auto& lags : std::vector<std::vector<std::uint32_t>>{
           {0, 1000}, {63, 1000}, {500, 499}, {500, 9000}, {500, 1u << 31}, {~0u, ~0u}})
    EXPECT_EQ(status(with_lags(good, 2, lags)), Status::corrupt_frame) << lags[0] << " " << lags[1];
  for (const int n : {0, 1, 3, 255})
    EXPECT_EQ(status(with_lags(good, static_cast<std::uint8_t>(n), {500, 1000})), Status::corrupt_frame);
  Frame cut(good.begin(), good.begin() + frame_header_bytes + 6);
  FrameHeader header;
  EXPECT_EQ(read_header(good, header), Status::ok);
  header.payload_bytes = 6;
  write_header(header, cut);
  EXPECT_EQ(status(cut), Status::corrupt_frame);
}

TYPED_TEST(PlanesLags, LayersAndWideRecordsAreRejected) {
  using T = TypeParam;
  std::vector<T> x = operand<T>(Kind::layers);
  const auto codec = planes(bound);
  EXPECT_EQ(codec->decode(with_lags(encoded(*codec, x), 1, {64}), slice(x)), Status::corrupt_frame);
  std::vector<double> wide = waves<double>(9000, 500, 1e8);
  EXPECT_EQ(codec->decode(with_lags(encoded(*codec, wide), 1, {64}), slice(wide)), Status::corrupt_frame);
  std::vector<T> far(5000);
  std::ranges::generate(far, outlier<T>);
  EXPECT_EQ(codec->decode(with_lags(encoded(*planes(1e-30), far), 1, {64}), slice(far)),
            Status::corrupt_frame);
}

TYPED_TEST(PlanesLags, DamageDoesNoHarm) {
  using T = TypeParam;
  for (const char* predictor : {"delta+64", "second+70+4500"}) {
    const auto codec = lagged(predictor);
    const Frame good =
        summed(*codec, {encoded(*codec, operand<T>(Kind::smooth)), encoded(*codec, operand<T>(Kind::nan))});
    std::vector<T> x(count);
    Frame out(codec->max_bytes(dtype_of<T>, count, 4));
    for (int round = 0; round < 300; ++round) {
      Frame bad = good;
      for (int k = 0; k < 1 + round % 8; ++k)
        bad[frame_header_bytes + random_bits() % (round % 2 == 0 ? 8 : bad.size() - frame_header_bytes)] =
            std::byte(random_bits());
      codec->decode(bad, slice(x));
      const ConstBytes both[] = {good, bad};
      codec->arithmetic()->sum(both, out);
      codec->arithmetic()->accumulate(bad, slice(x), out);
    }
  }
}

// ---- The choice

TEST(PlanesPrediction, NamesAreReadAndWritten) {
  const Dims dims{{12, 15, 40, 90}, 4};
  const auto lags_of = [](const char* name, const Dims& extents) {
    const planes::Prediction prediction = planes::prediction_of(name, extents);
    EXPECT_EQ(prediction.inner, planes::Predictor::delta);
    return name_of(prediction.lags);
  };
  for (const char* name : {"delta", "pairs", "none", "second", "delta+64", "second+192+18432"})
    EXPECT_EQ(text_of(NamedPredictor(name)), name);
  EXPECT_EQ(text_of(NamedPredictor("delta+1000+500")), "delta+500+1000");
  EXPECT_EQ(lags_of("lorenzo2", dims), "+90");
  EXPECT_EQ(lags_of("lorenzo3", dims), "+90+3600");
  EXPECT_EQ(lags_of("lorenzo2", {{100, 20}, 2}), "+80");
  for (const char* name : {"", "fourth", "+64", "delta+", "delta+63", "delta+64+", "delta+64+65+66",
                           "delta+1e3", "delta+1073741824", "lorenzo2", "lorenzo3", "lorenzo"})
    EXPECT_THROW(planes::prediction_of(name, {}), Error) << name;
  EXPECT_THROW(planes::prediction_of("lorenzo3", {{100, 200}, 2}), Error);
}

TEST(PlanesPrediction, CandidatesAreFewAndReadable) {
  for (const Dims& dims :
       {Dims{}, Dims{{7}, 1}, Dims{{100, 200}, 2}, Dims{{4, 4, 4}, 3}, Dims{{12, 15, 40, 90}, 4},
        Dims{{1, 1, 1, 1}, 4}, Dims{{0, 0, 0}, 3}, Dims{{~0u, ~0u, ~0u, ~0u}, 4}}) {
    const auto predictors = find_codec("planes")->automatic(dims);
    EXPECT_LE(predictors.size(), max_predictors);
    EXPECT_EQ(predictors[0], "delta");
    for (const NamedPredictor& one : predictors) EXPECT_EQ(NamedPredictor(text_of(one)), one);
  }
}

TEST(PlanesPrediction, AutoTakesLagsWhereTheyPay) {
  const auto names_the_same = [](const std::vector<float>& x, Dims dims, const char* predictor) {
    return encoded(*lagged("auto", bound, dims), x) == encoded(*lagged(predictor, bound, dims), x);
  };
  const Dims dims{{400, 500}, 2};
  EXPECT_TRUE(names_the_same(waves<float>(200000, 500), dims, "none+500"));
  std::vector<float> x(200000);
  for (float& v : x) v = static_cast<float>(uniform());
  EXPECT_TRUE(names_the_same(x, dims, "none"));
  for (std::size_t i = 1; i < x.size(); ++i) x[i] = x[i - 1] + x[i] / 50;
  EXPECT_TRUE(names_the_same(x, dims, "delta"));
}

// A short array, such as a halo, gets lags as a long one does; the shortest ones are not sampled.
TEST(PlanesPrediction, AutoSamplesShortArraysToo) {
  for (const std::size_t rows : {16u, 17u, 48u, 130u}) {
    const std::vector<float> x = waves<float>(rows * 500, 500);
    const Dims dims{{static_cast<std::uint32_t>(rows), 500}, 2};
    EXPECT_EQ(lags_in(encoded(*lagged("auto", bound, dims), x)), x.size() >= min_values_to_sample ? 1u : 0u)
        << rows;
  }
}

TEST(PlanesPrediction, SamplesSeeWhatLagsGain) {
  const std::vector<float> x = waves<float>(200000, 500);
  std::vector<std::byte> scratch(100000);
  const double plain = planes(bound)->sample(slice(x), scratch).ratio(),
               with = lagged("none+500")->sample(slice(x), scratch).ratio();
  EXPECT_GT(with, 2 * plain);
}

}  // namespace planes_lags_test
}  // namespace taut::test

// The zfp codec: what plain zfp does not promise, fields of several dimensions, fixed rates, frames from
// elsewhere.
#include <zfp.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "codecs/zfp/frame_reader.hpp"
#include "support/frames.hpp"

namespace taut::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Codec> zfp_codec(Bound bound, Dims dims = {}) {
  return find_codec("zfp")->make({.bound = bound, .dims = dims});
}
Bound rate(double bits) { return {Bound::Kind::rate, bits}; }

template <class T>
double greatest_error(const std::vector<T>& x, const std::vector<T>& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return worst;
}

template <class T>
std::vector<T> there_and_back(const Codec& codec, const std::vector<T>& x) {
  return decoded<T>(codec, encoded(codec, x), x.size());
}

// What zfp alone makes of one-dimensional values under a tolerance.
template <class T>
std::vector<T> by_plain_zfp(std::vector<T> x, double tolerance) {
  zfp_field* const field =
      zfp_field_1d(x.data(), sizeof(T) == 4 ? zfp_type_float : zfp_type_double, x.size());
  zfp_stream* const stream = zfp_stream_open(nullptr);
  zfp_stream_set_accuracy(stream, tolerance);
  std::vector<std::uint64_t> memory(zfp_stream_maximum_size(stream, field) / 8 + 1);
  bitstream* const bits = stream_open(memory.data(), memory.size() * 8);
  zfp_stream_set_bit_stream(stream, bits);
  zfp_stream_rewind(stream);
  EXPECT_NE(zfp_compress(stream, field), 0u);
  zfp_stream_rewind(stream);
  EXPECT_NE(zfp_decompress(stream, field), 0u);
  stream_close(bits);
  zfp_stream_close(stream);
  zfp_field_free(field);
  return x;
}

template <class T>
std::vector<T> waves(const Dims& dims) {
  std::vector<T> x(dims.count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (unsigned k = 0; k < dims.n; ++k)
      sum += std::sin(0.1 * static_cast<double>(i / dims.stride(k) % dims.of[k]) + k);
    x[i] = static_cast<T>(sum);
  }
  return x;
}

constexpr Dims shapes[] = {{{30011}, 1},         {{173, 120}, 2},     {{3, 20000}, 2},
                           {{31, 22, 45}, 3},    {{5, 1, 900}, 3},    {{1000, 3, 3, 3}, 4},
                           {{9, 10, 11, 13}, 4}, {{2, 2, 2, 2500}, 4}};

// ---- The bound

template <class T>
void expect_held_where_plain_zfp_fails(double outlier, double E) {
  std::vector<T> x(4000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 50 == 0 ? static_cast<T>(outlier) : static_cast<T>(std::sin(0.1 * static_cast<double>(i)));
  EXPECT_GT(greatest_error(x, by_plain_zfp(x, E)), 10 * E) << "the case does not bite";
  const auto codec = zfp_codec(E);
  EXPECT_LE(greatest_error(x, there_and_back(*codec, x)), E);
  EXPECT_LT(encoded(*codec, x).size(), x.size() * sizeof(T) / 2);
}

TEST(Zfp, HoldsTheBoundWhereABlocksValuesDifferWidely) {
  expect_held_where_plain_zfp_fails<float>(1e8, 1e-3);
  expect_held_where_plain_zfp_fails<float>(1e30, 1e-3);
  expect_held_where_plain_zfp_fails<float>(3.4e38, 1e-2);
  expect_held_where_plain_zfp_fails<double>(1e20, 1e-4);
  expect_held_where_plain_zfp_fails<double>(-1e300, 1e-4);
}

bool is_mended(const Frame& frame) {  // its first piece, in one dimension
  std::uint32_t entry;
  std::memcpy(&entry, frame.data() + frame_header_bytes, 4);
  return entry >> 30 == 2;
}

// Outliers of sizes around the one from which on they are taken out beforehand.
TEST(Zfp, HoldsTheBoundForOutliersOfAnySize) {
  int mended = 0;
  for (int exponent = 0; exponent < 127; ++exponent) {
    std::vector<float> x(1000);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = i % 10 == 3 ? std::ldexp(1.0f + static_cast<float>(i) / 1000, exponent)
                         : static_cast<float>(std::sin(0.1 * static_cast<double>(i)));
    const auto codec = zfp_codec(1e-3);
    const Frame frame = encoded(*codec, x);
    EXPECT_LE(greatest_error(x, decoded<float>(*codec, frame, x.size())), 1e-3) << exponent;
    mended += is_mended(frame);
  }
  EXPECT_GT(mended, 100);
  EXPECT_LT(mended, 127);
}

template <class T>
void expect_bound_at_all_scales() {
  std::mt19937_64 random(1);
  constexpr int least = std::numeric_limits<T>::min_exponent - 20,
                most = std::numeric_limits<T>::max_exponent;
  for (int scale = least; scale < most; scale += sizeof(T) == 4 ? 5 : 40) {
    std::vector<T> x(500);
    for (T& v : x) v = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5, scale));
    for (const int below : {-60, -30, -12, -3, 0, 3}) {
      const double E = std::ldexp(1.1, std::max(scale + below, -1060));
      const auto codec = zfp_codec(E);
      const Frame frame = encoded(*codec, x);
      ASSERT_LE(greatest_error(x, decoded<T>(*codec, frame, x.size())), E) << scale << " " << below;
      ASSERT_LE(frame.size(), codec->max_bytes(dtype_of<T>, x.size()));
    }
  }
}

TEST(Zfp, HoldsTheBoundAtAllScales) {
  expect_bound_at_all_scales<float>();
  expect_bound_at_all_scales<double>();
}

template <class T>
void expect_exact_special_values() {
  std::vector<T> x(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(0.01 * static_cast<double>(i)));
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const T special[] = {nan,     -nan,   std::numeric_limits<T>::signaling_NaN(), inf, -inf, T(1e30), T(1e-42),
                       T(-0.0), T(3e38)};
  for (std::size_t i = 0; i < 1000; ++i) x[i * 5] = special[i % std::size(special)];
  x.back() = nan;
  const auto y = there_and_back(*zfp_codec(1e-3), x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) {
      ASSERT_LE(std::abs(x[i] - y[i]), T(1e-3)) << i;
    } else {
      ASSERT_EQ(std::memcmp(&x[i], &y[i], sizeof(T)), 0) << i;
    }
  }
}

TEST(Zfp, NaNAndInfinitiesTravelBitForBit) {
  expect_exact_special_values<float>();
  expect_exact_special_values<double>();
}

TEST(Zfp, RunsOfAFillValueAreCheap) {
  const Dims dims{{120, 1000}, 2};
  std::vector<float> x = waves<float>(dims), ocean = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % 1000 < 400) ocean[i] = 1e20f;
  const auto codec = zfp_codec(1e-3, dims);
  EXPECT_EQ(there_and_back(*codec, ocean)[5], 1e20f);
  EXPECT_LT(encoded(*codec, ocean).size(), encoded(*codec, x).size() * 11 / 10);
}

TEST(Zfp, ZerosTakeAlmostNothing) {
  EXPECT_LT(encoded(*zfp_codec(1e-3), std::vector<float>(1 << 20)).size(), 200u);
}

// ---- Fields of several dimensions

TEST(Zfp, DimensionsPay) {
  for (const Dims& dims : {Dims{{200, 200}, 2}, Dims{{40, 40, 40}, 3}, Dims{{16, 16, 16, 16}, 4}}) {
    const auto x = waves<float>(dims);
    const auto flat = zfp_codec(1e-3), shaped = zfp_codec(1e-3, dims);
    EXPECT_LT(3 * encoded(*shaped, x).size(), 2 * encoded(*flat, x).size()) << dims.n;
    EXPECT_EQ(decoded<float>(*flat, encoded(*shaped, x), x.size()),
              there_and_back(*shaped, x));  // frames know
  }
}

TEST(Zfp, WholePlanesOfAFieldKeepItsShape) {
  using zfp::shape_of;
  const Dims field{{20, 30, 40}, 3};
  EXPECT_EQ(shape_of(field, 24000).extent, (zfp::Extents{1, 20, 30, 40}));
  EXPECT_EQ(shape_of(field, 3600).extent, (zfp::Extents{1, 3, 30, 40}));
  EXPECT_EQ(shape_of(field, 1200).dims, 2u);
  EXPECT_EQ(shape_of(field, 280).extent, (zfp::Extents{1, 1, 7, 40}));
  EXPECT_EQ(shape_of(field, 281).dims, 1u);
  EXPECT_EQ(shape_of({{7, 1, 5}, 3}, 35).dims, 2u);
  for (const Dims& odd :
       {Dims{{0, 5}, 2}, Dims{{5, 0}, 2}, Dims{{~0u, ~0u, ~0u, ~0u}, 4}, Dims{{1, 1}, 2}, Dims{}})
    for (const std::size_t count : {0u, 1u, 5u, 100u}) EXPECT_EQ(shape_of(odd, count).values(), count);
}

TEST(Zfp, BoxesCoverAFieldOnceAndStaySmall) {
  for (const Dims& dims : shapes) {
    std::vector<int> visits(dims.count());
    const zfp::Grid grid(zfp::shape_of(dims, visits.size()));
    for (std::size_t i = 0; i < grid.boxes(); ++i) {
      const auto box = grid.box(visits.data(), i);
      EXPECT_LE(box.shape.blocks() * box.shape.block_values(), zfp::box_values);
      for (std::size_t k = 0; k < box.values(); ++k) ++box[k];
    }
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  }
}

template <class T>
void expect_all_verbs(Bound bound, const Dims& dims) {
  SCOPED_TRACE(testing::Message() << "bound " << bound.value << " dims " << dims.n << " of " << dims.of[0]);
  const auto codec = zfp_codec(bound, dims);
  auto x = waves<T>(dims);
  x[7] = std::numeric_limits<T>::quiet_NaN();
  x[x.size() / 2] = T(1e30);
  std::vector<T> y(x.size(), T(2)), sum = y;
  const Frame frame = encoded(*codec, x);
  EXPECT_LE(frame.size(), codec->max_bytes(dtype_of<T>, x.size()));
  ASSERT_EQ(codec->decode(frame, slice(y)), Status::ok);
  ASSERT_EQ(codec->reduce(frame, slice(sum), Reduction::sum), Status::ok);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == 7) {
      ASSERT_TRUE(std::isnan(y[i]) && std::isnan(sum[i]));
      continue;
    }
    if (bound.kind == Bound::Kind::absolute) {
      ASSERT_LE(std::abs(static_cast<double>(x[i]) - y[i]), bound.value) << i;
    }
    ASSERT_EQ(sum[i], T(2) + y[i]) << i;
  }
}

TEST(Zfp, AllVerbsInAllDimensions) {
  for (const Dims& dims : shapes) {
    for (const Bound bound : {Bound(1e-4), Bound(0.1), rate(3), rate(8), rate(20.3)}) {
      expect_all_verbs<float>(bound, dims);
      expect_all_verbs<double>(bound, dims);
    }
  }
}

// ---- Fixed rate

TEST(Zfp, ARateGivesThatManyBits) {
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
    ASSERT_TRUE(codec->contract().fixed_size);
    for (std::size_t n = 1; n < 300; ++n) {
      const std::size_t count = n == 299 && dims.n > 0 ? dims.count() : n;
      std::vector<T> x(count, T(1.5));
      const std::size_t most = codec->max_bytes(dtype_of<T>, count);
      ASSERT_EQ(encoded(*codec, x).size(), most) << count;
      for (std::size_t i = 0; i < count; ++i)
        x[i] = static_cast<T>(i % 3 == 0 ? std::nan("") : i % 3 == 1 ? infinity : -infinity);
      if (n % 2 == 0) x[n / 2] = T(3);
      ASSERT_EQ(encoded(*codec, x).size(), most) << count;
      const auto y = there_and_back(*codec, x);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(y[i] == x[i] || (std::isnan(x[i]) && std::isnan(y[i])) ||
                    (std::isfinite(x[i]) && std::isfinite(y[i])));
    }
  }
}

TEST(Zfp, FromSevenBitsOnSizesNeverDependOnTheValues) {
  for (const double bits : {7.0, 8.0, 9.7, 31.0, 64.0}) {
    expect_same_size_whatever_the_values<float>(bits);
    expect_same_size_whatever_the_values<double>(bits);
  }
}

TEST(Zfp, BelowSevenBitsBoxesOfNaNsMayTakeMore) {
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

TEST(Zfp, AtARateFiniteValuesStayFiniteAndTinyOnesHarmless) {
  std::mt19937_64 random(5);
  std::vector<float> x(4000);
  for (float& v : x)
    v = random() % 2 == 0 ? std::numeric_limits<float>::max() : -std::numeric_limits<float>::max();
  for (const double bits : {3.0, 8.0})
    for (const float v : there_and_back(*zfp_codec(rate(bits)), x)) ASSERT_TRUE(std::isfinite(v));
  for (float& v : x) v = std::ldexp(static_cast<float>(random() % 1000), -149);
  for (const float v : there_and_back(*zfp_codec(rate(16)), x)) ASSERT_LE(std::abs(v), 0x1p-95f);
}

// ---- What is refused

TEST(Zfp, UnusableBoundsAreRefused) {
  for (const Bound bound : {Bound(), Bound(-1.0), Bound(infinity), Bound(std::nan("")), rate(0), rate(-1),
                            rate(65), rate(std::nan("")), Bound(Bound::Kind::pointwise, 0.1)})
    EXPECT_THROW(zfp_codec(bound), Error) << bound.value;
}

TEST(Zfp, OtherTypesAreRefused) {
  const auto codec = zfp_codec(1e-3);
  std::byte bytes[256] = {};
  EXPECT_EQ(codec->encode({{bytes, 8, DType::i32}}, Bytes(bytes)).status, Status::invalid_type);
  EXPECT_EQ(codec->decode(bytes, {{bytes, 8, DType::i32}}), Status::invalid_type);
}

// Sets 32-bit word `i` of the payload.
Frame with_word(Frame frame, std::size_t i, std::uint32_t word) {
  std::memcpy(frame.data() + frame_header_bytes + 4 * i, &word, 4);
  return frame;
}

TEST(Zfp, ExtentsThatDoNotFitAreRefused) {
  const Dims dims{{8, 16, 32}, 3};
  const auto codec = zfp_codec(1e-3, dims);
  auto x = waves<float>(dims);
  const Frame good = encoded(*codec, x);
  ASSERT_EQ(codec->decode(good, slice(x)), Status::ok);
  for (const std::uint32_t extent : {0u, 1u, 15u, 17u, 0x80000000u, ~0u})
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(codec->decode(with_word(good, i, extent), slice(x)), Status::corrupt_frame) << extent;
  Frame wrapped = with_word(with_word(with_word(good, 0, 0x80000000u), 1, 0x80000000u), 2, 4);
  EXPECT_EQ(codec->decode(wrapped, slice(x)), Status::corrupt_frame);
  FrameHeader header;
  ASSERT_EQ(read_header(good, header), Status::ok);
  for (const int dimensions : {0, 1, 2, 4, 5, 255}) {
    Frame bad = good;
    header.parameters[0] = static_cast<std::uint8_t>(dimensions);
    write_header(header, bad);
    EXPECT_EQ(codec->decode(bad, slice(x)), Status::corrupt_frame) << dimensions;
  }
}

TEST(Zfp, HeadersWithOtherBoundsDoNoHarm) {
  auto x = waves<double>({{5000}, 1});
  for (const Bound made : {Bound(1e-3), rate(8)}) {
    const auto codec = zfp_codec(made);
    const Frame good = encoded(*codec, x);
    FrameHeader header;
    ASSERT_EQ(read_header(good, header), Status::ok);
    for (const Bound told :
         {Bound(), Bound(1e-300), Bound(5e-324), Bound(1e300), rate(1e-9), rate(1), rate(8), rate(64),
          rate(1e9), Bound(Bound::Kind::snap, 1), Bound(Bound::Kind::pointwise, 1)}) {
      Frame bad = good;
      header.bound = told;
      write_header(header, bad);
      const Status status = codec->decode(bad, slice(x));
      if (told.kind != made.kind) {
        EXPECT_EQ(status, Status::corrupt_frame) << told.value;
      }
    }
  }
}

// Streams that go on and on: zfp's decoder has no end check of its own.
TEST(Zfp, EndlessStreamsStayInsideTheirMemory) {
  for (const Dims& dims : shapes) {
    for (const Bound bound : {Bound(1e-30), Bound(1e-4), rate(8)}) {
      auto x = waves<double>(dims);
      const auto codec = zfp_codec(bound, dims);
      Frame frame = encoded(*codec, x);
      const zfp::Grid grid(zfp::shape_of(dims, x.size()));
      const std::size_t front =
          frame_header_bytes + zfp::front_bytes(zfp::shape_of(dims, 0 + x.size()).dims, grid.boxes());
      for (const int byte : {0xFF, 0xAA, 0x55, 0x01, 0x80}) {
        for (std::uint32_t form = 0; form < 4; ++form) {
          std::fill(frame.begin() + static_cast<std::ptrdiff_t>(front), frame.end(), std::byte(byte));
          for (std::size_t i = 0; i < grid.boxes(); ++i) {
            std::uint32_t entry;
            std::byte* const at = frame.data() + front - 4 * (grid.boxes() - i);
            std::memcpy(&entry, at, 4);
            entry = (entry & 0x3FFFFFFF) | form << 30;
            std::memcpy(at, &entry, 4);
          }
          codec->decode(frame, slice(x));
          codec->reduce(frame, slice(x), Reduction::sum);
        }
      }
    }
  }
}

TEST(Zfp, DamagedFieldsDoNoHarm) {
  std::mt19937_64 random(3);
  for (const Dims& dims : shapes) {
    for (const Bound bound : {Bound(1e-3), rate(4), rate(9)}) {
      const auto codec = zfp_codec(bound, dims);
      auto x = waves<float>(dims);
      for (std::size_t i = 0; i < x.size(); i += 1 + random() % 900) x[i] = i % 2 == 0 ? NAN : 1e25f;
      const Frame good = encoded(*codec, x);
      for (int round = 0; round < 100; ++round) {
        Frame bad = good;
        for (int k = 0; k <= round % 7; ++k) {
          const std::size_t reach = round % 2 == 0 ? bad.size() - frame_header_bytes : 40;
          bad[frame_header_bytes + random() % reach] = std::byte(random());
        }
        codec->decode(bad, slice(x));
        codec->reduce(bad, slice(x), Reduction::max);
      }
    }
  }
}

}  // namespace
}  // namespace taut::test

// Tests of the zfp codec: promises beyond those of plain zfp, and fields of several dimensions.
#include <zfp.h>

#include <cstring>

#include "unit/compressor/codecs/zfp_fields.hpp"

namespace taut::test {
namespace {

// Returns the values that zfp alone decodes from one-dimensional values under a tolerance.
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

bool is_repaired(const Frame& frame) {  // tests the first record, in one dimension
  std::uint32_t entry;
  std::memcpy(&entry, frame.data() + frame_header_bytes, 4);
  return entry >> 30 == 2;
}

// Tests outliers around the size from which on the codec removes outliers before zfp codes the rest.
TEST(Zfp, HoldsTheBoundForOutliersOfAnySize) {
  int repaired = 0;
  for (int exponent = 0; exponent < 127; ++exponent) {
    std::vector<float> x(1000);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = i % 10 == 3 ? std::ldexp(1.0f + static_cast<float>(i) / 1000, exponent)
                         : static_cast<float>(std::sin(0.1 * static_cast<double>(i)));
    const auto codec = zfp_codec(1e-3);
    const Frame frame = encoded(*codec, x);
    EXPECT_LE(greatest_error(x, decoded<float>(*codec, frame, x.size())), 1e-3) << exponent;
    repaired += is_repaired(frame);
  }
  EXPECT_GT(repaired, 100);
  EXPECT_LT(repaired, 127);
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
              there_and_back(*shaped, x));  // frames store the extents
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

TEST(Zfp, TilesCoverAFieldOnceAndStaySmall) {
  for (const Dims& dims : shapes) {
    std::vector<int> visits(dims.count());
    const zfp::Tiling grid(zfp::shape_of(dims, visits.size()));
    for (std::size_t i = 0; i < grid.tiles(); ++i) {
      const auto tile = grid.tile(visits.data(), i);
      EXPECT_LE(tile.shape.blocks() * tile.shape.block_values(), zfp::max_tile_values);
      for (std::size_t k = 0; k < tile.values(); ++k) ++tile[k];
    }
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  }
}

template <class T>
void expect_all_verbs(Bound bound, const Dims& dims) {
  SCOPED_TRACE(testing::Message() << "bound " << bound.value << " dims " << dims.n << " of "
                                  << dims.extent[0]);
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

}  // namespace
}  // namespace taut::test

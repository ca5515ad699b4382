// Properties of the blocks codec alone: sizes, the error of each block, special values, kernel sets.
#include "compressor/codecs/blocks/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/coding.hpp"

namespace taut::blocks {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
struct Frame {
  std::vector<std::byte> bytes;
  std::size_t count;

  float scale(std::size_t value) const {
    const auto bits = load<std::uint16_t>(bytes.data() + frame_header_bytes + 2 * (value / block_values));
    return std::bit_cast<float>(std::uint32_t{bits & 0x7FFFu} << 16);
  }
  std::vector<T> decoded(const Codec& codec) const {
    std::vector<T> values(count);
    EXPECT_EQ(codec.decode(bytes, {{values.data(), count, dtype_of<T>}}), Status::ok);
    return values;
  }
};

template <class T>
Frame<T> encoded(const Codec& codec, const std::vector<T>& values) {
  Frame<T> frame{std::vector<std::byte>(codec.max_bytes(dtype_of<T>, values.size())), values.size()};
  const SizeOrStatus size = codec.encode({{values.data(), values.size(), dtype_of<T>}}, frame.bytes);
  EXPECT_EQ(size.status, Status::ok);
  EXPECT_EQ(size.bytes, frame.bytes.size());
  return frame;
}

std::unique_ptr<Codec> codec_of(unsigned bits, std::string_view kernels = {}) {
  return find_codec("blocks")->make({.bound = {Bound::Kind::rate, double(bits)}, .kernels = kernels});
}

template <class T>
std::vector<T> of_floats(const std::vector<float>& floats) {
  std::vector<T> values;
  for (const float x : floats) values.push_back(static_cast<T>(x));
  return values;
}

// Returns values of every magnitude: each block has a range of its own.
std::vector<float> wild(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<float> values(count);
  float unit = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 37 == 0) unit = std::ldexp(1.0F, static_cast<int>(draw() % 276) - 149);
    values[i] = unit * (static_cast<float>(draw() % 4000) / 2000 - 1);
  }
  return values;
}

// Expects that each finite value is within half its block's scale, plus the rounding to T.
template <class T>
void expect_bound(const std::vector<float>& floats, unsigned bits) {
  const auto values = of_floats<T>(floats);
  const auto codec = codec_of(bits);
  const Frame<T> frame = encoded(*codec, values);
  const auto decoded = frame.decoded(*codec);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float x = static_cast<float>(values[i]), y = static_cast<float>(decoded[i]);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(y));
    } else if (std::isinf(x)) {
      EXPECT_EQ(x, y);
    } else {
      double allowed = frame.scale(i) * (0.5 + 0x1p-17);
      if (sizeof(T) == 2)
        allowed += std::max(std::abs(double{y}) * (std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8),
                            std::is_same_v<T, f16> ? 0x1p-25 : 0x1p-134);
      EXPECT_LE(std::abs(double{x} - double{y}), allowed) << name_of(dtype_of<T>) << " " << bits << " " << x;
    }
  }
}

TEST(Blocks, EveryBlockHasABound) {
  for (const unsigned bits : rates)
    for (const std::size_t count : {1, 63, 64, 65, 4099}) {
      auto values = wild(count, bits);
      expect_bound<float>(values, bits);
      expect_bound<f16>(values, bits);
      expect_bound<bf16>(values, bits);
      for (std::size_t i = 0; i < count; i += 97) values[i] = i % 2 ? nan : i % 3 ? infinity : -infinity;
      expect_bound<float>(values, bits);
      expect_bound<f16>(values, bits);
      expect_bound<bf16>(values, bits);
    }
}

TEST(Blocks, ScalesReachTheGreatestValue) {
  for (const unsigned bits : rates) {
    const auto codec = codec_of(bits);
    for (const float x : {3.4028235e38F, 1e30F, 1.0F, 1e-30F, 1.2e-38F, 1e-40F, 1e-45F}) {
      const Frame<float> frame = encoded(*codec, std::vector<float>{x, -x});
      const float least = x / static_cast<float>(max_code(bits));
      EXPECT_GE(frame.scale(0), least);
      EXPECT_LE(frame.scale(0), least * 1.0079F + 0x1p-133F);
      const auto decoded = frame.decoded(*codec);
      EXPECT_TRUE(std::isfinite(decoded[0])) << x;
      EXPECT_EQ(decoded[0], -decoded[1]);
    }
  }
}

TEST(Blocks, SpecialValuesKeepTheirClass) {
  for (const unsigned bits : rates) {
    const auto codec = codec_of(bits);
    const auto result =
        encoded(*codec, std::vector<float>{nan, -nan, infinity, -infinity, 5, -5, 0, -0.0F}).decoded(*codec);
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
    EXPECT_EQ(result[2], infinity);
    EXPECT_EQ(result[3], -infinity);
    EXPECT_NEAR(result[4], 5, 0.1);
    EXPECT_NEAR(result[5], -5, 0.1);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(result[6]), 0u);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(result[7]), 0u);
    // A block of special values alone, and zeros, in a frame of several blocks.
    std::vector<float> values(200, nan);
    std::fill(values.begin() + 64, values.begin() + 128, 0.0F);
    const auto blocks = encoded(*codec, values).decoded(*codec);
    EXPECT_TRUE(std::isnan(blocks[0]) && std::isnan(blocks[199]));
    EXPECT_EQ(blocks[64], 0);
  }
}

TEST(Blocks, SizesFollowFromTheCount) {
  EXPECT_EQ(codec_of(8)->max_bytes(DType::f32, 0), 64u);
  EXPECT_EQ(codec_of(8)->max_bytes(DType::f32, 1), 64u + 16 + 64);
  EXPECT_EQ(codec_of(6)->max_bytes(DType::bf16, 65), 64u + 16 + 2 * 48);
  EXPECT_EQ(codec_of(4)->max_bytes(DType::f16, 1 << 20), 64u + (1u << 15) + (1u << 19));
  for (const unsigned bits : rates) EXPECT_TRUE(codec_of(bits)->contract().fixed_size);
}

template <class T>
void expect_same_bytes(const std::vector<float>& floats, unsigned bits) {
  const auto values = of_floats<T>(floats);
  const auto scalar = codec_of(bits, "scalar");
  const auto reference = encoded(*scalar, values);
  const auto decoded = reference.decoded(*scalar);
  for (const KernelSet* set : kernel_sets()) {
    if (!set->supported()) continue;
    const auto codec = codec_of(bits, set->name);
    EXPECT_EQ(encoded(*codec, values).bytes, reference.bytes) << set->name;
    const auto other = reference.decoded(*codec);
    EXPECT_EQ(std::memcmp(other.data(), decoded.data(), other.size() * sizeof(T)), 0) << set->name;
  }
}

TEST(Blocks, KernelSetsAgree) {
  for (const unsigned bits : rates)
    for (unsigned seed = 0; seed < 20; ++seed) {
      auto values = wild(5000 + seed, seed);
      if (seed % 2 == 1) values[seed * 50] = nan;
      expect_same_bytes<float>(values, bits);
      expect_same_bytes<f16>(values, bits);
      expect_same_bytes<bf16>(values, bits);
    }
}

// Every code, also the one that the encoder leaves out, and every scale decode to finite values or are
// rejected.
TEST(Blocks, EveryScaleIsDecodedOrRejected) {
  const auto codec = codec_of(8);
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(4 * i - 128);
  const Frame<float> frame = encoded(*codec, values);
  for (unsigned scale = 0; scale < 65536; scale += 13) {
    FrameHeader header;
    auto bytes = frame.bytes;
    ASSERT_EQ(read_header(bytes, header), Status::ok);
    store(bytes.data() + frame_header_bytes, static_cast<std::uint16_t>(scale));
    const Status status = codec->decode(bytes, {{values.data(), values.size(), DType::f32}});
    EXPECT_EQ(status, (scale & 0x7FFF) < 0x7F80 ? Status::ok : Status::corrupt_frame) << scale;
    if (status == Status::ok && scale < 0x8000) {
      EXPECT_TRUE(std::isfinite(values[0]));
    }
  }
}

TEST(Blocks, TheyAreNamedByTheirForm) {
  for (const unsigned bits : rates) {
    const Coding coding = parse_coding("block:" + std::to_string(bits));
    EXPECT_STREQ(coding.codec->name, "blocks");
    EXPECT_EQ(coding.bound, Bound(Bound::Kind::rate, bits));
    EXPECT_EQ(parse_coding(text_of(coding)), coding);
    EXPECT_EQ(parse_coding("block=" + std::to_string(bits) + ",codec=blocks"), coding);
  }
  for (const char* text : {"block:5", "block:16", "block:0", "block:8.5", "block:", "block",
                           "block:8,codec=zfp", "block:8,bits=exact", "block:8,predictor=delta",
                           "rate:7,codec=blocks", "abs:1,codec=blocks", "lossless,codec=blocks"})
    EXPECT_THROW(parse_coding(text), Error) << text;
}

}  // namespace
}  // namespace taut::blocks

#include "compressor/hdf5/chunk.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "compressor/file/failure.hpp"

namespace taut::hdf5 {
namespace {

class Chunk : public testing::Test {
 protected:
  Chunk() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = std::sin(0.1f * static_cast<float>(i));
    const file::Buffer coded = encode_chunk(options_, std::as_bytes(std::span(values_)));
    coded_.assign(coded.data.get(), coded.data.get() + coded.bytes);
  }

  bool is_refused(ConstBytes coded) const {
    try {
      decode_chunk(options_, coded);
      return false;
    } catch (const file::Failure&) {
      return true;
    }
  }

  ChunkOptions options_{DType::f32, {6, 50}, "abs:1e-3"};
  std::vector<float> values_ = std::vector<float>(300);
  std::vector<std::byte> coded_;
};

TEST_F(Chunk, ComesBack) {
  const file::Buffer back = decode_chunk(options_, coded_);
  ASSERT_EQ(back.bytes, 1200u);
  const auto* const values = reinterpret_cast<const float*>(back.data.get());
  for (std::size_t i = 0; i < values_.size(); ++i) EXPECT_NEAR(values[i], values_[i], 1e-3);
  EXPECT_LT(coded_.size(), 900u);
}

TEST_F(Chunk, EveryTruncationAndFlippedBitIsRefused) {
  for (std::size_t size = 0; size < coded_.size(); ++size)
    EXPECT_TRUE(is_refused(ConstBytes(coded_).first(size)));
  for (std::size_t bit = 0; bit < 8 * coded_.size(); ++bit) {
    std::vector<std::byte> flipped = coded_;
    flipped[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_TRUE(is_refused(flipped)) << bit;
  }
}

TEST_F(Chunk, AnotherShapeOrTypeIsRefused) {
  options_.extents = {50, 6};
  EXPECT_TRUE(is_refused(coded_));
  options_ = {DType::i32, {6, 50}, "lossless"};
  EXPECT_TRUE(is_refused(coded_));
}

TEST_F(Chunk, ValuesOfAnotherSizeAreRefused) {
  const ConstBytes values = std::as_bytes(std::span(values_));
  EXPECT_THROW(encode_chunk(options_, values.first(1196)), file::Failure);
  options_.type.reset();
  EXPECT_THROW(encode_chunk(options_, values), file::Failure);
}

}  // namespace
}  // namespace taut::hdf5

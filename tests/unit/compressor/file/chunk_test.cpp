#include "compressor/file/chunk.hpp"

#include <gtest/gtest.h>

#include <random>

#include "compressor/file/failure.hpp"

namespace taut::file {
namespace {

TEST(CheckCoding, NamesWhatIsWrong) {
  EXPECT_NO_THROW(check_coding(DType::f16, "rel:1e-3"));
  EXPECT_NO_THROW(check_coding(DType::i32, "abs:1e-3,codec=szx"));  // without loss, by another codec
  EXPECT_THROW(check_coding(DType::f32, "abs:x"), file::Failure);
  EXPECT_THROW(check_coding(DType::f32, "abs:1e-3,dims=3x4"), file::Failure);
  EXPECT_THROW(check_coding(DType::f16, "abs:1e-3,codec=szx"), file::Failure);
}

TEST(MostChunkBytes, AreNotExceededByValuesThatDoNotCompress) {
  std::mt19937_64 random(1);
  std::vector<Array> arrays;
  for (const std::vector<std::uint64_t>& shape : {std::vector<std::uint64_t>{}, {7}, {3, 0}, {5, 900}})
    for (const DType type : {DType::u8, DType::f16, DType::f32, DType::c128})
      arrays.push_back({type, Form::npy, shape});
  arrays.push_back({DType::u8, Form::npy, {2, 1 << 21, 2}});  // several frames
  for (const Array& array : arrays) {
    std::vector<std::byte> values(array.bytes());
    for (std::byte& byte : values) byte = static_cast<std::byte>(random());
    const Buffer coded = encode_chunk(array, "lossless", values, "values");
    EXPECT_LE(coded.bytes, most_chunk_bytes(array, "lossless")) << name_of(array.type) << values.size();
    ChunkReader reader(coded.all());
    std::vector<std::byte> back(reader.array().bytes());
    reader.decode(back);
    EXPECT_EQ(back, values);
  }
}

}  // namespace
}  // namespace taut::file

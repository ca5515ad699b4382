// Tests of the zfp codec: options that it refuses, and damaged or foreign frames.
#include <cstring>

#include "unit/compressor/codecs/zfp_fields.hpp"

namespace taut::test {
namespace {

TEST(ZfpDamage, UnusableBoundsAreRefused) {
  for (const Bound bound : {Bound(), Bound(-1.0), Bound(infinity), Bound(std::nan("")), rate(0), rate(-1),
                            rate(65), rate(std::nan("")), Bound(Bound::Kind::pointwise, 0.1)})
    EXPECT_THROW(zfp_codec(bound), Error) << bound.value;
}

TEST(ZfpDamage, OtherTypesAreRefused) {
  const auto codec = zfp_codec(1e-3);
  std::byte bytes[256] = {};
  EXPECT_EQ(codec->encode({{bytes, 8, DType::i32}}, Bytes(bytes)).status, Status::invalid_type);
  EXPECT_EQ(codec->decode(bytes, {{bytes, 8, DType::i32}}), Status::invalid_type);
}

// Returns the frame with 32-bit word `i` of the payload set.
Frame with_word(Frame frame, std::size_t i, std::uint32_t word) {
  std::memcpy(frame.data() + frame_header_bytes + 4 * i, &word, 4);
  return frame;
}

TEST(ZfpDamage, ExtentsThatDoNotFitAreRefused) {
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

TEST(ZfpDamage, HeadersWithOtherBoundsDoNoHarm) {
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

// Tests streams without an end: zfp's decoder does not check for the end itself.
TEST(ZfpDamage, EndlessStreamsStayInsideTheirMemory) {
  for (const Dims& dims : shapes) {
    for (const Bound bound : {Bound(1e-30), Bound(1e-4), rate(8)}) {
      auto x = waves<double>(dims);
      const auto codec = zfp_codec(bound, dims);
      Frame frame = encoded(*codec, x);
      const zfp::Tiling grid(zfp::shape_of(dims, x.size()));
      const std::size_t front =
          frame_header_bytes + zfp::front_bytes(zfp::shape_of(dims, 0 + x.size()).dims, grid.tiles());
      for (const int byte : {0xFF, 0xAA, 0x55, 0x01, 0x80}) {
        for (std::uint32_t form = 0; form < 4; ++form) {
          std::fill(frame.begin() + static_cast<std::ptrdiff_t>(front), frame.end(), std::byte(byte));
          for (std::size_t i = 0; i < grid.tiles(); ++i) {
            std::uint32_t entry;
            std::byte* const at = frame.data() + front - 4 * (grid.tiles() - i);
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

TEST(ZfpDamage, DamagedFieldsDoNoHarm) {
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

// Frames whose headers name counts that no payload holds, and counts whose sizes in bytes wrap around: each
// call that takes a frame refuses them before it reads, writes or allocates for them. All checksums are
// right.
#define TAUT_NO_MPI
#include <gtest/gtest.h>
#include <taut/frame.hpp>

#include "compressor/frame/codec.hpp"
#include "support/guarded.hpp"

namespace taut::test {
namespace {

constexpr std::uint8_t codecs = 6;
constexpr Bound bounds[] = {{}, Bound(1), Bound(Bound::Kind::pointwise, 0.5), Bound(Bound::Kind::rate, 8)};

std::vector<std::byte> frame_of(FrameHeader header, std::size_t payload_bytes) {
  std::vector<std::byte> frame(frame_header_bytes + payload_bytes);
  header.payload_bytes = payload_bytes;
  write_header(header, frame);
  return frame;
}

// Calls check with frames of every codec, type, kind of bound and coding that name `count` values.
template <class Check>
void for_frames(std::uint64_t count, Check check) {
  for (std::uint8_t codec = 1; codec <= codecs; ++codec)
    for (std::uint8_t type = 1; type <= dtypes; ++type)
      for (const Bound& bound : bounds)
        for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{FrameHeader::stored}})
          for (const std::size_t payload : {0u, 8u, 100u})
            check(frame_of({.codec = codec,
                            .type = DType{type},
                            .flags = flags,
                            .count = count,
                            .bound = bound,
                            .step = bound.exact() ? 0.0 : 1.0},
                           payload));
}

// Counts whose products with the size of a value, or with the values of a chunk, are small once they wrap.
std::vector<std::uint64_t> wrapped_counts() {
  std::vector<std::uint64_t> counts{max_frame_values, std::uint64_t{max_frame_values} + 1, ~std::uint64_t{0}};
  for (unsigned bits = 32; bits < 64; ++bits)
    for (const std::uint64_t more : {0u, 25u}) counts.push_back((std::uint64_t{1} << bits) + more);
  return counts;
}

// Checks that every call refuses the frame, of `count` values.
void expect_refused(const Frame& bytes, std::uint64_t count, const Guarded& values, const Guarded& room) {
  const Guarded frame(bytes);
  const std::byte* const at = frame.bytes().data();
  TAUT_Frame_info info{};
  TAUT_Frame_statistics statistics{};
  info.struct_size = sizeof info;
  statistics.struct_size = sizeof statistics;
  std::size_t size = 0;
  std::byte* const to = room.bytes().data();
  EXPECT_NE(TAUT_Frame_get_info(at, bytes.size(), &info), TAUT_SUCCESS);
  EXPECT_NE(TAUT_Frame_get_statistics(at, bytes.size(), &statistics), TAUT_SUCCESS);
  EXPECT_NE(TAUT_Frame_scale(at, bytes.size(), -1, to, 4096, &size), TAUT_SUCCESS);
  EXPECT_NE(TAUT_Frame_add(at, bytes.size(), at, bytes.size(), to, 4096, &size), TAUT_SUCCESS);
  EXPECT_NE(TAUT_Decode(at, bytes.size(), values.bytes().data(), count, TAUT_Type(bytes[6])), TAUT_SUCCESS);
  EXPECT_THROW(taut::statistics(bytes), cxx::Error);
  EXPECT_THROW(taut::scale(bytes, 2), cxx::Error);
  EXPECT_THROW(taut::add(bytes, bytes), cxx::Error);
  EXPECT_THROW(taut::decode<double>(bytes), cxx::Error);
}

TEST(HeaderCounts, NoCallTakesMoreValuesThanAPayloadCanHold) {
  const Guarded values(64), room(4096);
  for (const std::uint64_t count : wrapped_counts()) {
    SCOPED_TRACE(count);
    for_frames(count, [&](const Frame& frame) { expect_refused(frame, count, values, room); });
  }
  EXPECT_TRUE(values.intact() && room.intact());
}

TEST(HeaderCounts, ANoticeHasNoValues) {
  const Frame error_frame = frame_of({.flags = FrameHeader::failed, .count = max_frame_values}, 0);
  EXPECT_THROW(info(error_frame), cxx::Error);
  EXPECT_THROW(taut::decode<float>(error_frame), cxx::Error);
  EXPECT_THROW(taut::statistics(error_frame), cxx::Error);
}

TEST(HeaderCounts, TheRoomForASumDoesNotWrap) {
  for (const TAUT_Type type : {TAUT_FLOAT16, TAUT_FLOAT32, TAUT_FLOAT64}) {
    const std::size_t one = TAUT_Max_bytes(type, max_frame_values, 1);
    EXPECT_GT(TAUT_Max_bytes(type, max_frame_values, ~0u), one);
    EXPECT_GT(TAUT_Max_bytes(type, max_frame_values, 1u << 31), one);
  }
}

TEST(HeaderCounts, AddendsAloneAskForNoMemory) {
  const std::vector<float> ones(1 << 16, 1.0f);
  Frame frame = encode(ones, "abs:1e-3,codec=planes");
  FrameHeader header;
  ASSERT_EQ(read_header(frame, header), Status::ok);
  header.addends = 1u << 31;
  write_header(header, frame);
  EXPECT_LT(taut::scale(frame, -2).capacity(), std::size_t{1} << 22);
  header.addends = 1u << 30;
  write_header(header, frame);
  EXPECT_LT(taut::add(frame, frame).capacity(), std::size_t{1} << 22);
}

}  // namespace
}  // namespace taut::test

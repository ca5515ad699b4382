// Damaged and foreign frames: no decoder trusts its input.
#include "conformance/codec_test.hpp"

namespace taut::test {
namespace {

class DamagedFrames : public CodecConformance {
 protected:
  static std::vector<std::pair<DType, bool>> types_and_checksums() {
    std::vector<std::pair<DType, bool>> all;
    for (const DType type : types())
      for (const bool checksum : {false, true}) all.emplace_back(type, checksum);
    return all;
  }
};

TEST_P(DamagedFrames, EveryTruncationIsRejected) {
  for (const auto& [type, checksum] : types_and_checksums()) {
    const auto codec = make(checksum);
    Values values = make_values(type, type == DType::f32 ? 5000 : 601, Pattern::noisy, 1);
    const FrameBytes frame = encoded(*codec, std::as_const(values).slice());
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const FrameBytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_NE(codec->decode(cut, values.slice()), Status::ok) << n;
      ASSERT_NE(codec->reduce(cut, values.slice(), Reduction::sum), Status::ok) << n;
    }
  }
}

TEST_P(DamagedFrames, HeadersThatLieAboutTheirPayloadAreRejected) {
  const auto codec = make();
  Values values = make_values(DType::f32, 5000, Pattern::noisy, 1);
  const FrameBytes good = encoded(*codec, std::as_const(values).slice());
  FrameHeader header;
  ASSERT_EQ(read_header(good, header), Status::ok);
  for (std::uint64_t bytes = 0; bytes < good.size() - frame_header_bytes; ++bytes) {
    FrameBytes bad = good;
    header.payload_bytes = bytes;
    write_header(header, bad);
    ASSERT_NE(codec->decode(bad, values.slice()), Status::ok) << bytes;
  }
}

TEST_P(DamagedFrames, FlippedBitsAreRejectedUnderAChecksumAndHarmlessWithout) {
  for (const auto& [type, checksum] : types_and_checksums()) {
    const auto codec = make(checksum);
    Values values = make_values(type, type == DType::f64 ? 3000 : 801, Pattern::wild, 1);
    FrameBytes frame = encoded(*codec, std::as_const(values).slice());
    for (std::size_t bit = 0; bit < 8 * frame.size(); bit += bit < 4096 ? 1 : 37) {
      frame[bit / 8] ^= std::byte(1 << bit % 8);
      const Status status = codec->decode(frame, values.slice());
      if (checksum || bit < 8 * frame_header_bytes) {
        ASSERT_NE(status, Status::ok) << bit;
      }
      frame[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
}

TEST_P(DamagedFrames, RandomPayloadsBehindAGoodHeaderDoNoHarm) {
  const auto codec = make();
  for (const DType type : types()) {
    Values values = make_values(type, 10001, Pattern::smooth, 1);
    const FrameBytes good = encoded(*codec, std::as_const(values).slice());
    std::mt19937_64 random(7);
    for (int round = 0; round < (type == DType::f32 ? 300 : 60); ++round) {
      FrameBytes bad = good;
      for (int k = 0; k < 1 + round % 40; ++k)
        bad[frame_header_bytes + random() % (bad.size() - frame_header_bytes)] = std::byte(random());
      codec->decode(bad, values.slice());
      codec->reduce(bad, values.slice(), Reduction::sum);
    }
  }
}

TEST_P(DamagedFrames, OtherTypesAndCountsAreRefused) {
  const auto codec = make();
  const Values values = make_values(DType::f32, 1000, Pattern::smooth, 1);
  const FrameBytes frame = encoded(*codec, values.slice());
  for (const auto& [type, count] :
       {std::pair{DType::f64, 1000u}, {DType::f64, 500u}, {DType::f32, 999u}, {DType::f32, 1001u}}) {
    Values other(type, count);
    const bool served = GetParam().codec->serves(type, GetParam().kind);
    EXPECT_EQ(codec->decode(frame, other.slice()), served ? Status::frame_mismatch : Status::invalid_type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DamagedFrames, testing::ValuesIn(codec_cases()), name_of_case);

}  // namespace
}  // namespace taut::test

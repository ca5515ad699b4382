// Tests of every codec whose frames can be added.
#include "conformance/codec_test.hpp"

namespace taut::test {
namespace codec_sum_test {

class AddingCodec : public CodecConformance {
 protected:
  static FrameBytes sum(const Codec& codec, const Values& kind, std::span<const ConstBytes> frames,
                        std::uint32_t addends) {
    FrameBytes out(codec.max_bytes(kind.type(), kind.count(), addends));
    const SizeOrStatus size = codec.arithmetic()->sum(frames, out);
    EXPECT_EQ(size.status, Status::ok);
    out.resize(size.bytes);
    return out;
  }
};

// Frames add up to the sum of the decoded values; any order and grouping gives the same bytes.
TEST_P(AddingCodec, SumsAreExactAndOrderDoesNotMatter) {
  for (const Bound bound : bounds()) {
    const auto codec = make(bound);
    for (const DType type : types()) {
      for (const Pattern pattern : patterns) {
        for (const std::size_t count : {0u, 1u, 65u, 5000u}) {
          SCOPED_TRACE(testing::Message() << bound.value << " " << name_of(type) << " "
                                          << static_cast<int>(pattern) << " " << count);
          const Values a = make_values(type, count, pattern, 1), b = make_values(type, count, pattern, 2),
                       c = make_values(type, count, pattern, 3);
          const FrameBytes fa = encoded(*codec, a.slice()), fb = encoded(*codec, b.slice()),
                           fc = encoded(*codec, c.slice());
          const FrameBytes ab = sum(*codec, a, std::vector<ConstBytes>{fa, fb}, 2),
                           cb = sum(*codec, a, std::vector<ConstBytes>{fc, fb}, 2);
          const FrameBytes abc = sum(*codec, a, std::vector<ConstBytes>{fa, fb, fc}, 3);
          const FrameBytes ab_c = sum(*codec, a, std::vector<ConstBytes>{ab, fc}, 3),
                           a_cb = sum(*codec, a, std::vector<ConstBytes>{fa, cb}, 3);
          Values total(type, count), same = total, again = total;
          ASSERT_EQ(codec->decode(abc, total.slice()), Status::ok);
          ASSERT_EQ(codec->decode(ab_c, same.slice()), Status::ok);
          ASSERT_EQ(codec->decode(a_cb, again.slice()), Status::ok);
          ASSERT_TRUE(total == same && total == again);
          for (std::size_t i = 0; i < total.numbers(); ++i) {
            const long double exact = static_cast<long double>(a.at(i)) + b.at(i) + c.at(i);
            ASSERT_LE(std::abs(total.at(i) - exact),
                      3 * bound.value + spacing(type, static_cast<double>(exact)) * 0.5001);
          }
        }
      }
    }
  }
}

TEST_P(AddingCodec, AccumulateIsEncodeThenSum) {
  const auto codec = make();
  for (const DType type : types()) {
    for (const Pattern pattern : patterns) {
      for (const std::size_t count : counts) {
        SCOPED_TRACE(testing::Message() << name_of(type) << " " << static_cast<int>(pattern) << " " << count);
        const Values a = make_values(type, count, pattern, 1), b = make_values(type, count, pattern, 2);
        const FrameBytes fa = encoded(*codec, a.slice()), fb = encoded(*codec, b.slice());
        FrameBytes fused(codec->max_bytes(type, count, 2));
        const SizeOrStatus size = codec->arithmetic()->accumulate(fa, b.slice(), fused);
        ASSERT_EQ(size.status, Status::ok);
        fused.resize(size.bytes);
        // The sums agree in values, not in bytes: under `auto` fb may have another predictor than fa, and
        // then so has their sum.
        const FrameBytes added = sum(*codec, a, std::vector<ConstBytes>{fa, fb}, 2);
        Values one(type, count), other(type, count);
        ASSERT_EQ(codec->decode(fused, one.slice()), Status::ok);
        ASSERT_EQ(codec->decode(added, other.slice()), Status::ok);
        ASSERT_TRUE(one == other);
        FrameHeader header;
        ASSERT_EQ(read_header(fused, header), Status::ok);
        ASSERT_EQ(header.addends, 2u);
      }
    }
  }
}

TEST_P(AddingCodec, FramesThatDoNotBelongTogetherAreRefused) {
  const auto codec = make(), coarser = make(bounds().back());
  const Values a = make_values(DType::f32, 1000, Pattern::smooth, 1),
               longer = make_values(DType::f32, 1001, Pattern::smooth, 1),
               wider = make_values(DType::f64, 1000, Pattern::smooth, 1);
  const FrameBytes good = encoded(*codec, a.slice());
  FrameBytes out(codec->max_bytes(DType::f64, 2000, 2));
  for (const FrameBytes& other :
       {encoded(*coarser, a.slice()), encoded(*codec, longer.slice()), encoded(*codec, wider.slice())}) {
    const ConstBytes both[] = {good, other};
    EXPECT_EQ(codec->arithmetic()->sum(both, out).status, Status::frame_mismatch);
  }
}

bool adds_frames(const Contract& contract) { return contract.adds_frames; }
INSTANTIATE_TEST_SUITE_P(All, AddingCodec, testing::ValuesIn(codec_cases(adds_frames)), name_of_case);

}  // namespace codec_sum_test
}  // namespace taut::test

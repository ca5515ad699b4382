// Tests of every registered codec, independent of its format.
#include "conformance/codec_test.hpp"

#include <bit>

#include "support/subjects.hpp"

namespace taut::test {
namespace {

TEST_P(CodecConformance, EveryValueComesBackWithinTheBound) {
  double worst = 0;
  for_all_inputs([&](const Codec& codec, const Values& values) {
    const FrameBytes frame = encoded(codec, values.slice());
    Values decoded(values.type(), values.count());
    ASSERT_EQ(codec.decode(frame, decoded.slice()), Status::ok);
    for (std::size_t i = 0; i < values.numbers(); ++i) {
      const double error = std::abs(decoded.at(i) - values.at(i)), most = allowed(codec, values.at(i));
      ASSERT_LE(error, most) << i;
      if (most > 0) worst = std::max(worst, error / most);
    }
  });
  const Bound bound = make()->contract().bound;
  if (!bound.exact() && bound.kind != Bound::Kind::rate) {
    EXPECT_GT(worst, 0.5);
  }
}

TEST_P(CodecConformance, EncodingTwiceGivesTheSameBytes) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    ASSERT_TRUE(encoded(codec, values.slice()) == encoded(codec, values.slice()));
  });
}

TEST_P(CodecConformance, FramesDescribeThemselves) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    const FrameBytes frame = encoded(codec, values.slice());
    FrameHeader header;
    ASSERT_EQ(read_header(frame, header), Status::ok);
    EXPECT_EQ(header.codec, GetParam().codec->frame_id);
    EXPECT_EQ(header.type, values.type());
    EXPECT_EQ(header.count, values.count());
    EXPECT_EQ(header.bound, codec.contract().bound);
    EXPECT_EQ(header.addends, 1u);
    EXPECT_EQ(header.payload_bytes + frame_header_bytes, frame.size());
    if (codec.contract().fixed_size) {
      EXPECT_EQ(frame.size(), codec.max_bytes(values.type(), values.count()));
    }
  });
}

TEST_P(CodecConformance, NothingIsWrittenBeyondTheFramesCapacity) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    const std::size_t most = codec.max_bytes(values.type(), values.count());
    FrameBytes room(most + 64, untouched);
    ASSERT_EQ(codec.encode(values.slice(), Bytes(room).first(most)).status, Status::ok);
    for (std::size_t i = most; i < room.size(); ++i) ASSERT_EQ(room[i], untouched);
  });
}

TEST_P(CodecConformance, TooLittleRoomIsRefusedWithoutATrace) {
  const auto codec = make();
  const Values values = make_values(DType::f32, 100, Pattern::smooth, 1);
  const std::size_t most = codec->max_bytes(DType::f32, 100);
  for (std::size_t room = 0; room < most; ++room) {
    FrameBytes out(most, untouched);
    ASSERT_EQ(codec->encode(values.slice(), Bytes(out).first(room)).status, Status::buffer_too_small);
    ASSERT_TRUE(out == FrameBytes(most, untouched)) << room;
  }
}

TEST_P(CodecConformance, SpecialValuesKeepTheirPlaceAndClass) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const DType type : types()) {
    for (const Bound bound : bounds()) {
      const auto codec = make(bound);
      for (const double special : {infinity, -infinity, std::nan(""), 3e38, -3e38, 1e-42, -0.0}) {
        for (const std::size_t at : {0u, 1u, 500u, 999u}) {
          Values values = make_values(type, 1000, Pattern::smooth, at), decoded(type, 1000);
          values.set(at, special);
          values.set((at * 7 + 3) % 1000, special);
          ASSERT_EQ(codec->decode(encoded(*codec, std::as_const(values).slice()), decoded.slice()),
                    Status::ok);
          for (std::size_t i = 0; i < values.numbers(); ++i) {
            if (std::isfinite(values.at(i))) {
              ASSERT_LE(std::abs(decoded.at(i) - values.at(i)), allowed(*codec, values.at(i)));
            } else {
              ASSERT_TRUE(decoded.at(i) == values.at(i) ||
                          (std::isnan(decoded.at(i)) && std::isnan(values.at(i))));
            }
          }
        }
      }
    }
  }
}

TEST_P(CodecConformance, ReduceIsDecodeThenOperate) {
  const auto codec = make();
  for (const DType type : types()) {
    for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
      for (const std::size_t count : counts) {
        const Values a = make_values(type, count, Pattern::noisy, 1),
                     b = make_values(type, count, Pattern::noisy, 2);
        Values fused = b, decoded(type, count), apart = b;
        const Status status = codec->reduce(encoded(*codec, a.slice()), fused.slice(), op);
        ASSERT_EQ(status, is_defined(op, type) ? Status::ok : Status::invalid_type);
        if (!is_defined(op, type)) continue;
        ASSERT_EQ(codec->decode(encoded(*codec, a.slice()), decoded.slice()), Status::ok);
        reduce_values(apart.slice(), std::as_const(decoded).slice(), op);
        ASSERT_TRUE(fused == apart) << name_of(type) << " " << name_of(op) << " " << count;
      }
    }
  }
}

// Compilers may change the order of the operands of an addition, and processors add NaN by different rules.
TEST_P(CodecConformance, ASumThatIsNaNHasTheSameBitsInEveryKernelSet) {
  constexpr std::size_t count = 5000;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::bit_cast<double>(0xFFFB'4000'0000'0000),
               other = std::bit_cast<double>(0x7FFC'8000'0000'0000);
  for (const DType type : types()) {
    if (info_of(type).family == Family::integer) continue;
    Values a = make_values(type, count, Pattern::smooth, 1), b = make_values(type, count, Pattern::noisy, 2);
    a.set(2000, {{nan, nan, infinity, infinity}});
    b.set(2000, {{other, 1.0, -infinity, 1.0}});
    b.set(7, {{nan, other}});  // beside numbers of the frame
    b.set(4998, {{other}});
    for (const auto& codec : with_all_kernels(*GetParam().codec, {.bound = usual_bound()})) {
      const FrameBytes frame = encoded(*codec, std::as_const(a).slice());
      Values decoded(type, count), sum = b, apart = b;
      ASSERT_EQ(codec->decode(frame, decoded.slice()), Status::ok);
      ASSERT_EQ(codec->reduce(frame, sum.slice(), Reduction::sum), Status::ok);
      reduce_values(apart.slice(), std::as_const(decoded).slice(), Reduction::sum);
      EXPECT_TRUE(std::isnan(sum.at(7)) && std::isnan(sum.at(2000)) && std::isnan(sum.at(2002)));
      EXPECT_TRUE(sum == apart) << name_of(type);
    }
  }
}

TEST_P(CodecConformance, OtherTypesAreRefused) {
  const auto codec = make();
  for (std::uint8_t code = 1; is_dtype(code); ++code) {
    if (GetParam().codec->serves(DType{code}, GetParam().kind)) continue;
    Values values(DType{code}, 100);
    FrameBytes room(std::max<std::size_t>(codec->max_bytes(DType{code}, 100), 4096));
    EXPECT_EQ(codec->encode(std::as_const(values).slice(), room).status, Status::invalid_type);
    EXPECT_EQ(codec->decode(room, values.slice()), Status::invalid_type);
    EXPECT_EQ(codec->reduce(room, values.slice(), Reduction::sum), Status::invalid_type);
  }
}

class IdempotentCodec : public CodecConformance {};

TEST_P(IdempotentCodec, DecodedValuesEncodeToThemselves) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    Values once(values.type(), values.count()), twice = once;
    ASSERT_EQ(codec.decode(encoded(codec, values.slice()), once.slice()), Status::ok);
    ASSERT_EQ(codec.decode(encoded(codec, std::as_const(once).slice()), twice.slice()), Status::ok);
    for (std::size_t i = 0; i < values.numbers(); ++i) ASSERT_EQ(once.at(i), twice.at(i)) << i;
  });
}

bool is_idempotent(const Contract& contract) { return contract.idempotent; }

INSTANTIATE_TEST_SUITE_P(All, IdempotentCodec, testing::ValuesIn(codec_cases(is_idempotent)), name_of_case);
INSTANTIATE_TEST_SUITE_P(All, CodecConformance, testing::ValuesIn(codec_cases()), name_of_case);

TEST(CodecRegistry, NamesAndIdsAreUnique) {
  for (const CodecInfo* a : registered_codecs()) {
    EXPECT_EQ(find_codec(a->name), a);
    for (const CodecInfo* b : registered_codecs()) {
      if (a != b) {
        EXPECT_NE(a->frame_id, b->frame_id);
      }
    }
  }
  EXPECT_EQ(find_codec("none of these"), nullptr);
}

}  // namespace
}  // namespace taut::test

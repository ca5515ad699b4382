// What every registered codec must do, whatever its format.
#include <gtest/gtest.h>

#include <limits>

#include "support/group.hpp"

namespace taut::test {
namespace {

constexpr std::size_t counts[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 1003, 4095, 4096, 4097, 20000};
constexpr double bounds[] = {1e-6, 1e-3, 1.0, 1e3};
constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::steps,
                                Pattern::wild};
constexpr std::byte untouched{0xA5};

using FrameBytes = std::vector<std::byte>;

FrameBytes encoded(const Codec& codec, ConstSlice values) {
  FrameBytes frame(codec.max_bytes(values.type, values.count));
  const Sized size = codec.encode(values, frame);
  EXPECT_EQ(size.status, Status::ok);
  EXPECT_LE(size.bytes, frame.size());
  frame.resize(size.bytes);
  return frame;
}

class CodecConformance : public testing::TestWithParam<const CodecInfo*> {
 protected:
  std::unique_ptr<Codec> make(double bound, bool checksum = false) const {
    return GetParam()->make({.bound = bound, .checksum = checksum});
  }
  // The bound that holds: 0 for codecs that lose nothing.
  static double kept(const Codec& codec) {
    return codec.contract().loss == Contract::Loss::none ? 0 : codec.contract().bound;
  }

  template <class Check>
  void for_all_inputs(Check check) const {
    std::uint64_t seed = 0;
    for (const double bound : bounds) {
      const auto codec = make(bound);
      for (const DType type : {DType::f32, DType::f64}) {
        for (const Pattern pattern : patterns) {
          for (const std::size_t count : counts) {
            SCOPED_TRACE(testing::Message() << "bound " << bound << " " << name_of(type) << " pattern "
                                            << static_cast<int>(pattern) << " count " << count);
            check(*codec, make_values(type, count, pattern, ++seed));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
};

TEST_P(CodecConformance, EveryValueComesBackWithinTheBound) {
  double worst = 0;
  for_all_inputs([&](const Codec& codec, const Values& values) {
    const FrameBytes frame = encoded(codec, values.slice());
    Values decoded(values.type(), values.count());
    ASSERT_EQ(codec.decode(frame, decoded.slice()), Status::ok);
    for (std::size_t i = 0; i < values.count(); ++i) {
      const double error = std::abs(decoded.at(i) - values.at(i));
      ASSERT_LE(error, kept(codec)) << i;
      if (kept(codec) > 0) worst = std::max(worst, error / kept(codec));
    }
  });
  if (make(1)->contract().loss != Contract::Loss::none) {
    EXPECT_GT(worst, 0.5);
  }
}

TEST_P(CodecConformance, EncodingTwiceGivesTheSameBytes) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    ASSERT_TRUE(encoded(codec, values.slice()) == encoded(codec, values.slice()));
  });
}

TEST_P(CodecConformance, DecodedValuesEncodeToThemselves) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    Values once(values.type(), values.count()), twice = once;
    ASSERT_EQ(codec.decode(encoded(codec, values.slice()), once.slice()), Status::ok);
    ASSERT_EQ(codec.decode(encoded(codec, std::as_const(once).slice()), twice.slice()), Status::ok);
    for (std::size_t i = 0; i < values.count(); ++i) ASSERT_EQ(once.at(i), twice.at(i)) << i;
  });
}

TEST_P(CodecConformance, FramesDescribeThemselves) {
  for_all_inputs([](const Codec& codec, const Values& values) {
    const FrameBytes frame = encoded(codec, values.slice());
    FrameHeader header;
    ASSERT_EQ(read_header(frame, header), Status::ok);
    EXPECT_EQ(header.codec, GetParam()->frame_id);
    EXPECT_EQ(header.type, values.type());
    EXPECT_EQ(header.count, values.count());
    EXPECT_EQ(header.bound, kept(codec));
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
  const auto codec = make(1e-3);
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
  for (const DType type : {DType::f32, DType::f64}) {
    for (const double bound : bounds) {
      const auto codec = make(bound);
      for (const double special : {infinity, -infinity, std::nan(""), 3e38, -3e38, 1e-42, -0.0}) {
        for (const std::size_t at : {0u, 1u, 500u, 999u}) {
          Values values = make_values(type, 1000, Pattern::smooth, at), decoded(type, 1000);
          values.set(at, special);
          values.set((at * 7 + 3) % 1000, special);
          ASSERT_EQ(codec->decode(encoded(*codec, std::as_const(values).slice()), decoded.slice()),
                    Status::ok);
          for (std::size_t i = 0; i < 1000; ++i) {
            if (std::isfinite(values.at(i))) {
              ASSERT_LE(std::abs(decoded.at(i) - values.at(i)), kept(*codec));
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

// ---- Bytes from elsewhere

TEST_P(CodecConformance, EveryTruncationIsRejected) {
  for (const bool checksum : {false, true}) {
    const auto codec = make(1e-3, checksum);
    Values values = make_values(DType::f32, 5000, Pattern::noisy, 1);
    const FrameBytes frame = encoded(*codec, std::as_const(values).slice());
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const FrameBytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_NE(codec->decode(cut, values.slice()), Status::ok) << n;
      ASSERT_NE(codec->reduce(cut, values.slice(), Reduction::sum), Status::ok) << n;
    }
  }
}

TEST_P(CodecConformance, HeadersThatLieAboutTheirPayloadAreRejected) {
  const auto codec = make(1e-3);
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

TEST_P(CodecConformance, FlippedBitsAreRejectedUnderAChecksumAndHarmlessWithout) {
  for (const bool checksum : {false, true}) {
    const auto codec = make(1e-3, checksum);
    Values values = make_values(DType::f64, 3000, Pattern::noisy, 1);
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

TEST_P(CodecConformance, RandomPayloadsBehindAGoodHeaderDoNoHarm) {
  const auto codec = make(1e-3);
  Values values = make_values(DType::f32, 10000, Pattern::smooth, 1);
  const FrameBytes good = encoded(*codec, std::as_const(values).slice());
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    FrameBytes bad = good;
    for (int k = 0; k < 1 + round % 40; ++k)
      bad[frame_header_bytes + random() % (bad.size() - frame_header_bytes)] = std::byte(random());
    codec->decode(bad, values.slice());
    codec->reduce(bad, values.slice(), Reduction::sum);
  }
}

TEST_P(CodecConformance, OtherTypesAndCountsAreRefused) {
  const auto codec = make(1e-3);
  const Values values = make_values(DType::f32, 1000, Pattern::smooth, 1);
  const FrameBytes frame = encoded(*codec, values.slice());
  for (const auto& [type, count] :
       {std::pair{DType::f64, 1000u}, {DType::f64, 500u}, {DType::f32, 999u}, {DType::f32, 1001u}}) {
    Values other(type, count);
    EXPECT_EQ(codec->decode(frame, other.slice()), Status::frame_mismatch);
  }
}

// ---- Combining

TEST_P(CodecConformance, ReduceIsDecodeThenOperate) {
  const auto codec = make(1e-2);
  for (const DType type : {DType::f32, DType::f64}) {
    for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
      for (const std::size_t count : counts) {
        const Values a = make_values(type, count, Pattern::noisy, 1),
                     b = make_values(type, count, Pattern::noisy, 2);
        Values fused = b, decoded(type, count), apart = b;
        ASSERT_EQ(codec->reduce(encoded(*codec, a.slice()), fused.slice(), op), Status::ok);
        ASSERT_EQ(codec->decode(encoded(*codec, a.slice()), decoded.slice()), Status::ok);
        reduce_values(apart.slice(), std::as_const(decoded).slice(), op);
        ASSERT_TRUE(fused == apart) << name_of(type) << " " << name_of(op) << " " << count;
      }
    }
  }
}

class AddingCodec : public CodecConformance {
 protected:
  static FrameBytes sum(const Codec& codec, const Values& kind, std::span<const ConstBytes> frames,
                        std::uint32_t addends) {
    FrameBytes out(codec.max_bytes(kind.type(), kind.count(), addends));
    const Sized size = codec.arithmetic()->sum(frames, out);
    EXPECT_EQ(size.status, Status::ok);
    out.resize(size.bytes);
    return out;
  }
};

// The law: frames add up to the sum of the decoded values, in any order and grouping the same bytes.
TEST_P(AddingCodec, SumsAreExactAndOrderDoesNotMatter) {
  for (const double bound : {1e-4, 1.0}) {
    const auto codec = make(bound);
    for (const DType type : {DType::f32, DType::f64}) {
      for (const Pattern pattern : patterns) {
        for (const std::size_t count : {0u, 1u, 65u, 5000u}) {
          SCOPED_TRACE(testing::Message()
                       << bound << " " << name_of(type) << " " << static_cast<int>(pattern) << " " << count);
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
          for (std::size_t i = 0; i < count; ++i) {
            const long double exact = static_cast<long double>(a.at(i)) + b.at(i) + c.at(i);
            ASSERT_LE(std::abs(total.at(i) - exact),
                      3 * bound + spacing(type, static_cast<double>(exact)) * 0.5001);
          }
        }
      }
    }
  }
}

TEST_P(AddingCodec, AccumulateIsEncodeThenSum) {
  const auto codec = make(1e-3);
  for (const DType type : {DType::f32, DType::f64}) {
    for (const Pattern pattern : patterns) {
      for (const std::size_t count : counts) {
        SCOPED_TRACE(testing::Message() << name_of(type) << " " << static_cast<int>(pattern) << " " << count);
        const Values a = make_values(type, count, pattern, 1), b = make_values(type, count, pattern, 2);
        const FrameBytes fa = encoded(*codec, a.slice()), fb = encoded(*codec, b.slice());
        FrameBytes fused(codec->max_bytes(type, count, 2));
        const Sized size = codec->arithmetic()->accumulate(fa, b.slice(), fused);
        ASSERT_EQ(size.status, Status::ok);
        fused.resize(size.bytes);
        ASSERT_TRUE(fused == sum(*codec, a, std::vector<ConstBytes>{fa, fb}, 2));
        FrameHeader header;
        ASSERT_EQ(read_header(fused, header), Status::ok);
        ASSERT_EQ(header.addends, 2u);
      }
    }
  }
}

TEST_P(AddingCodec, FramesThatDoNotBelongTogetherAreRefused) {
  const auto codec = make(1e-3), coarser = make(1e-2);
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

std::vector<const CodecInfo*> codecs_where(bool adds_frames) {
  std::vector<const CodecInfo*> some;
  for (const CodecInfo* codec : registered_codecs())
    if (!adds_frames || codec->make({.bound = 1})->contract().adds_frames) some.push_back(codec);
  return some;
}
std::string name_of_codec(const testing::TestParamInfo<const CodecInfo*>& info) { return info.param->name; }

INSTANTIATE_TEST_SUITE_P(All, CodecConformance, testing::ValuesIn(codecs_where(false)), name_of_codec);
INSTANTIATE_TEST_SUITE_P(All, AddingCodec, testing::ValuesIn(codecs_where(true)), name_of_codec);

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

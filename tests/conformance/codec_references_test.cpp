// References of frames: they change the bytes of a frame, never the values that it decodes to.
#include "conformance/codec_test.hpp"
#include "support/histories.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace {

class CodecReferences : public CodecConformance {
 protected:
  static std::vector<const char*> predictors() {
    if (std::string_view(GetParam().codec->name) == "planes")
      return {"auto", "none", "delta", "pairs", "second", "delta+64"};
    if (std::string_view(GetParam().codec->name) == "mpc") return {"auto", "d0", "d1", "d8", "d1+64"};
    return {"auto"};
  }
  static std::unique_ptr<Codec> make_for(const char* predictor, int threads = 1) {
    return GetParam().codec->make({.bound = usual_bound(), .predictor = predictor, .threads = threads});
  }
};

constexpr std::size_t lengths[] = {0, 1, 63, 64, 1003, 4096, 4097, 12289, 40961};

TEST_P(CodecReferences, LeaveTheValuesAsTheyAre) {
  std::uint64_t seed = 0;
  for (const char* predictor : predictors()) {
    const auto codec = make_for(predictor), plain = make();
    for (const DType type : types()) {
      for (const std::size_t count : lengths) {
        const bool special = ++seed % 2 == 0, decoded = seed % 3 != 0;
        History history(type, count, patterns[seed % std::size(patterns)], seed, special);
        if (decoded) history.decode_earlier(*plain);
        const Values expected = values_of(*plain, frame_of(*plain, history.now), history.now);
        for (const std::size_t n : {0u, 1u, 2u}) {
          SCOPED_TRACE(testing::Message() << predictor << " " << name_of(type) << " " << count << " " << n);
          const auto references = history.references(n);
          const FrameBytes frame = frame_of(*codec, history.now, references);
          ASSERT_TRUE(values_of(*codec, frame, history.now, references) == expected);
          ASSERT_TRUE(values_of(*plain, frame, history.now, references) == expected);
          Values sum = history.before, other = history.before;
          if (!is_defined(Reduction::sum, type)) continue;
          ASSERT_EQ(codec->reduce(frame, references, sum.slice(), Reduction::sum), Status::ok);
          ASSERT_EQ(plain->reduce(frame_of(*plain, history.now), other.slice(), Reduction::sum), Status::ok);
          ASSERT_TRUE(sum == other);
        }
      }
    }
  }
}

TEST_P(CodecReferences, MayBeOverwrittenByTheValuesUnderMpc) {
  if (std::string_view(GetParam().codec->name) != "mpc") return;
  std::uint64_t seed = 0;
  for (const DType type : types()) {
    for (const std::size_t count : {std::size_t{63}, std::size_t{4097}, std::size_t{140001}}) {
      const auto codec = make_for("auto", 1 + static_cast<int>(++seed % 3));
      const History history(type, count, patterns[seed % std::size(patterns)], seed, seed % 2 == 0);
      const auto references = history.references(1 + seed % 2);
      const FrameBytes frame = frame_of(*codec, history.now, references);
      const Values expected = values_of(*codec, frame, history.now, references);
      Values both = history.before;
      auto in_place = references;
      in_place[0].values = std::as_const(both).slice();
      ASSERT_EQ(codec->decode(frame, in_place, both.slice()), Status::ok);
      ASSERT_TRUE(both == expected) << name_of(type) << count;
    }
  }
}

// Sampling finds what references save where most of the values are zeros.
TEST_P(CodecReferences, HelpWhereAFewValuesAreNotZero) {
  if (std::string_view(GetParam().codec->name) != "planes") return;
  History history(DType::f32, 24576, Pattern::noisy, 5);
  Values few(DType::f32, 24576);
  std::vector<double> noise(1000);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = history.now.at(i);
  few.set(300, noise);
  history.now = history.before = few;
  const auto codec = make_for("auto");
  EXPECT_LT(2 * frame_of(*codec, few, history.references(1)).size(), frame_of(*codec, few).size());
}

TEST_P(CodecReferences, OfNoUseChangeNoByte) {
  for (const DType type : types()) {
    const auto codec = make_for("auto");
    const History alike(type, 20000, Pattern::smooth, 1), other(type, 20000, Pattern::wild, 2);
    EXPECT_TRUE(frame_of(*codec, alike.now, other.references(2)) == frame_of(*codec, alike.now))
        << name_of(type);
  }
}

TEST_P(CodecReferences, OtherThanThoseOfTheFrameAreRefused) {
  for (const DType type : types()) {
    for (const char* predictor : predictors()) {
      const auto codec = make_for(predictor);
      for (const std::size_t n : {1u, 2u}) {
        const History history(type, 9000, Pattern::noisy, 5);
        const auto good = history.references(n);
        const FrameBytes frame = frame_of(*codec, history.now, good);
        const bool predicted = GetParam().codec->takes_references && reference_count(header_of(frame)) == n;
        if (!predicted) continue;  // by `auto`, which may use fewer
        Values out(type, 9000), shorter(type, 8999);
        const auto decode = [&](const std::vector<taut::Reference>& references) {
          return codec->decode(frame, references, out.slice());
        };
        ASSERT_EQ(codec->decode(frame, out.slice()), Status::corrupt_frame);
        ASSERT_EQ(codec->reduce(frame, out.slice(), Reduction::max) == Status::ok, false);
        ASSERT_EQ(decode({}), Status::corrupt_frame);
        ASSERT_EQ(decode(history.references(3 - n)), n == 1 ? Status::ok : Status::corrupt_frame);
        ASSERT_EQ(decode({reference_to(history.now), good.back()}), Status::corrupt_frame);
        if (n == 2 && good[0].state != good[1].state) {  // integers may be equal
          ASSERT_EQ(decode({good[1], good[0]}), Status::corrupt_frame);
        }
        auto other_count = good;
        other_count[0].values = std::as_const(shorter).slice();
        ASSERT_EQ(decode(other_count), Status::corrupt_frame);
        ASSERT_EQ(decode({good[0], good[n - 1], good[0]}), Status::corrupt_frame);
        ASSERT_EQ(decode(good), Status::ok);
      }
    }
  }
}

TEST_P(CodecReferences, ThatDoNotFitTheValuesAreAnError) {
  if (!GetParam().codec->takes_references) return;
  for (const DType type : types()) {
    const auto codec = make_for("auto");
    const Values values = make_values(type, 100, Pattern::smooth, 1),
                 longer = make_values(type, 101, Pattern::smooth, 1);
    FrameBytes room(codec->max_bytes(type, 100));
    const taut::Reference good = reference_to(values), bad = reference_to(longer);
    const auto status = [&](const std::vector<taut::Reference>& references) {
      return codec->encode(values.slice(), references, room).status;
    };
    EXPECT_EQ(status({bad}), Status::invalid_argument);
    EXPECT_EQ(status({good, bad}), Status::invalid_argument);
    EXPECT_EQ(status({good, good, good}), Status::invalid_argument);
    EXPECT_EQ(status({good, good}), Status::ok);
  }
}

TEST_P(CodecReferences, GiveTheSameFrameWithAnyNumberOfThreads) {
  for (const DType type : types()) {
    for (const char* predictor : predictors()) {
      if (!is_sampled()) continue;
      const auto one = make_for(predictor), many = make_for(predictor, 3);
      const History history(type, 140001, Pattern::noisy, 7, true);
      const auto references = history.references(2);
      const FrameBytes frame = frame_of(*one, history.now, references);
      ASSERT_TRUE(frame_of(*many, history.now, references) == frame) << name_of(type) << predictor;
      ASSERT_TRUE(values_of(*many, frame, history.now, references) ==
                  values_of(*one, frame, history.now, references));
    }
  }
}

TEST_P(CodecReferences, DamagedFramesWithThemDoNoHarm) {
  std::mt19937_64 random(11);
  for (const DType type : types()) {
    const History history(type, 5003, Pattern::noisy, 9, true);
    const auto references = history.references(2);
    const auto codec = make_for(predictors().size() > 1 ? predictors()[1] : "auto"),
               lagged = make_for(predictors().back());
    const FrameBytes frames[] = {frame_of(*codec, history.now, references),
                                 frame_of(*lagged, history.now, references)};
    Values out(type, 5003);
    for (int round = 0; round < 400; ++round) {
      const FrameBytes& good = frames[round % 8 / 4];
      FrameBytes bad = good;
      FrameHeader header = header_of(good);
      for (std::size_t k = 0; k < 1 + random() % 4; ++k) {
        const std::size_t at = frame_header_bytes + (round % 2 == 0 ? 16 : 0) +
                               random() % (round % 4 < 2 ? 64 : good.size() - frame_header_bytes - 16);
        if (at < bad.size()) bad[at] ^= std::byte(1 << random() % 8);
      }
      if (round % 5 == 0) header.parameters[random() % 4] = static_cast<std::uint8_t>(random() % 5);
      if (round % 7 == 0) header.payload_bytes -= random() % header.payload_bytes;
      write_header(header, bad);
      codec->decode(bad, references, out.slice());
      codec->decode(bad, out.slice());
      if (is_defined(Reduction::sum, type)) codec->reduce(bad, references, out.slice(), Reduction::sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CodecReferences, testing::ValuesIn(codec_cases()), name_of_case);

}  // namespace
}  // namespace taut::test

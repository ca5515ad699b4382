// References in frames of planes and mpc: what they save, kernel sets, sums, and what sums refuse.
#include "support/exact_values.hpp"
#include "support/histories.hpp"
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace references_test {

constexpr DType real_types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64, DType::c128};

std::unique_ptr<Codec> planes_with(const char* predictor, double e = 1e-2, const char* kernels = "") {
  return find_codec("planes")->make({.bound = e, .predictor = predictor, .kernels = kernels});
}

FrameBytes sum_of(const Codec& codec, const std::vector<FrameBytes>& frames) {
  std::vector<ConstBytes> views(frames.begin(), frames.end());
  std::uint32_t addends = 0;
  for (const FrameBytes& frame : frames) addends += header_of(frame).addends;
  const FrameHeader header = header_of(frames[0]);
  FrameBytes sum(codec.max_bytes(header.type, header.count, addends));
  const SizeOrStatus size = codec.arithmetic()->sum(views, sum);
  EXPECT_EQ(size.status, Status::ok);
  sum.resize(size.bytes);
  return sum;
}

TEST(References, MakeFramesOfAlikeMessagesShort) {
  for (const std::size_t count : {3000u, 100000u}) {
    const History history(DType::f64, count, Pattern::noisy, 1);
    const auto planes = planes_with("auto", 1e-4);
    const auto size = [&](const Codec& codec, std::size_t n) {
      return frame_of(codec, history.now, history.references(n)).size();
    };
    EXPECT_LT(3 * size(*planes, 1), 2 * size(*planes, 0));
    EXPECT_LT(3 * size(*planes, 2), 2 * size(*planes, 1));
    EXPECT_LT(11 * size(*mpc_codec(), 1), 10 * size(*mpc_codec(), 0));
  }
}

TEST(References, ThatEqualTheMessageLeaveNextToNothing) {
  for (const auto& codec : {planes_with("auto"), mpc_codec()}) {
    const Values values = make_values(DType::f32, 100000, Pattern::noisy, 3);
    const Values same = values_of(*codec, frame_of(*codec, values), values);
    const taut::Reference reference = reference_to(same);
    EXPECT_LT(frame_of(*codec, values, {&reference, 1}).size(), 600u);
  }
}

// Estimates drop predictions by their first pieces, which need not be like the others.
TEST(References, AreOfNoUseWhereMostPiecesAreShorterAlone) {
  constexpr std::size_t count = std::size_t{1} << 18, part = count / 16;
  enum class First { zeros, unchanged };
  for (const First first : {First::zeros, First::unchanged}) {
    Values now = make_values(DType::f32, count, Pattern::smooth, 3),
           before = make_values(DType::f32, count, Pattern::noisy, 4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i / part % 5 != 0) continue;
      if (first == First::zeros) now.set(i, 0.0);
      before.set(i, now.at(i));
    }
    const auto planes = planes_with("auto", 1e-3);
    const taut::Reference reference = reference_to(before);
    EXPECT_LE(frame_of(*planes, now, {&reference, 1}).size(), 11 * frame_of(*planes, now).size() / 10);
  }
}

TEST(References, AllKernelSetsWriteTheSameFrames) {
  for (const DType type : real_types) {
    for (const char* predictor : {"none", "delta", "pairs", "second", "delta+64", "none+8000"}) {
      for (const double e : {1e-1, 1e-3, 2e-5, 1e-5}) {
        const auto scalar = planes_with(predictor, e, "scalar");
        History history(type, 9001, Pattern::noisy, 4, e > 1e-2);
        history.decode_earlier(*scalar);
        const auto references = history.references(2);
        const FrameBytes frame = frame_of(*scalar, history.now, references);
        const Values values = values_of(*scalar, frame, history.now, references);
        for (const char* kernels : kernel_names()) {
          const auto codec = planes_with(predictor, e, kernels);
          ASSERT_TRUE(frame_of(*codec, history.now, references) == frame) << kernels << predictor;
          ASSERT_TRUE(values_of(*codec, frame, history.now, references) == values) << kernels << predictor;
        }
      }
    }
  }
  for (const DType type : {DType::u8, DType::bf16, DType::f32, DType::f64}) {
    const History history(type, 9001, Pattern::noisy, 4, true);
    const auto references = history.references(2);
    const FrameBytes frame = frame_of(*mpc_codec("d1", "scalar"), history.now, references);
    for (const char* kernels : mpc_kernel_names()) {
      const auto codec = mpc_codec("d1", kernels);
      ASSERT_TRUE(frame_of(*codec, history.now, references) == frame) << kernels;
      ASSERT_TRUE(values_of(*codec, frame, history.now, references) == history.now) << kernels;
    }
  }
}

TEST(References, OfFramesThatNeedLayersAreLeftOut) {
  History wild(DType::f32, 9000, Pattern::wild, 1);
  EXPECT_EQ(reference_count(header_of(frame_of(*planes_with("delta"), wild.now, wild.references(1)))), 0u);
}

// ---- Sums

TEST(References, SumsAreThoseWithout) {
  const auto plain = planes_with("delta");
  std::mt19937_64 random(5);
  constexpr const char* predictors[] = {"none", "delta", "second", "none+64", "delta+64", "second+5000"};
  int with_lag = 0;
  for (int round = 0; round < 96; ++round) {
    const DType type = real_types[random() % std::size(real_types)];
    const std::size_t count = round % 3 == 0 ? 4097 : 9001;
    History history(type, count, round % 2 == 0 ? Pattern::smooth : Pattern::noisy, random(), round % 4 == 0);
    history.decode_earlier(*plain);
    const auto references = history.references(1 + random() % 2);
    std::vector<FrameBytes> with, without;
    for (std::size_t k = 0; k < 2 + random() % 7; ++k) {
      const char* const common = round % 4 == 0 ? "delta" : "delta+64";
      const auto codec = planes_with(round % 2 == 0 ? common : predictors[random() % std::size(predictors)]);
      Values x = history.now;
      for (std::size_t i = 0; i < x.numbers(); ++i)
        x.set(i, x.at(i) + 0.01 * static_cast<double>(random() % 9));
      if (round % 4 == 0) set_special(x, random());
      const FrameBytes frame = frame_of(*codec, x, references);
      if (reference_count(header_of(frame)) != references.size()) continue;  // a chunk is a layer
      with.push_back(frame);
      without.push_back(frame_of(*plain, x));
    }
    if (with.size() < 2) continue;
    const FrameBytes sum = sum_of(*plain, with), expected = sum_of(*plain, without);
    ASSERT_EQ(reference_count(header_of(sum)), references.size());
    with_lag += header_of(sum).parameters[1];
    ASSERT_TRUE(round % 4 != 2 || header_of(sum).parameters[1] == 1);
    ASSERT_TRUE(values_of(*plain, sum, history.now, references) == values_of(*plain, expected, history.now))
        << name_of(type) << " " << round;
    FrameBytes more, expected_more;
    const Values x = history.before;
    ASSERT_EQ(accumulated(*plain, sum, x, references, more).status, Status::ok);
    ASSERT_EQ(accumulated(*plain, expected, x, {}, expected_more).status, Status::ok);
    ASSERT_TRUE(values_of(*plain, more, x, references) == values_of(*plain, expected_more, x))
        << name_of(type) << " " << round;
  }
  EXPECT_GT(with_lag, 15);
}

TEST(References, AccumulatingWhatNeedsALayerLeavesThemOut) {
  for (const char* predictor : {"delta", "delta+64"}) {
    const auto codec = planes_with(predictor), usual = planes_with("delta");
    const History history(DType::f32, 9000, Pattern::noisy, 6);
    const auto references = history.references(2);
    const FrameBytes frame = frame_of(*codec, history.now, references), plain = frame_of(*usual, history.now);
    const Values wild = make_values(DType::f32, 9000, Pattern::wild, 2);
    FrameBytes sum, expected;
    ASSERT_EQ(accumulated(*codec, frame, wild, references, sum).status, Status::ok);
    ASSERT_EQ(accumulated(*usual, plain, wild, {}, expected).status, Status::ok);
    EXPECT_EQ(reference_count(header_of(sum)), 0u);
    EXPECT_EQ(header_of(sum).parameters[1], 0);
    EXPECT_TRUE(values_of(*codec, sum, wild) == values_of(*codec, expected, wild));
  }
}

TEST(References, OfAddendsHaveToBeTheSame) {
  const auto codec = planes_with("delta");
  const History history(DType::f32, 5000, Pattern::noisy, 7);
  const auto both = history.references(2);
  const std::vector<taut::Reference> one{both[0]}, other{both[1]}, swapped{both[1], both[0]};
  const std::vector<FrameBytes> frames{
      frame_of(*codec, history.now), frame_of(*codec, history.now, one), frame_of(*codec, history.now, other),
      frame_of(*codec, history.now, both), frame_of(*codec, history.now, swapped)};
  FrameBytes room(codec->max_bytes(DType::f32, 5000, 2));
  for (const FrameBytes& a : frames) {
    for (const FrameBytes& b : frames) {
      const ConstBytes pair[] = {a, b};
      EXPECT_EQ(codec->arithmetic()->sum(pair, room).status, &a == &b ? Status::ok : Status::frame_mismatch);
    }
  }
  EXPECT_EQ(codec->arithmetic()->accumulate(frames[1], history.now.slice(), room).status,
            Status::corrupt_frame);
  EXPECT_EQ(codec->arithmetic()->accumulate(frames[1], history.now.slice(), other, room).status,
            Status::corrupt_frame);
}

TEST(References, SumsHaveAtMost255Addends) {
  const auto codec = planes_with("delta");
  const History history(DType::f32, 4096, Pattern::noisy, 8);
  const auto references = history.references(1);
  const FrameBytes one = frame_of(*codec, history.now, references), plain = frame_of(*codec, history.now);
  FrameBytes sum = one, expected = plain;
  for (std::uint32_t addends = 2; addends < 256; ++addends) {
    sum = sum_of(*codec, {sum, one});
    expected = sum_of(*codec, {expected, plain});
  }
  EXPECT_TRUE(values_of(*codec, sum, history.now, references) == values_of(*codec, expected, history.now));
  FrameBytes room(codec->max_bytes(DType::f32, 4096, 256));
  const ConstBytes pair[] = {sum, one};
  EXPECT_EQ(codec->arithmetic()->sum(pair, room).status, Status::invalid_count);
  ASSERT_EQ(accumulated(*codec, sum, history.now, references, room).status, Status::ok);
  EXPECT_EQ(reference_count(header_of(room)), 0u);
  EXPECT_TRUE(values_of(*codec, room, history.now) ==
              values_of(*codec, sum_of(*codec, {expected, plain}), history.now));
}

// ---- Formats

// Returns the frame with one lag of 64 more, after `at` bytes of the payload.
FrameBytes with_lag_more(FrameBytes frame, std::size_t at) {
  FrameHeader header = header_of(frame);
  ++header.parameters[1];
  header.payload_bytes += 4;
  const std::byte lag[4] = {std::byte{64}};
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(frame_header_bytes + at), lag, lag + 4);
  write_header(header, frame);
  return frame;
}

TEST(References, HaveAtMostOneLagBehindThem) {
  const auto codec = planes_with("delta"), lagged = planes_with("delta+64");
  const History history(DType::f32, 5000, Pattern::noisy, 9);
  Values out(DType::f32, 5000);
  for (const std::size_t n : {0u, 1u, 2u}) {
    const auto references = history.references(n);
    const auto decode = [&](const Codec& by, std::size_t lags) {
      FrameBytes frame = frame_of(by, history.now, references);
      EXPECT_EQ(header_of(frame).parameters[2], n);
      while (header_of(frame).parameters[1] < lags) frame = with_lag_more(frame, 8 * n);
      return codec->decode(frame, references, out.slice());
    };
    EXPECT_EQ(decode(*codec, 1), Status::ok);
    EXPECT_EQ(decode(*lagged, 1), Status::ok);
    EXPECT_EQ(decode(*lagged, 2), n == 0 ? Status::ok : Status::corrupt_frame);
  }
  auto of_addend = history.references(1);
  of_addend[0].by_addend = true;
  FrameBytes frame(codec->max_bytes(DType::f32, 5000, 2));
  frame.resize(codec->encode(history.now.slice(), of_addend, frame).bytes);
  EXPECT_EQ(codec->decode(frame, of_addend, out.slice()), Status::ok);
  EXPECT_EQ(codec->decode(with_lag_more(frame, 8), of_addend, out.slice()), Status::corrupt_frame);
}

TEST(References, OfAHeaderThatCannotBeAreRefused) {
  for (const auto& codec : {planes_with("delta"), mpc_codec("d1")}) {
    const History history(DType::f32, 5000, Pattern::noisy, 9);
    const auto references = history.references(1);
    FrameBytes frame = frame_of(*codec, history.now, references);
    FrameHeader header = header_of(frame);
    ASSERT_EQ(header.parameters[2], 1);
    Values out(DType::f32, 5000);
    for (const auto& [at, value] : {std::pair{1, 1}, {2, 2}, {2, 3}, {2, 4}, {2, 255}}) {
      FrameHeader other = header;
      other.parameters[at] = static_cast<std::uint8_t>(value);
      if (codec->contract().adds_frames && value == 3) continue;  // a reference for each addend
      write_header(other, frame);
      EXPECT_EQ(codec->decode(frame, references, out.slice()), Status::corrupt_frame) << at << " " << value;
    }
  }
}

TEST(References, OfLagsThatAreNamedAreUsedBeforeOneLagOfPlanes) {
  const History history(DType::f32, 5000, Pattern::noisy, 9);
  const auto used = [&](const Codec& codec) {
    const FrameHeader header = header_of(frame_of(codec, history.now, history.references(2)));
    return std::pair<int, int>{header.parameters[1], header.parameters[2]};
  };
  EXPECT_EQ(used(*planes_with("delta+64")), (std::pair{1, 2}));
  EXPECT_EQ(used(*planes_with("delta+64+128")), (std::pair{2, 0}));
  EXPECT_EQ(used(*mpc_codec("d1+64")), (std::pair{1, 0}));
}

// ---- A row as a lag behind references

constexpr Dims rows_of_64{{400, 64}, 2};

// Two messages whose difference is alike from row to row (of 64 values) up to noise.
History alike_in_rows(DType type, double noise) {
  History history(type, 400 * 64, Pattern::noisy, 12);
  std::mt19937_64 random(13);
  std::vector<double> change(64);
  for (double& x : change) x = static_cast<double>(random() % 2000) / 1000;
  for (std::size_t i = 0; i < history.now.numbers(); ++i)
    history.now.set(
        i, history.before.at(i) + change[i % 64] + noise * static_cast<double>(random() % 1000) / 1000);
  return history;
}

TEST(References, HaveRowsBehindThemWhereThatMakesFramesShorter) {
  for (const DType type : {DType::f32, DType::f64}) {
    const History history = alike_in_rows(type, 0.04);
    const auto references = history.references(1);
    const auto plain = planes_with("auto"),
               rows = find_codec("planes")->make({.bound = 1e-2, .dims = rows_of_64});
    const FrameBytes frame = frame_of(*rows, history.now, references);
    EXPECT_EQ(header_of(frame).parameters[1], 1);
    EXPECT_EQ(header_of(frame).parameters[2], 1);
    EXPECT_LT(2 * frame.size(), frame_of(*plain, history.now, references).size());
    EXPECT_TRUE(values_of(*plain, frame, history.now, references) ==
                values_of(*plain, frame_of(*plain, history.now), history.now));
  }
}

// Differences, and differences of these, of integers with 22 bits whose signs are random.
TEST(References, BeforeALagStayWithinTheLargestFrame) {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const double e = size_of(type) == 2 ? 0x1p-14 : 0x1p-22;
    const auto plain = planes_with("delta", e);
    History history(type, 9001, Pattern::noisy, 15);
    std::mt19937_64 random(16);
    for (std::size_t i = 0; i < history.now.numbers(); ++i) {
      const double sign = random() % 2 == 0 ? 1 : -1;
      history.now.set(i, sign * (1 - 0x1p-12 * static_cast<double>(random() % 9)));
      history.before.set(i, -sign);
      history.earlier.set(i, sign);
    }
    const auto references = history.references(2);
    std::vector<FrameBytes> with, without;
    for (const char* predictor : {"second+64", "second+64", "none+64", "delta"}) {
      with.push_back(frame_of(*planes_with(predictor, e), history.now, references));
      without.push_back(frame_of(*plain, history.now));
      ASSERT_TRUE(values_of(*plain, with.back(), history.now, references) ==
                  values_of(*plain, without.back(), history.now));
    }
    if (size_of(type) == 2) continue;  // differences of halves take more bytes than these have
    const FrameBytes alike = sum_of(*plain, {with[0], with[1]}), all = sum_of(*plain, with);
    EXPECT_EQ(header_of(alike).parameters[1], 1);
    EXPECT_EQ(header_of(all).parameters[1], 0);
    EXPECT_TRUE(values_of(*plain, alike, history.now, references) ==
                values_of(*plain, sum_of(*plain, {without[0], without[1]}), history.now));
    EXPECT_TRUE(values_of(*plain, all, history.now, references) ==
                values_of(*plain, sum_of(*plain, without), history.now));
  }
}

TEST(References, AreAloneWhereRowsGainNothing) {
  const History history(DType::f32, 400 * 64, Pattern::noisy, 14);
  for (const std::size_t n : {1u, 2u}) {
    const auto references = history.references(n);
    const auto rows = find_codec("planes")->make({.bound = 1e-4, .dims = rows_of_64});
    const FrameBytes frame = frame_of(*rows, history.now, references);
    ASSERT_EQ(reference_count(header_of(frame)), n);
    EXPECT_TRUE(frame == frame_of(*planes_with("auto", 1e-4), history.now, references));
  }
}

TEST(StateNumbers, TellArraysApart) {
  const Values values = make_values(DType::f32, 1003, Pattern::noisy, 1);
  const std::uint64_t state = state_number_of(values.slice());
  Values other = values;
  for (std::size_t i = 0; i < values.numbers(); ++i) {
    other.set(i, -values.at(i));
    EXPECT_NE(state_number_of(std::as_const(other).slice()), state) << i;
    other.set(i, values.at(i));
  }
  for (std::size_t i = 0; i < values.numbers(); i += 16) other.set(i, -values.at(i));
  EXPECT_NE(state_number_of(std::as_const(other).slice()), state);
  const ConstSlice slice = values.slice();
  EXPECT_NE(state_number_of({slice.part(0, 1002)}), state);
  EXPECT_NE(state_number_of({{slice.data, slice.count, DType::i32}}), state);
  EXPECT_EQ(state_number_of({{slice.data, slice.count, DType::f32}}), state);
}

TEST(StateNumbers, AreThoseOfTheSpecification) {
  std::vector<std::uint8_t> bytes(200);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(7 * i);
  const auto state = [&](std::size_t n) { return state_number_of({{bytes.data(), n, DType::u8}}); };
  EXPECT_EQ(state(0), 0xA4C110A060B1A022u);
  EXPECT_EQ(state(64), 0xEEB7060000DFDAE1u);
  EXPECT_EQ(state(200), 0x727B0C8E341E3884u);
}

}  // namespace references_test
}  // namespace taut::test

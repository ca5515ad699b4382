// Promise: behind references, float64 chunks may have 64-bit integers, and decode to what they decode to
// without references.
#include <algorithm>

#include "support/exact_values.hpp"
#include "support/histories.hpp"

namespace taut::test {
namespace planes_wide_references_test {

using planes::chunk_values;

constexpr double bound = 1e-9;

std::unique_ptr<Codec> planes_with(const char* predictor, const char* kernels = "", int threads = 1) {
  return find_codec("planes")->make(
      {.bound = bound, .predictor = predictor, .kernels = kernels, .threads = threads});
}

double step_of(DType type) {
  return header_of(frame_of(*planes_with("delta"), make_values(type, 8, Pattern::smooth, 1))).step;
}

// Kinds of chunks of messages.
enum class Kind { narrow, smooth, special, large, edges, overflow, zeros, constant, sparse, last = sparse };

// Returns the integer at place i of message `age` (0: the one that is predicted) in a chunk of a kind.
double integer_at(Kind kind, std::size_t i, int age, std::mt19937_64& random) {
  const double noise = static_cast<double>(random() % 200) - 100,
               wave = std::sin(0.01 * static_cast<double>(i));
  constexpr double edges[] = {0x1p22 - 1, 0x1p22,     0x1p22 + 1, -0x1p22,     -0x1p22 - 1,
                              0x1p43 - 1, 0x1p43,     -0x1p43,    -0x1p43 - 1, 0x1p31,
                              -0x1p31,    0x1p32 + 5, 0,          1,           0x1p42};
  switch (kind) {
    case Kind::narrow: return 3000 * wave + noise;
    case Kind::smooth: return 0x1p30 * wave + 0x1p20 * age + noise;
    case Kind::special: return 0x1p33 * wave + 0x1p21 * age + noise;
    case Kind::large: return 0x1p21 * wave + noise;
    case Kind::edges: return edges[random() % std::size(edges)];
    case Kind::overflow:  // 2A - B is beyond 2^43
      return (age == 1 ? 1 : -1) * (0x1p43 - 1 - static_cast<double>(random() % 9));
    case Kind::zeros: return 0;
    case Kind::constant: return 0x1p30;
    case Kind::sparse:  // few values beyond 22 bits
      return i % 100 == 7 ? 0x1p35 + noise : noise;
  }
  return 0;
}

// Returns a message whose chunks are of the given kinds; `age` as for integer_at().
Values message_of(DType type, const std::vector<Kind>& kinds, std::size_t count, int age,
                  std::uint64_t seed) {
  Values values(type, count);
  const double step = step_of(type);
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(age));
  constexpr double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310, 1e-42, 1e30, -1e30, 1e300, 5e-324};
  for (std::size_t i = 0; i < values.numbers(); ++i) {
    const Kind kind = kinds[i / chunk_values % kinds.size()];
    values.set(i, integer_at(kind, i, age, random) * step);
    if (kind == Kind::special && random() % 61 == 0) values.set(i, special[random() % std::size(special)]);
  }
  return values;
}

History history_of(DType type, const std::vector<Kind>& now, const std::vector<Kind>& before,
                   std::size_t count, std::uint64_t seed) {
  History history(type, 0, Pattern::smooth, 1);
  history.now = message_of(type, now, count, 0, seed);
  history.before = message_of(type, before, count, 1, seed);
  history.earlier = message_of(type, before, count, 2, seed);
  return history;
}

std::vector<Kind> random_kinds(std::mt19937_64& random) {
  std::vector<Kind> kinds(5);
  for (Kind& kind : kinds) kind = static_cast<Kind>(random() % (static_cast<std::size_t>(Kind::last) + 1));
  return kinds;
}

// Returns the number of wide records of a frame without lags.
std::size_t wide_records(const FrameBytes& frame) {
  const FrameHeader header = header_of(frame);
  const std::size_t chunks = planes::chunks_of(header.count * components_of(header.type)),
                    index = frame_header_bytes + 8 * std::size_t{reference_count(header)};
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunks && !header.has(FrameHeader::stored); ++i) {
    const auto first = load<std::uint32_t>(&frame[index + 4 * i]),
               end = load<std::uint32_t>(&frame[index + 4 * i + 4]);
    if (first < end)
      n += std::to_integer<unsigned>(frame[index + 4 * (chunks + 1 + std::size_t{first})]) & planes::wide;
  }
  return n;
}

TEST(PlanesWideReferences, LeaveTheValuesAsTheyAre) {
  std::mt19937_64 random(1);
  std::size_t wide = 0, referring = 0;
  for (int round = 0; round < 120; ++round) {
    const DType type = round % 3 == 0 ? DType::c128 : DType::f64;
    constexpr const char* predictors[] = {"none", "delta", "pairs", "second", "auto"};
    const char* const predictor = predictors[random() % std::size(predictors)];
    const std::size_t counts[] = {66, 1003, 4096, 4099, 9000, 21000},
                      count = counts[random() % std::size(counts)];
    const auto plain = planes_with("delta", "scalar"), scalar = planes_with(predictor, "scalar");
    const std::vector<Kind> kinds = random_kinds(random);
    History history = history_of(type, kinds, round % 2 == 0 ? kinds : random_kinds(random), count, random());
    if (round % 4 < 2) history.decode_earlier(*plain);
    const Values expected = values_of(*plain, frame_of(*plain, history.now), history.now);
    for (const std::size_t n : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << round << " " << predictor << " " << count << " " << n);
      const auto references = history.references(n);
      const FrameBytes frame = frame_of(*scalar, history.now, references);
      referring += reference_count(header_of(frame)) > 0;
      if (reference_count(header_of(frame)) > 0) wide += wide_records(frame);
      for (const char* kernels : kernel_names()) {
        const auto codec = planes_with(predictor, kernels), threads = planes_with(predictor, kernels, 3);
        ASSERT_TRUE(frame_of(*codec, history.now, references) == frame) << kernels;
        ASSERT_TRUE(frame_of(*threads, history.now, references) == frame) << kernels;
        ASSERT_TRUE(values_of(*codec, frame, history.now, references) == expected) << kernels;
        ASSERT_TRUE(values_of(*threads, frame, history.now, references) == expected) << kernels;
        Values sum = history.before, other = history.before;
        ASSERT_EQ(codec->reduce(frame, references, sum.slice(), Reduction::sum), Status::ok);
        ASSERT_EQ(codec->reduce(frame_of(*plain, history.now), other.slice(), Reduction::sum), Status::ok);
        ASSERT_TRUE(sum == other) << kernels;
      }
    }
  }
  EXPECT_GT(referring, 100u);
  EXPECT_GT(wide, 100u);
}

// Smooth messages whose integers take 33 bits and change little.
History alike(std::size_t count, double change) {
  History history(DType::f64, count, Pattern::smooth, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 9 * std::sin(0.3 * static_cast<double>(i)),
                 y = change * std::cos(0.7 * static_cast<double>(i));
    history.earlier.set(i, x);
    history.before.set(i, x + y);
    history.now.set(i, x + 2 * y + 1e-8 * std::sin(0.9 * static_cast<double>(i)));
  }
  return history;
}

TEST(PlanesWideReferences, MakeFramesOfAlikeMessagesShort) {
  for (const std::size_t count : {3000u, 100000u}) {
    const History history = alike(count, 1e-4);
    for (const char* predictor : {"auto", "none"}) {
      const auto codec = planes_with(predictor);
      const auto size = [&](std::size_t n) {
        const FrameBytes frame = frame_of(*codec, history.now, history.references(n));
        EXPECT_EQ(reference_count(header_of(frame)), n);
        EXPECT_EQ(wide_records(frame), planes::chunks_of(count));
        return frame.size();
      };
      EXPECT_LT(3 * size(1), 2 * size(0)) << predictor;
      EXPECT_LT(3 * size(2), 2 * size(1)) << predictor;
    }
  }
}

TEST(PlanesWideReferences, OfNoUseAreLeftOut) {
  const History history = alike(100000, 1e-4), other = alike(100000, 900);
  const auto codec = planes_with("auto");
  const FrameBytes frame = frame_of(*codec, history.now, other.references(2));
  EXPECT_EQ(reference_count(header_of(frame)), 0u);
  EXPECT_LT(10 * frame.size(), 11 * frame_of(*codec, history.now).size());
}

TEST(PlanesWideReferences, HaveNoLagBehindThem) {
  const History history = alike(40 * 1000, 1e-4);
  const auto references = history.references(2);
  const FrameBytes lagged = frame_of(*planes_with("delta+64"), history.now, references);
  EXPECT_EQ(reference_count(header_of(lagged)), 0u);
  const auto rows = find_codec("planes")->make({.bound = bound, .dims = {{40, 1000}, 2}});
  const FrameBytes frame = frame_of(*rows, history.now, references);
  EXPECT_EQ(reference_count(header_of(frame)), 2u);
  EXPECT_EQ(header_of(frame).parameters[1], 0);
}

// ---- Sums

SizeOrStatus summed(const Codec& codec, const FrameBytes& a, const FrameBytes& b, FrameBytes& sum) {
  const FrameHeader first = header_of(a);
  sum.assign(codec.max_bytes(first.type, first.count, first.addends + header_of(b).addends), std::byte{});
  const ConstBytes both[] = {a, b};
  const SizeOrStatus size = codec.arithmetic()->sum(both, sum);
  sum.resize(size.bytes);
  return size;
}

// Sums of the same kinds of chunks, then k = 3 addends, and a frame to which values of any kind are added.
TEST(PlanesWideReferences, SumsAreThoseWithout) {
  std::mt19937_64 random(3);
  int added = 0, refused = 0, accumulations = 0;
  for (int round = 0; round < 80; ++round) {
    constexpr const char* predictors[] = {"none", "delta", "second"};
    const auto plain = planes_with("delta"), first = planes_with(predictors[random() % 3]),
               second = planes_with(predictors[random() % 3]);
    const std::vector<Kind> kinds = random_kinds(random);
    const History history =
        history_of(DType::f64, kinds, round % 4 == 0 ? random_kinds(random) : kinds, 12000, random());
    const Values other =
        message_of(DType::f64, round % 3 == 0 ? random_kinds(random) : kinds, 12000, 0, random());
    const auto references = history.references(1 + random() % 2);
    const FrameBytes a = frame_of(*first, history.now, references), b = frame_of(*second, other, references),
                     plain_a = frame_of(*plain, history.now), plain_b = frame_of(*plain, other);
    SCOPED_TRACE(round);
    if (reference_count(header_of(a)) == 0) continue;
    FrameBytes sum, plain_sum, more, plain_more;
    ASSERT_EQ(accumulated(*plain, a, other, references, sum).status, Status::ok);
    ASSERT_EQ(accumulated(*plain, plain_a, other, {}, plain_sum).status, Status::ok);
    ASSERT_TRUE(values_of(*plain, sum, other, references) == values_of(*plain, plain_sum, other));
    ++accumulations;
    const Status status = summed(*plain, a, b, sum).status;
    if (status != Status::ok) {
      ASSERT_EQ(status, Status::frame_mismatch);
      ++refused;
      continue;
    }
    ASSERT_EQ(summed(*plain, plain_a, plain_b, plain_sum).status, Status::ok);
    ASSERT_TRUE(values_of(*plain, sum, other, references) == values_of(*plain, plain_sum, other));
    ASSERT_EQ(summed(*plain, sum, a, more).status, Status::ok);
    ASSERT_EQ(summed(*plain, plain_sum, plain_a, plain_more).status, Status::ok);
    ASSERT_TRUE(values_of(*plain, more, other, references) == values_of(*plain, plain_more, other));
    ASSERT_EQ(accumulated(*plain, more, history.before, references, sum).status, Status::ok);
    ASSERT_EQ(accumulated(*plain, plain_more, history.before, {}, plain_sum).status, Status::ok);
    ASSERT_TRUE(values_of(*plain, sum, other, references) == values_of(*plain, plain_sum, other));
    added += wide_records(more) > 0;
  }
  EXPECT_GT(added, 10);
  EXPECT_GT(refused, 10);
  EXPECT_GT(accumulations, 40);
}

TEST(PlanesWideReferences, AreAddedToWideRecordsOnly) {
  const auto codec = planes_with("delta");
  const History history = history_of(DType::f64, {Kind::smooth}, {Kind::smooth}, 5000, 1);
  const auto references = history.references(1);
  const FrameBytes wide = frame_of(*codec, history.now, references),
                   narrow = frame_of(*codec, message_of(DType::f64, {Kind::narrow}, 5000, 0, 2), references);
  ASSERT_EQ(wide_records(wide), 2u);
  ASSERT_EQ(reference_count(header_of(narrow)), 1u);
  ASSERT_EQ(wide_records(narrow), 0u);
  FrameBytes sum;
  EXPECT_EQ(summed(*codec, wide, narrow, sum).status, Status::frame_mismatch);
  EXPECT_EQ(summed(*codec, narrow, wide, sum).status, Status::frame_mismatch);
  EXPECT_EQ(summed(*codec, wide, wide, sum).status, Status::ok);
  EXPECT_EQ(summed(*codec, narrow, narrow, sum).status, Status::ok);
}

// ---- Format

// Returns a frame of one addend and one chunk behind one reference, whose record is wide: all differences are
// 0, the base is `base`.
FrameBytes frame_of_base(const Values& like, const taut::Reference& reference, std::int64_t base, bool lag) {
  FrameBytes frame(frame_header_bytes + 8 + (lag ? 4 : 0) + 8 + 12);
  std::byte* at = store(frame.data() + frame_header_bytes, reference.state);
  if (lag) at = store(at, std::uint32_t{64});
  at = store(store(at, std::uint32_t{0}), std::uint32_t{3});
  store(store(at, std::uint32_t{planes::wide | planes::large}), base);
  FrameHeader header{.codec = find_codec("planes")->frame_id,
                     .type = like.type(),
                     .count = like.count(),
                     .bound = Bound{bound}};
  header.step = step_of(like.type());
  header.parameters[0] = 1;
  header.parameters[1] = lag;
  header.parameters[2] = 1;
  header.payload_bytes = frame.size() - frame_header_bytes;
  write_header(header, frame);
  return frame;
}

TEST(PlanesWideReferences, AreFloat64WithoutALag) {
  for (const DType type : {DType::f32, DType::f64}) {
    const Values like = make_values(type, 100, Pattern::smooth, 1);
    const taut::Reference reference = reference_to(like);
    Values out(type, 100);
    const auto decode = [&](bool lag) {
      return planes_with("delta")->decode(frame_of_base(like, reference, 1, lag), {&reference, 1},
                                          out.slice());
    };
    EXPECT_EQ(decode(false), type == DType::f64 ? Status::ok : Status::corrupt_frame);
    EXPECT_EQ(decode(true), Status::corrupt_frame);
  }
}

// The integer of a reference value of a wide record: 0 beyond 43 bits and for NaN.
TEST(PlanesWideReferences, HaveIntegersOf43Bits) {
  const double step = step_of(DType::f64);
  constexpr double beyond[] = {0x1p43, -0x1p43 - 1, 0x1p44, 1e30, 1e300, NAN, INFINITY, -INFINITY},
                   within[] = {0,           1,          -1,      0x1p22 - 1, 0x1p22,
                               -0x1p22 - 1, 0x1p43 - 1, -0x1p43, 0x1p31,     -0x1p40};
  Values before(DType::f64, 100), out(DType::f64, 100);
  std::vector<double> expected(100);
  for (std::size_t i = 0; i < 100; ++i) {
    const bool is_within = i % 2 == 0;
    const double q = is_within ? within[i / 2 % std::size(within)] : beyond[i / 2 % std::size(beyond)];
    before.set(i, q * step);
    expected[i] = (is_within ? q + 7 : 7) * step;
  }
  const taut::Reference reference = reference_to(before);
  for (const char* kernels : kernel_names()) {
    const FrameBytes frame = frame_of_base(before, reference, 7, false);
    ASSERT_EQ(planes_with("delta", kernels)->decode(frame, {&reference, 1}, out.slice()), Status::ok);
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(out.at(i), expected[i]) << i;
  }
}

}  // namespace planes_wide_references_test
}  // namespace taut::test

#include "communication/comm/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "communication/comm/report.hpp"

namespace taut {
namespace sampler_test {

constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

CallKey key_of(DType type, std::size_t bytes = 0) {
  return Call{.collective = Collective::allreduce, .type = type, .bytes = bytes}.key();
}

CallRow row_of(DType type) {
  CallRow row;
  row.key = key_of(type);
  return row;
}

std::vector<float> wave(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(1e-3F * static_cast<float>(i));
  return values;
}

SampledCall call_of(const std::vector<float>& values, std::uint64_t stream = 0) {
  return {{{values.data(), values.size(), DType::f32}}, stream};
}

double ratio(const Compressibility::Sum& sum) {
  return static_cast<double>(sum.value_bytes) / static_cast<double>(sum.frame_bytes);
}

TEST(Sampler, LooksAtCallsOfPowersOfTwo) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const auto values = wave(2000);
  std::vector<std::uint64_t> looked;
  for (std::uint64_t call = 1; call <= 9; ++call) {
    const std::uint64_t before = row.values.samples;
    sampler.look(row, call_of(values));
    if (row.values.samples > before) looked.push_back(call);
    ++row.sum.calls;
  }
  EXPECT_EQ(looked, (std::vector<std::uint64_t>{1, 2, 4, 8}));
}

TEST(Sampler, KnowsPicklesAndConstants) {
  Sampler sampler("", unlimited);
  std::vector<std::uint8_t> bytes(10'000, 7);
  const auto look = [&] {
    CallRow row = row_of(DType::u8);
    sampler.look(row, {{{bytes.data(), bytes.size(), DType::u8}}});
    return std::pair(row.values.pickles, row.values.constant);
  };
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(look(), Counts(0, 1));
  bytes[0] = 0x80, bytes[1] = 5, bytes[2] = 0x95;
  EXPECT_EQ(look(), Counts(1, 0));
  bytes[2] = 0x96;
  EXPECT_EQ(look(), Counts(0, 0));
  CallRow row = row_of(DType::f32);
  sampler.look(row, call_of(std::vector<float>(10'000, 1.5F)));
  EXPECT_EQ(row.values.constant, 1u);
  CallRow other = row_of(DType::f32);
  sampler.look(other, call_of(wave(10'000)));
  EXPECT_EQ(other.values.constant, 0u);
}

TEST(Sampler, CountsSamplesOfCallsInPlace) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  for (const bool in_place : {false, true, true}) {  // the third call is not sampled
    const auto values = wave(2000);
    SampledCall call = call_of(values);
    call.in_place = in_place;
    sampler.look(row, call);
    ++row.sum.calls;
  }
  EXPECT_EQ(row.values.samples, 2u);
  EXPECT_EQ(row.values.in_place, 1u);
}

TEST(Sampler, WhatItSees) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  auto values = wave(100'000);
  values[5] = std::numeric_limits<float>::infinity();
  sampler.look(row, call_of(values));
  EXPECT_NEAR(row.values.greatest, 1, 0.1);
  EXPECT_NEAR(row.values.least, -1, 0.1);
  for (std::size_t i = 1; i < Compressibility::bounds;
       ++i)  // nearly: another predictor may be best for each bound
    EXPECT_LE(ratio(row.values.sums[i]), 1.2 * ratio(row.values.sums[i - 1])) << i;
  EXPECT_GT(ratio(row.values.sums[0]), 8);
}

TEST(Sampler, ConstantsHaveNoRange) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const std::vector<float> values(5000, 3.0F);
  sampler.look(row, call_of(values));
  for (const auto& sum : row.values.sums) EXPECT_GT(ratio(sum), 8);
}

// A clock that goes on by a microsecond whenever it is read: a sample takes as long as a call that is not
// sampled.
std::uint64_t virtual_clock() {
  static std::uint64_t time = clock_now();
  return time += 1000;
}

// Samples of one call after another would take far more than their share.
TEST(Sampler, StopsWhenItsTimeIsUp) {
  Sampler sampler("", 0, virtual_clock);
  CallRow row = row_of(DType::f32);
  const auto values = wave(100'000);
  for (; row.sum.calls < 1000; ++row.sum.calls) {
    row.next_sample = std::min(row.next_sample, row.sum.calls + 1);
    sampler.look(row, call_of(values));
  }
  EXPECT_LT(row.values.samples, 100u);
  EXPECT_GT(row.next_sample, 1000u);  // the next sample comes later
}

// A clock of a process that loses its core for a second whenever it reads the clock.
std::uint64_t clock_of_lost_core() {
  static std::uint64_t time = 1;
  return time += 1'000'000'000;
}

TEST(Sampler, FirstSamplesAreTakenHoweverLongOthersLast) {
  SampleCosts costs;
  const auto values = wave(2000);
  for (std::uint64_t kind = 0; kind < 2 * Sampler::exempt_kinds; ++kind) {
    Sampler sampler("", 0, clock_of_lost_core, costs);  // each communicator has its own
    CallRow row = row_of(DType::f32);
    sampler.look(row, call_of(values));
    EXPECT_EQ(row.values.samples, kind < Sampler::exempt_kinds ? 1u : 0u) << kind;
    ++row.sum.calls;
    sampler.look(row, call_of(values));  // a second sample of a kind is not exempt
    EXPECT_LE(row.values.samples, 1u) << kind;
  }
}

TEST(Sampler, ShortCallsAreNeverDueAgain) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  row.key = key_of(DType::f32, 4);
  const std::vector<float> one(1);
  EXPECT_TRUE(Sampler::is_due(row));
  sampler.look(row, call_of(one));
  EXPECT_FALSE(Sampler::is_due(row));
}

TEST(Sampler, NothingToSee) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const auto values = wave(1000);  // 4000 bytes
  sampler.look(row, call_of(values));
  sampler.look(row, {});
  row.key = key_of({});
  const auto more = wave(5000);
  sampler.look(row, call_of(more));
  EXPECT_EQ(row.values.samples, 0u);
}

// ---- Gain of a history

// Noise that stays, and a wave that moves.
std::vector<float> moving(int step, std::size_t n = 20'000) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> noise(0, 1);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = noise(random) + 1e-3F * std::sin(1e-3F * static_cast<float>(i) + static_cast<float>(step));
  return values;
}

std::vector<float> noise(int step, std::size_t n = 20'000) {
  std::mt19937 random(static_cast<unsigned>(step));
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(n);
  for (float& x : values) x = normal(random);
  return values;
}

// Returns the row of a sampler that has seen values(step) in calls, each of the stream of(step).
template <class ValuesAt, class StreamOf>
CallRow seen(const CallKey& key, int calls, ValuesAt values, StreamOf of) {
  Sampler sampler("", unlimited);
  CallRow row;
  row.key = key;
  for (int step = 0; step < calls; ++step, ++row.sum.calls) {
    const auto now = values(step);
    sampler.look(row, call_of(now, of(step)));
  }
  return row;
}
template <class ValuesAt>
CallRow seen(const CallKey& key, int calls, ValuesAt values) {
  return seen(key, calls, values, [](int) { return std::uint64_t{1}; });
}

CallKey sent(DType type = DType::f32) {
  return Call{.collective = Collective::send, .type = type, .bytes = 80'000}.key();
}

TEST(Sampler, KnowsWhatAHistoryWouldGive) {
  const CallRow row = seen(sent(), 5, [](int step) { return moving(step); });
  EXPECT_EQ(row.repetition.samples, 1u);
  EXPECT_GE(row.repetition.period, 1u);
  for (std::size_t i = 0; i < Compressibility::bounds; ++i)
    EXPECT_GE(row.repetition.sums[i].alone_bytes, row.repetition.sums[i].referring_bytes);
  EXPECT_GT(row.repetition.gain(1e-3), 2.5);
  EXPECT_GT(row.repetition.gain(1e-4), 1.2);
  EXPECT_LT(row.repetition.gain(1e-6), row.repetition.gain(1e-2));
  EXPECT_EQ(row.repetition.gain(1e-9), row.repetition.gain(1e-6));
  EXPECT_GT(row.repetition.sums[0].nanoseconds, 0u);
}

TEST(Sampler, AHistoryNeedsCallsEnough) {
  EXPECT_EQ(seen(sent(), 4, [](int step) { return moving(step); }).repetition.samples, 0u);
  EXPECT_EQ(seen(sent(), 12, [](int step) { return moving(step); }).repetition.samples, 2u);
}

TEST(Sampler, NoiseGainsNothingByAHistory) {
  const CallRow row = seen(sent(), 50, [](int step) { return noise(step); });
  EXPECT_GE(row.repetition.samples, 1u);
  EXPECT_EQ(row.repetition.period, 0u);
  for (const double share : {1e-2, 1e-4, 1e-6, 0.0}) EXPECT_EQ(row.repetition.gain(share), 1);
}

TEST(Sampler, ZerosGainNothingByAHistory) {
  const CallRow row = seen(sent(), 5, [](int) { return std::vector<float>(20'000); });
  EXPECT_EQ(row.repetition.gain(1e-4), 1);
  EXPECT_EQ(row.repetition.gain(0), 1);
}

TEST(Sampler, ExtremeValuesInAHistory) {
  const auto values = [](int step) {
    auto all = moving(step);
    const float odd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                         -0.0F, std::numeric_limits<float>::denorm_min(), 1e30F};
    for (std::size_t i = 0; i < all.size(); i += 997) all[i] = odd[i % std::size(odd)];
    return all;
  };
  const CallRow row = seen(sent(), 5, values);
  EXPECT_EQ(row.repetition.samples, 1u);
  EXPECT_GE(row.repetition.gain(0), 1);
}

// Fields that are sent in turn, in one stream and in streams of their own.
TEST(Sampler, FindsEarlierCallsOfFieldsInTurn) {
  const auto fields = [](int n) {
    return [n](int step) {
      auto values = noise(1000 + step % n);
      for (float& x : values) x += 1e-6F * static_cast<float>(step);
      return values;
    };
  };
  EXPECT_EQ(seen(sent(), 5, fields(3)).repetition.period, 3u);
  const CallRow streams =
      seen(sent(), 15, fields(3), [](int step) { return static_cast<std::uint64_t>(step % 3); });
  EXPECT_EQ(streams.repetition.period, 1u);
  // A first look finds nothing in four calls, the second one looks further back.
  EXPECT_EQ(seen(sent(), 7, fields(9)).repetition.period, 0u);
  EXPECT_EQ(seen(sent(), 8 + 36, fields(9)).repetition.period, 9u);
}

TEST(Sampler, AHistoryOfSums) {
  const auto values = [](int step) { return moving(step); };
  const CallRow row = seen(key_of(DType::f32, 80'000), 5, values);
  EXPECT_GT(row.repetition.gain(1e-3), 2.5);
  EXPECT_EQ(row.repetition.sums.back().value_bytes, 0u);  // sums have none without loss
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const CallRow scan =
        seen(Call{.collective = collective, .type = DType::f32, .bytes = 80'000}.key(), 5, values);
    EXPECT_GT(scan.repetition.gain(1e-3), 2.5) << name_of(collective);
  }
  const CallRow greatest = seen(
      Call{.collective = Collective::allreduce, .type = DType::f32, .op = Reduction::max, .bytes = 80'000}
          .key(),
      5, values);
  EXPECT_EQ(greatest.repetition.samples, 0u);
}

TEST(Sampler, WordsThatHardlyChange) {
  Sampler sampler("", unlimited);
  CallRow row;
  row.key = sent(DType::bf16);
  std::mt19937 random(3);
  std::vector<std::uint16_t> words(100'000);
  for (auto& word : words) word = static_cast<std::uint16_t>(0x3C00 + random() % 512);
  for (int step = 0; step < 5; ++step, ++row.sum.calls) {
    for (std::size_t i = random() % 100; i < words.size(); i += 100) ++words[i];
    sampler.look(row, {{{words.data(), words.size(), DType::bf16}}, 1});
  }
  EXPECT_EQ(row.repetition.period, 1u);
  EXPECT_GT(row.repetition.gain(0), 10);
}

// Calls of a stream have their values at the same places; those in flight are told apart by their buffers.
TEST(Sampler, TellsStreamsApart) {
  std::vector<float> a(20'000), b(20'000);
  const auto look_at = [&](const std::vector<float>& in, std::vector<float>& out, std::size_t n, int root,
                           bool in_flight) {
    Operands data{.in = ConstSlice{{in.data(), n, DType::f32}}, .out = Slice{{out.data(), n, DType::f32}}};
    data.root = root;
    return sampled_call(CollectiveCall(Collective::reduce, data, n * sizeof(float)), 0, in_flight, false);
  };
  const auto stream = [&](auto&&... of) { return look_at(of...).stream; };
  EXPECT_EQ(stream(a, b, 20'000, 0, false), stream(b, a, 20'000, 0, false));
  EXPECT_NE(stream(a, b, 20'000, 0, true), stream(b, a, 20'000, 0, true));
  EXPECT_EQ(stream(a, b, 20'000, 0, true), stream(a, b, 20'000, 0, true));
  EXPECT_NE(stream(a, b, 20'000, 0, false), stream(a, b, 19'999, 0, false));
  EXPECT_NE(stream(a, b, 20'000, 0, false), stream(a, b, 20'000, 1, false));
  EXPECT_EQ(look_at(a, a, 20'000, 0, false).values.data, a.data());  // in place
}

// A stream that does not come back is given up, and the memory of all streams has a limit.
TEST(Sampler, FollowsWithinLimits) {
  const auto values = [](int step) { return moving(step, 2000); };
  const auto own = [](int step) { return static_cast<std::uint64_t>(step); };
  const int calls = static_cast<int>(FollowedStream::most_other_calls) + 10;
  EXPECT_EQ(seen(sent(), calls, values, own).repetition.samples, 0u);

  Sampler sampler("", unlimited);
  const auto large = moving(0);
  std::vector<CallRow> rows(300);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].key = Call{.collective = Collective::send, .type = DType::f32, .site = &rows[i]}.key();
    sampler.look(rows[i], call_of(large));
  }
  const auto followed = static_cast<std::size_t>(std::ranges::count(rows, true, &CallRow::followed));
  EXPECT_EQ(followed, FollowedStream::most_bytes / (4 * EarlierPieces::piece_bytes));
}

TEST(Sampler, ReportsTellWhatAHistoryWouldGive) {
  CommReport one;
  one.policy = "none";
  const CallRow row = seen(sent(), 5, [](int step) { return moving(step); });
  one.calls.row(row.key) = row;
  const auto told = [&](const char* rules) {
    const CommReport* const all[] = {&one};
    return summary_table(all, {.rules = rules});
  };
  EXPECT_NE(told("").find("taut: send f32 64KiB: history=auto would make frames "), std::string::npos)
      << told("");
  const CommReport* const all[] = {&one};
  const std::string json = report_json(all, {});
  EXPECT_NE(json.find("\"history_would_give\": {\"samples\": 1, \"period\": "), std::string::npos) << json;
  EXPECT_NE(json.find("\"referring_bytes\": "), std::string::npos);

  CallTable sum;
  for (int i = 0; i < 2; ++i) sum.merge(one.calls);
  EXPECT_EQ(sum.row(row.key).repetition.samples, 2u);
  EXPECT_EQ(sum.row(row.key).repetition.gain(1e-3), row.repetition.gain(1e-3));

  one.policy = "rules";
  EXPECT_EQ(told("Send : abs:1 history=4").find("would make"), std::string::npos);
  one.policy = "abs:1,history=auto";
  EXPECT_EQ(told("").find("would make"), std::string::npos);
  one.policy = "none";
  one.calls.row(row.key).repetition = {};
  EXPECT_EQ(told("").find("would make"), std::string::npos);
  EXPECT_NE(report_json(all, {}).find("\"history_would_give\": null"), std::string::npos);
}

TEST(Sampler, ForgetsStreamsWithItself) {
  const auto values = moving(0);
  for (int i = 0; i < 200; ++i) {
    Sampler sampler("", unlimited);
    CallRow row;
    row.key = sent();
    sampler.look(row, call_of(values));
    EXPECT_TRUE(row.followed);
  }
}

}  // namespace sampler_test
}  // namespace taut

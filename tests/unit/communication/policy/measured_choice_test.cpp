// Tests of the choice between codings by measured speeds.
#include "communication/policy/plan/measured_choice.hpp"

#include <gtest/gtest.h>

#include "communication/policy/plan/plan.hpp"
#include "communication/policy/tuning/autotuner.hpp"

namespace taut {
namespace measured_choice_test {

constexpr double gbit = 1e9 / 8;

CodingSpeeds speeds(float ratio, double encode, double decode, double reduce, double accumulate) {
  const auto number = [](double value) { return static_cast<float>(1e9 * value); };
  return {ratio, number(encode), number(decode), number(reduce), number(accumulate)};
}

// Work of a ring on 16 ranks, over a link of so many Gbit/s.
CodingWork ring(double rate) {
  return {.cost = {.encodes = 1, .combines = 15, .decodes = 16},
          .share = 1.0 / 16,
          .segments = 4,
          .adds_frames = true,
          .plain_seconds_per_byte = 2 * 15.0 / 16 / (rate * gbit)};
}
CodingWork allgather(double rate) {
  return {.cost = {.encodes = 1, .decodes = 16},
          .share = 1.0 / 16,
          .segments = 4,
          .plain_seconds_per_byte = 15.0 / 16 / (rate * gbit)};
}

constexpr MeasuredChoice by_values{.by_values = true};
constexpr MeasuredChoice fast_by_values{MeasuredChoice::Codec::fast, true}, fast{MeasuredChoice::Codec::fast};

TEST(MeasuredChoice, FramesAreAddedWhereThatIsFaster) {
  const CodingSpeeds known[] = {speeds(8, 16, 23, 9, 10), {}, speeds(6, 11, 20, 9, 0)};
  EXPECT_EQ(fastest_coding(ring(100), known), MeasuredChoice{});
}

// Peaks, sparse gradients, nearly constant fields with a large offset: sums of frames are slower than
// decoding, adding and encoding.
TEST(MeasuredChoice, ValuesAreAddedWhereFramesAreSlow) {
  const CodingSpeeds known[] = {speeds(8, 16, 23, 12, 3), {}, {}};
  EXPECT_EQ(fastest_coding(ring(100), known), by_values);
  CodingWork asked_for_frames = ring(100);
  asked_for_frames.may_use_values = false;
  EXPECT_EQ(fastest_coding(asked_for_frames, known), MeasuredChoice{});
}

TEST(MeasuredChoice, TheLinkDecidesBetweenRatioAndSpeed) {
  const CodingSpeeds known[] = {speeds(8, 5, 20, 9, 4), {}, speeds(4, 15, 50, 20, 0)};
  EXPECT_EQ(fastest_coding(allgather(100), known), fast);
  EXPECT_EQ(fastest_coding(allgather(1), known), MeasuredChoice{});
  EXPECT_EQ(fastest_coding(ring(100), known), fast_by_values);
  EXPECT_EQ(fastest_coding(ring(1), known), MeasuredChoice{});
}

TEST(MeasuredChoice, WhatIsNotMeasuredIsNotChosen) {
  const CodingSpeeds known[] = {{}, {}, speeds(4, 15, 50, 20, 0)};
  EXPECT_EQ(fastest_coding(ring(100), known), MeasuredChoice{});
}

TEST(MeasuredChoice, PlansFollowIt) {
  const Policy policy = parse_policy("abs:1e-3");
  CandidateTable table;
  const Call call{.collective = Collective::allreduce, .type = DType::f32, .bytes = 64 << 20, .ranks = 8};
  const auto plan = [&](MeasuredChoice choice) {
    return make_plan(policy, call, policy.coding.bound, table, {.coding = choice});
  };
  EXPECT_EQ(plan({}).arithmetic, Arithmetic::frames);
  EXPECT_EQ(plan(by_values).arithmetic, Arithmetic::values);
  EXPECT_STREQ(plan(by_values).candidates[0].codec->name, "planes");
  EXPECT_EQ(plan(fast_by_values).arithmetic, Arithmetic::values);
  EXPECT_STREQ(plan(fast_by_values).candidates[0].codec->name, fast_codec);
  EXPECT_EQ(plan({MeasuredChoice::Codec::usual_predictor}).candidates.size(), 1U);
  EXPECT_EQ(plan(fast_by_values).route().coding, fast_by_values);
}

TEST(MeasuredChoice, APolicyThatNamesTheCodecOrKeepsPackedIntegersNeverTakesTheFastOne) {
  const Call call{.collective = Collective::allreduce, .type = DType::f32, .bytes = 64 << 20, .ranks = 8};
  for (const auto& [text, may] : {std::pair("abs:1e-3", true),
                                  {"abs:1e-3,codec=planes", false},
                                  {"abs:1e-3,bits=exact", false},
                                  {"abs:1e-3,reduction=frames", false}}) {
    const Policy policy = parse_policy(text);
    CandidateTable table;
    const Plan plan = make_plan(policy, call, policy.coding.bound, table);
    EXPECT_EQ(coding_work(policy, call, plan, 1).may_use_fast, may) << text;
  }
}

TEST(CodingTrials, AreDueOnceTheLinkIsKnownAndEverMoreSeldom) {
  CodingTrials trials;
  for (std::uint32_t i = 0; i < RecentTimes::capacity; ++i) {
    EXPECT_FALSE(trials.are_due());
    trials.note(0);
  }
  EXPECT_FALSE(trials.are_due());
  trials.note(1e-9F);
  EXPECT_TRUE(trials.are_due());
  trials.choose(by_values);
  EXPECT_EQ(trials.choice(), by_values);
  std::uint32_t calls = 0;
  for (; !trials.are_due(); ++calls) trials.note(1e-9F);
  EXPECT_EQ(calls, CodingTrials::interval_growth * CodingTrials::first_interval);
}

}  // namespace measured_choice_test
}  // namespace taut

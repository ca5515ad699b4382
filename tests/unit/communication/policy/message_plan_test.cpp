// Tests of the sender's plan for a message.
#include "communication/policy/plan/plan.hpp"

#include <gtest/gtest.h>

namespace taut::test {
namespace message_plan_test {

MessagePlan plan(const char* text, std::size_t count, DType type = DType::f32) {
  static Policy policy;  // static: plans refer to its table
  static CandidateTable table;
  policy = parse_policy(text);
  table = {};
  return plan_message(policy, count, type, policy.coding.bound, table);
}

TEST(MessagePlan, TheBoundIsThatOfTheValue) {
  for (const char* text : {"abs:1e-3", "abs:1e-3,on=input", "snap:1e-3"}) {
    const MessagePlan made = plan(text, 100000);
    EXPECT_EQ(made.fallback, Fallback::none);
    EXPECT_EQ(made.bound.value, 1e-3);
    EXPECT_EQ(made.frames, 1u);
    EXPECT_GT(made.min_ratio, 1);
  }
}

TEST(MessagePlan, AnAlgorithmOfCollectivesDoesNotMatter) {
  EXPECT_EQ(plan("abs:1e-3,algorithm=ring,reduction=values,segments=4", 100000).fallback, Fallback::none);
}

TEST(MessagePlan, WhatIsNotCompressed) {
  EXPECT_EQ(plan("off", 100000).fallback, Fallback::off);
  EXPECT_EQ(plan("abs:1e-3", 16383).fallback, Fallback::small);
  EXPECT_EQ(plan("abs:1e-3", 16384).fallback, Fallback::none);
  EXPECT_EQ(plan("abs:1e-3,codec=szx", 100000, DType::f16).fallback, Fallback::unsupported);
}

TEST(MessagePlan, IntegersAreCodedWithoutLossUnderEveryBound) {
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64})
    for (const char* text : {"lossless", "abs:1e-3", "snap:1", "pwrel:0.1", "rate:8", "abs:1,codec=szx",
                             "abs:1,predictor=none"}) {
      const MessagePlan made = plan(text, 100000, type);
      ASSERT_EQ(made.fallback, Fallback::none) << text;
      EXPECT_TRUE(made.bound.exact()) << text;
      EXPECT_STREQ(made.candidates[0].codec->name, "mpc") << text;
    }
}

TEST(MessagePlan, ANamedCodecIsTakenWhateverItGains) {
  EXPECT_EQ(plan("abs:1e-3,codec=planes", 100000).min_ratio, 0);
}

TEST(MessagePlan, HugeMessagesAreSeveralFrames) {
  EXPECT_EQ(plan("abs:1e-3", std::size_t{1} << 28).frames, 3u);
}

}  // namespace message_plan_test
}  // namespace taut::test

#include "policy/plan/cost_model.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(Forecast, WhatPassesALink) {
  EXPECT_DOUBLE_EQ(carried(Collective::allreduce, 2), 1);
  EXPECT_DOUBLE_EQ(carried(Collective::allreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(carried(Collective::allgather, 4), 0.75);
  EXPECT_DOUBLE_EQ(carried(Collective::alltoall, 4), 0.75);
  EXPECT_EQ(carried(Collective::allreduce, 1), 0);
  EXPECT_EQ(carried(Collective::scan, 5), 3);
  for (const Collective collective : all_collectives)
    EXPECT_GT(carried(collective, 5), 0) << name_of(collective);
}

TEST(Forecast, FastCodecsGainTheRatioOnSlowLinks) {
  const CallEstimate call{Collective::allreduce, 4, 64e6, 8, 1e-11};
  const double slow = 0.125e9, fast = 100e9;
  EXPECT_NEAR(plain_seconds(call, slow) / coded_seconds(call, slow), 8, 0.2);
  EXPECT_LT(plain_seconds(call, fast) / coded_seconds(call, fast), 1);
  EXPECT_NEAR(link_of(call, plain_seconds(call, slow)), slow, 1);
}

TEST(Forecast, SmallMessagesLoseToTheAgreement) {
  const CallEstimate call{Collective::bcast, 8, 1000, 100, 1e-11};
  EXPECT_GT(coded_seconds(call, 10e9), plain_seconds(call, 10e9));
}

// Values from ADR 14: 16 MiB within 1e-3 took 28 ms instead of 147 ms on 1 Gbit/s.
TEST(Forecast, MessagesPassTheLinkOnceAndHaveALeastLength) {
  const CallEstimate large{Collective::send, 8, 16 << 20, 6.5, 1.5e-10},
      small{Collective::send, 8, 128 << 10, 50, 0};
  const double link = 0.125e9;
  EXPECT_NEAR(plain_seconds(large, link), 0.134, 0.001);
  EXPECT_NEAR(coded_seconds(large, link), 0.026, 0.002);
  EXPECT_NEAR(plain_seconds(small, link) / coded_seconds(small, link), 2, 0.1);
  EXPECT_GT(coded_seconds(large, 100e9), plain_seconds(large, 100e9));
}

TEST(Forecast, RatiosBetweenBounds) {
  const double bounds[] = {1e-2, 1e-4}, ratios[] = {20, 10};
  EXPECT_DOUBLE_EQ(ratio_between(bounds, ratios, 1e-2), 20);
  EXPECT_DOUBLE_EQ(ratio_between(bounds, ratios, 1), 20);
  EXPECT_NEAR(ratio_between(bounds, ratios, 1e-3), 15, 1e-9);
  EXPECT_DOUBLE_EQ(ratio_between(bounds, ratios, 1e-4), 10);
  EXPECT_EQ(ratio_between(bounds, ratios, 1e-5), 0);
}

}  // namespace
}  // namespace taut

#include "communication/policy/plan/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace taut {
namespace {

TEST(Forecast, WhatPassesALink) {
  EXPECT_DOUBLE_EQ(link_traffic(Collective::allreduce, 2), 1);
  EXPECT_DOUBLE_EQ(link_traffic(Collective::allreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(link_traffic(Collective::allgather, 4), 0.75);
  EXPECT_DOUBLE_EQ(link_traffic(Collective::alltoall, 4), 0.75);
  EXPECT_EQ(link_traffic(Collective::allreduce, 1), 0);
  EXPECT_EQ(link_traffic(Collective::scan, 5), 3);
  for (const Collective collective : all_collectives)
    EXPECT_GT(link_traffic(collective, 5), 0) << name_of(collective);
}

TEST(Forecast, FastCodecsGainTheRatioOnSlowLinks) {
  const CallEstimate call{Collective::allreduce, 4, 64e6, 8, 1e-11};
  const double slow = 0.125e9, fast = 100e9;
  EXPECT_NEAR(plain_seconds(call, slow) / coded_seconds(call, slow), 8, 0.2);
  EXPECT_LT(plain_seconds(call, fast) / coded_seconds(call, fast), 1);
  EXPECT_NEAR(link_speed_of(call, plain_seconds(call, slow)), slow, 1);
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
  CallEstimate pair = large;  // two ranks that send to each other, perhaps one after the other
  pair.ranks = 2;
  EXPECT_NEAR(coded_seconds(pair, link) - coded_seconds(large, link), large.bytes / 6.5 / link / 2, 1e-6);
}

// A ring allreduce of 16 MB on 16 ranks; the fast codec has half the ratio and twice the speeds.
MeasuredCall measured_call() {
  MeasuredCall measured{
      {.collective = Collective::allreduce, .type = DType::f32, .bytes = 16'000'000, .ranks = 16},
      {.cost = find_algorithm(Collective::allreduce, "ring")->cost(16),
       .share = 1.0 / 16,
       .segments = 4,
       .adds_frames = true},
      {}};
  measured.speeds[0] = {8, 15e9F, 20e9F, 10e9F, 10e9F};
  measured.speeds[2] = {4, 30e9F, 60e9F, 40e9F, 0};
  return measured;
}

TEST(Forecast, IsThatOfTheTunersModel) {
  const MeasuredCall measured = measured_call();
  for (const double link : {0.125e9, 1.25e9, 12.5e9, 50e9}) {
    CodingWork work = measured.work;
    work.plain_seconds_per_byte = link_traffic(Collective::allreduce, 16) / link;
    const Forecast found = forecast(measured, link);
    EXPECT_EQ(found.choice, fastest_coding(work, measured.speeds)) << link;
    const CodingSpeeds& speeds = measured.speeds[static_cast<std::size_t>(found.choice.codec)];
    EXPECT_NEAR(found.coded_seconds, 16e6 * coding_seconds(work, speeds, found.choice.by_values), 61e-6);
    EXPECT_NEAR(found.plain_seconds, 30e6 / link, 1e-9);
  }
  EXPECT_EQ(forecast(measured, 0.125e9).choice, MeasuredChoice{});
  EXPECT_EQ(forecast(measured, 50e9).choice.codec, MeasuredChoice::Codec::fast);
}

TEST(Forecast, AtTheBreakEvenACallTakesAsLongAsPlainMpi) {
  const MeasuredCall measured = measured_call();
  EXPECT_NEAR(forecast(measured, break_even_link(measured)).gain(), 1, 1e-3);
  MeasuredCall other = measured;
  const double least = break_even_ratio(measured, 5e9);
  for (CodingSpeeds& speeds : other.speeds) speeds.ratio *= static_cast<float>(least / 8);
  EXPECT_NEAR(forecast(other, 5e9).gain(), 1, 1e-3);
  EXPECT_TRUE(std::isinf(break_even_ratio(measured, 1e12)));
  MeasuredCall small = measured;
  small.call.bytes = 64;
  EXPECT_LT(break_even_link(small), 1e8);
}

TEST(Forecast, RatiosBetweenBounds) {
  const double bounds[] = {1e-2, 1e-4}, ratios[] = {20, 10};
  EXPECT_DOUBLE_EQ(interpolated_ratio(bounds, ratios, 1e-2), 20);
  EXPECT_DOUBLE_EQ(interpolated_ratio(bounds, ratios, 1), 20);
  EXPECT_NEAR(interpolated_ratio(bounds, ratios, 1e-3), 15, 1e-9);
  EXPECT_DOUBLE_EQ(interpolated_ratio(bounds, ratios, 1e-4), 10);
  EXPECT_EQ(interpolated_ratio(bounds, ratios, 1e-5), 0);
}

TEST(Forecast, ANodeSharesItsLinkAmongItsRanks) {
  const Call flat{.collective = Collective::allreduce, .bytes = 1 << 20, .ranks = 64};
  Call full = flat;
  full.nodes = 8;
  EXPECT_DOUBLE_EQ(link_traffic(flat), 2 * 63.0 / 64);
  EXPECT_DOUBLE_EQ(link_traffic(full), 2 * 7.0 / 8);
  full.collective = Collective::alltoall;
  EXPECT_DOUBLE_EQ(link_traffic(full), 8 * 7.0 / 8);
  full.collective = Collective::neighbor_alltoall;
  EXPECT_DOUBLE_EQ(link_traffic(full), 8);
}

// 8 MB a rank on 8 nodes, ratio 8, 6 GB/s of a core, 100 Gbit/s a node: an alltoall of full nodes gains, as
// its link is shared, and an allreduce hardly does, as its copies on the node remain.
TEST(Forecast, FullNodesGainWhereEveryRankHasValuesOfItsOwn) {
  const double link = 12.5e9;
  const auto gain = [&](Collective collective, int ranks_a_node, double memory = 300e9) {
    CallEstimate call{collective, 8 * ranks_a_node, 8e6, 8, 1 / 6e9};
    if (ranks_a_node > 1) call.nodes = 8;
    return plain_seconds(call, link, {memory}) / coded_seconds(call, link, {memory});
  };
  EXPECT_LT(gain(Collective::alltoall, 1), 0.5);
  EXPECT_GT(gain(Collective::alltoall, 8), 1.3);
  EXPECT_GT(gain(Collective::alltoall, 32), 3.5);
  EXPECT_GT(gain(Collective::neighbor_alltoall, 32), 3.5);
  EXPECT_LT(gain(Collective::alltoall, 32, 50e9), 0.6 * gain(Collective::alltoall, 32));
  for (const int ranks_a_node : {8, 32}) EXPECT_LT(gain(Collective::allreduce, ranks_a_node), 1.2);
  for (const Collective collective : {Collective::gather, Collective::scatter})  // the root codes all values
    EXPECT_LT(gain(collective, 8), 0.6);
}

// Recursive doubling sends the message log2 P times: plain MPI would not.
TEST(Forecast, PlainMpiIsPredictedByWhatItWouldSend) {
  const Call call{.collective = Collective::allreduce, .bytes = 8 << 20, .ranks = 64};
  const double frames = 8.0 * (1 << 20) / 8, wait = 1e-3;
  EXPECT_DOUBLE_EQ(predicted_plain_seconds(call, 6 * wait, 6 * frames),
                   predicted_plain_seconds(call, wait, frames));
  EXPECT_NEAR(predicted_plain_seconds(call, wait, frames), 2 * 8 * wait, 0.05 * 16 * wait);
}

// Sizes of packets of forwarded frames: along a chain of all ranks by the message, in a ring only where the
// frames of the ranks are unequal.
TEST(PacketBytes, FollowTheChainAndUnequalFrames) {
  const AlgorithmInfo& chain = *find_algorithm(Collective::bcast, "chain");
  const AlgorithmInfo& ring = *find_algorithm(Collective::allgather, "ring");
  const Call bcast{.collective = Collective::bcast, .bytes = 64'000'000, .ranks = 64};
  const std::size_t in_packets = packet_bytes(chain, bcast, max_segments, {});
  EXPECT_GT(in_packets, 8'000u);
  EXPECT_LT(in_packets, 64'000u);
  EXPECT_EQ(packet_bytes(chain, {.collective = Collective::bcast, .bytes = 64'000'000, .ranks = 2}, 64, {}),
            0u);
  EXPECT_EQ(packet_bytes(chain, {.collective = Collective::bcast, .bytes = 100'000, .ranks = 4}, 4, {}), 0u);

  const Call allgather{.collective = Collective::allgather, .bytes = 64'000'000, .ranks = 64};
  const double large = 500'000, small = 10'000;
  EXPECT_GT(packet_bytes(ring, allgather, 3, {small, large, 2}), 16'000u);
  EXPECT_LT(packet_bytes(ring, allgather, 3, {small, large, 2}), 80'000u);
  EXPECT_EQ(packet_bytes(ring, allgather, 3, {large, large, 2}), 0u);
  EXPECT_EQ(packet_bytes(ring, allgather, 3, {}), 0u);
  EXPECT_EQ(packet_bytes(ring, allgather, 3, {0, std::numeric_limits<double>::quiet_NaN(), 2}), 0u);
  const AlgorithmInfo& reduce = *find_algorithm(Collective::allreduce, "ring");
  EXPECT_EQ(packet_bytes(reduce, {.collective = Collective::allreduce, .bytes = 64'000'000, .ranks = 64}, 3,
                         {small, large, 2}),
            0u);
}

}  // namespace
}  // namespace taut

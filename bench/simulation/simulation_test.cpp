// The simulation against closed forms.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace simulation {
namespace {

const Link link{.bytes_a_second = 1e9, .latency = 10e-6, .overhead = 1e-6};

CollectiveCall uncompressed(taut::Collective collective, const char* algorithm, int ranks,
                            std::size_t bytes) {
  return {.collective = collective, .ranks = ranks, .bytes = bytes, .policy = "", .algorithm = algorithm};
}

TEST(Simulation, AMessageTakesItsBytesAndOneLatency) {
  const CollectiveCall call = uncompressed(taut::Collective::bcast, "binomial", 2, 4'000'000);
  EXPECT_NEAR(simulate(call, link).seconds, 4e-3 + 10e-6 + 1e-6, 1e-6);
}

TEST(Simulation, ARingUsesEveryLinkInBothDirections) {
  for (const int P : {2, 3, 16}) {
    const CollectiveCall call = uncompressed(taut::Collective::allreduce, "ring", P, 16'000'000);
    const double steps = 2 * (P - 1), step = 16e-3 / P + 10e-6 + 2e-6;
    EXPECT_NEAR(simulate(call, link).seconds, steps * step, 0.01 * steps * step);
  }
}

TEST(Simulation, ALinkCarriesOneMessageAtATime) {
  const CollectiveCall call = uncompressed(taut::Collective::gather, "linear", 5, 10'000'000);
  EXPECT_NEAR(simulate(call, link).seconds, 8e-3, 0.1e-3);  // four blocks into the root's link
}

TEST(Simulation, CodingTakesItsTimeAndFramesTheirBytes) {
  CollectiveCall call{.collective = taut::Collective::bcast, .ranks = 2, .bytes = 8'000'000};
  call.policy = "abs:1,when=always,algorithm=binomial,segments=1";
  call.costs = {.bits = 4, .encode = 4e9, .decode = 8e9, .call = 0};
  const Outcome outcome = simulate(call, link);
  EXPECT_NEAR(outcome.seconds, 2e-3 + 1e-3 + 1e-3, 0.1e-3);  // encode, an eighth of the bytes, decode
  EXPECT_NEAR(outcome.sent_bytes, 1e6, 1e3);
  EXPECT_NEAR(outcome.spent.encode, 2e-3, 1e-5);
}

TEST(Simulation, SumsGrowByTheirAddends) {
  CollectiveCall call{.collective = taut::Collective::reduce_scatter, .ranks = 4, .bytes = 16'000'000};
  call.policy = "abs:1,when=always,algorithm=ring,segments=1,reduction=frames";
  call.costs = {.bits = 8, .bits_a_doubling = 2};
  const double values = 16e6 / 4 / 4;  // of a block
  const double bits = 8 + (8 + 2) + (8 + 2 * 1.58496);
  EXPECT_NEAR(simulate(call, link).sent_bytes, values * bits / 8, 5e3);
}

// The uncompressed baseline fills the link: a broadcast along a chain takes little more than its bytes. In
// one piece, as MPICH runs it, the bytes pass a link about twice (scatter and allgather).
TEST(Simulation, TheBaselineOfABroadcastFillsTheLink) {
  CollectiveCall call{.collective = taut::Collective::bcast, .ranks = 16, .bytes = 128'000'000};
  const double line = 128e6 / link.bytes_a_second;
  EXPECT_LT(simulate_plain(call, link).seconds, 1.3 * line);
  call.plain_whole = true;
  EXPECT_NEAR(simulate_plain(call, link).seconds, 2 * 15.0 / 16 * line, 0.1 * line);
}

TEST(Simulation, IsTheSameTwice) {
  CollectiveCall call{.collective = taut::Collective::alltoall, .ranks = 9, .bytes = 20'000'000};
  EXPECT_EQ(simulate(call, link).seconds, simulate(call, link).seconds);
}

TEST(Simulation, EveryAlgorithmRuns) {
  for (const taut::AlgorithmInfo* const algorithm : taut::registered_algorithms()) {
    if (of_neighbours(algorithm->collective)) continue;
    for (const int P : {2, 5, 8}) {
      CollectiveCall call{.collective = algorithm->collective, .ranks = P, .bytes = 3'000'000};
      call.policy = std::string("abs:1,when=always,algorithm=") + algorithm->name;
      EXPECT_GT(simulate(call, link).seconds, 0) << algorithm->name;
    }
  }
}

TEST(Simulation, AWordThatCannotBeReadIsNamed) {
  try {
    parse_scenario({"ranks=4", "byte=1M"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("byte=1M"), std::string::npos);
  }
}

}  // namespace
}  // namespace simulation

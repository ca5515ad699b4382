// The engine's choices, judged by simulated time. No clock of this machine is read.
#include <gtest/gtest.h>

#include "simulate.hpp"

namespace simulation {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

double seconds(CollectiveCall call, const Link& link, const std::string& options) {
  call.policy = "abs:1,when=always" + options;
  return simulate(call, link).seconds;
}

Link link_of(double gbit) { return {.bytes_a_second = gbit * 1e9 / 8}; }

// Coding and transfer overlap in blocks of 64 KiB to 2 MiB: with a codec that is as slow as the link, a call
// is clearly faster than one segment after the other.
TEST(Engine, OverlapsCodingAndTransferOfBlocks) {
  for (const std::size_t block : {MiB / 4, MiB / 2, MiB, 2 * MiB}) {
    CollectiveCall call{.collective = taut::Collective::allreduce, .ranks = 16, .bytes = 16 * block};
    const Link link = link_of(10);
    const double wire = link.bytes_a_second * 8;  // bytes of values that pass the link a second
    call.costs = {.bits = 4, .encode = wire, .decode = 2 * wire, .accumulate = 2 * wire};
    EXPECT_LT(seconds(call, link, ""), 0.85 * seconds(call, link, ",segments=1")) << block;
  }
}

// Named steps of a collective. A step that is simpler than the engine's own choice should not be faster.
struct Step {
  taut::Collective collective;
  std::vector<const char*> named;
};

class Steps : public testing::TestWithParam<Step> {
 protected:
  // Returns the greatest quotient of the time of the engine's own choice and that of a named step.
  static double greatest_loss(std::size_t bytes) {
    double greatest = 0;
    for (const double gbit : {1.0, 10.0, 100.0})
      for (const int ranks : {4, 16, 32}) {
        CollectiveCall call{.collective = GetParam().collective, .ranks = ranks, .bytes = bytes};
        const double own = seconds(call, link_of(gbit), "");
        for (const char* step : GetParam().named)
          greatest = std::max(greatest, own / seconds(call, link_of(gbit), step));
      }
    return greatest;
  }
};

TEST_P(Steps, OfLargeMessagesAreNotFasterThanTheEnginesChoice) { EXPECT_LT(greatest_loss(16 * MiB), 1.03); }

// The engine does not know the link: of a message for which latency matters, its choice is a compromise.
TEST_P(Steps, OfSmallMessagesAreNotMuchFaster) { EXPECT_LT(greatest_loss(MiB), 1.4); }

INSTANTIATE_TEST_SUITE_P(
    All, Steps,
    testing::Values(
        Step{taut::Collective::allreduce,
             {",algorithm=cpr_p2p,segments=1", ",algorithm=ring,segments=1,reduction=values",
              ",algorithm=ring,reduction=values", ",algorithm=ring,reduction=frames",
              ",algorithm=halving_doubling", ",algorithm=two_shot"}},
        Step{taut::Collective::allgather, {",algorithm=cpr_p2p,segments=1", ",algorithm=ring,segments=1"}},
        Step{taut::Collective::bcast,
             {",algorithm=cpr_p2p,segments=1", ",algorithm=binomial,segments=1", ",algorithm=chain"}}));

}  // namespace
}  // namespace simulation

// Calls are never slower than plain MPI from the first one on, with 1 to 128 ranks a node: the library's own
// tuner is driven with simulated times, and with times of the cost model where a simulation takes minutes.
// Larger grids: `make bench-sim`, set "nodes".
#include <gtest/gtest.h>

#include "tuned_calls.hpp"

namespace simulation {
namespace {

struct Cluster {
  int nodes, ranks_a_node;
  Times times = Times::simulated;
};

class NeverSlower : public testing::TestWithParam<Cluster> {
 protected:
  static Link link(double gbit) {
    const auto [nodes, ranks_a_node, times] = GetParam();
    Link link{.bytes_a_second = gbit * 1e9 / 8};
    if (ranks_a_node > 1)
      link.hosts.of_rank =
          placed(std::vector<int>(static_cast<std::size_t>(nodes), ranks_a_node), Placement::block);
    link.hosts.memory = 300e9;
    return link;
  }

  // Checks a kind of call with codecs of one core, of the speed of a Xeon or of a Zen 5.
  static void check(taut::Collective collective, std::size_t megabytes, double gbit, bool fast_core) {
    const double speed = fast_core ? 2.5e9 : 1e9;
    const int ranks = GetParam().nodes * GetParam().ranks_a_node;
    const std::size_t block = megabytes * 1'000'000 / sizeof(float) / static_cast<std::size_t>(ranks);
    CollectiveCall call{.collective = collective,
                        .ranks = ranks,
                        .bytes = block * sizeof(float) * static_cast<std::size_t>(ranks),
                        .policy = "abs:1"};
    call.costs = {.bits = 3.7,
                  .bits_a_doubling = 0.5,
                  .encode = 6.2 * speed,
                  .decode = 9.2 * speed,
                  .decode_add = 8 * speed,
                  .add = 12 * speed,
                  .accumulate = 6.2 * speed};
    const TunedCalls calls = tuned_calls(call, link(gbit), GetParam().times);
    const std::string name = std::string(taut::name_of(collective)) + ", " + std::to_string(megabytes) +
                             " MB, " + std::to_string(gbit) + " Gbit/s";
    EXPECT_LE(calls.first_plain, 3) << name;
    EXPECT_GE(calls.first_plain, 1) << name;
    EXPECT_LE(calls.after_10, 1.03 * calls.best()) << name;
    EXPECT_LE(calls.first_100, 1.1 * 100 * calls.plain) << name;
  }
};

constexpr taut::Collective collectives[] = {taut::Collective::allreduce, taut::Collective::reduce_scatter,
                                            taut::Collective::allgather, taut::Collective::bcast,
                                            taut::Collective::reduce,    taut::Collective::alltoall,
                                            taut::Collective::gather,    taut::Collective::scatter};

TEST_P(NeverSlower, FromTheFirstCallOn) {
  const bool modelled = GetParam().times == Times::modelled;
  const int ranks = modelled ? 1 : GetParam().nodes * GetParam().ranks_a_node;
  for (const taut::Collective collective : collectives) {
    check(collective, 1, 100, false);
    if (ranks <= 64) check(collective, 8, 100, false);
    if (ranks <= 64) check(collective, 8, 25, true);
    if (ranks <= 16) check(collective, 64, 25, true);
    if (ranks <= 64) check(collective, 64, 100, false);
  }
}

std::string name_of_cluster(const testing::TestParamInfo<Cluster>& test) {
  const auto& [nodes, ranks_a_node, times] = test.param;
  return std::to_string(nodes) + "x" + std::to_string(ranks_a_node) +
         (times == Times::modelled ? "Modelled" : "");
}

INSTANTIATE_TEST_SUITE_P(Clusters, NeverSlower,
                         testing::Values(Cluster{16, 1}, Cluster{64, 1}, Cluster{4, 4}, Cluster{16, 8},
                                         Cluster{16, 8, Times::modelled}, Cluster{16, 32, Times::modelled},
                                         Cluster{64, 128, Times::modelled}),
                         name_of_cluster);

}  // namespace
}  // namespace simulation

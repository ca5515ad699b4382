// Tests calls under rules of the environment, and as if there were several nodes: ctest sets TAUT_RULES and
// TAUT_RANKS_PER_NODE (CMakeLists.txt); skipped without.
#include "compressor/base/options.hpp"
#include "gpu/nccl/calls.hpp"

namespace taut::test {
namespace {

TEST(NcclEnvironment, RulesHoldForCommunicatorsWithoutAPolicy) {
  if (options().rules.empty()) GTEST_SKIP() << "TAUT_RULES is not set";
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(5000, 1)), gathered(15000);
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 5000, ncclFloat32, ncclSum, me.comm, me.stream), 0)
        << TAUT_Nccl_last_error();
    EXPECT_EQ(stats_of(me).compressed_calls, 1u);
    EXPECT_EQ(TAUT_Nccl_AllGather(x.data(), gathered.data(), 5000, ncclFloat32, me.comm, me.stream), 0);
    EXPECT_EQ(stats_of(me).compressed_calls, 1u) << "the rule is for allreduce";
    EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, "off"), 0);
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 5000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    EXPECT_EQ(stats_of(me).calls, 0u) << "a policy comes before rules";
    EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, nullptr), 0);
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 5000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    EXPECT_EQ(stats_of(me).compressed_calls, 1u);
    me.finish();
    EXPECT_NEAR(x.peek(5000)[4999], 27, 0.1);
    TAUT_Nccl_comm_release(me.comm);
  });
}

// The bits are those of the host with the same nodes.
TEST(NcclEnvironment, ByNodes) {
  if (options().ranks_per_node != 2) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not 2";
  const int node_of[] = {0, 0, 1, 1};
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast,
                                      Collective::allgather, Collective::reduce_scatter}) {
    const Trial trial{.collective = collective,
                      .policy = "abs:1e-3,codec=planes,nodes=on",
                      .P = 4,
                      .count = 6000,
                      .root = 1,
                      .nodes = Nodes(node_of)};
    NcclRanks ranks(trial.P, trial.whole_policy());
    NcclJob job(trial);
    ranks.run([&](NcclRank& me) { EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error(); });
    expect_outputs_of_host(trial, job);
    EXPECT_EQ(stats_of(ranks[0]).compressed_calls, 1u);
    EXPECT_EQ(fake_nccl::take_report(), "");
  }
}

// Rules with scope=inter serve a communicator on two nodes, and none on one.
TEST(NcclEnvironment, ByNodesRulesHaveAScope) {
  if (options().ranks_per_node != 2 || options().rules.empty())
    GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not 2, or TAUT_RULES is not set";
  for (const int nodes : {1, 2}) {
    NcclThreads ranks(2 * nodes);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(5000, 1));
      EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 5000, ncclFloat32, ncclSum, me.comm, me.stream), 0)
          << TAUT_Nccl_last_error();
      EXPECT_EQ(stats_of(me).compressed_calls, nodes == 2 ? 1u : 0u);
      me.finish();
      TAUT_Nccl_comm_release(me.comm);
    });
  }
}

// With when=profitable, calls are also left to NCCL to compare the times: results stay within the bound.
TEST(NcclEnvironment, CallsThatHaveToPay) {
  NcclRanks ranks(2, "abs:1e-3,when=profitable,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(4000, 1)), sum(4000);
    for (int turn = 0; turn < 12; ++turn) {
      EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), sum.data(), 4000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
      me.finish();
      EXPECT_NEAR(sum.peek(4000)[3999], 2, 1e-3);
    }
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

}  // namespace
}  // namespace taut::test

// Tests failures of one rank in calls by nodes: the calls of its node end, and nobody waits for it.
#include "gpu/nccl/graphs.hpp"

#include "compressor/base/options.hpp"

namespace taut::test {
namespace node_failures_test {

constexpr int failed = static_cast<int>(Status::transport_failed);

// Calls with residuals on two nodes of L ranks.
Repeated calls_on_two_nodes(int L) {
  return {.policy = "block:8,nodes=on", .P = 2 * L, .count = 4032, .with_residual = true};
}

// Makes a call of each rank. The simulated NCCL then soon gives up kernels that wait for ranks.
void make_first_calls(RepeatedCalls<float>& calls) {
  calls.ranks().run([&](NcclRank& me) {
    EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error();
    me.finish();
  });
  fake_nccl::set_patience(0.3);
}

// Expects that calls fail on the other ranks of rank 0's node, which has L ranks.
void expect_ended_on_first_node(RepeatedCalls<float>& calls, int L) {
  calls.ranks().run([&](NcclRank& me) {
    if (me.rank == 0 || me.rank >= L) return;
    calls.call(me);
    EXPECT_EQ(calls.call(me), failed) << TAUT_Nccl_last_error();
  });
  stand_in_finish();
  fake_nccl::set_patience(20);
  fake_nccl::take_report();
}

// A rank has no memory for a call by nodes. Calls on its node fail without a settle, and nobody waits for it.
TEST(NcclByNodesGraphs, AFailureOfOneRankEndsCallsOnItsNode) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  if (L == 1) return;  // a node without other ranks
  RepeatedCalls<float> calls(calls_on_two_nodes(L));
  make_first_calls(calls);
  stand_in_no_memory_at(1);
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  EXPECT_EQ(calls.call(calls.ranks()[0]), static_cast<int>(Status::out_of_memory));
  stand_in_no_memory_at(0);
  EXPECT_EQ(calls.call(calls.ranks()[0]), failed);
  expect_ended_on_first_node(calls, L);
}

// A rank whose residual is refused ends the calls on its node: its next sum is added to none of theirs.
TEST(NcclByNodesGraphs, AResidualThatIsRefusedEndsCallsOnItsNode) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  if (L == 1) return;  // a node without other ranks
  RepeatedCalls<float> calls(calls_on_two_nodes(L));
  make_first_calls(calls);
  const OnGpu<float> x(4032);
  const NcclRank& first = calls.ranks()[0];
  EXPECT_EQ(TAUT_Nccl_AllReduce_with_residual(x.data(), x.data(), 4032, ncclFloat32, ncclSum, x.data(),
                                              first.comm, first.stream),
            static_cast<int>(Status::invalid_argument));
  EXPECT_EQ(calls.call(first), failed) << TAUT_Nccl_last_error();
  expect_ended_on_first_node(calls, L);
}

// NCCL notices an error while a call waits on the node. The end of Taut's state ends that call.
TEST(NcclByNodesGraphs, ReleaseAfterAnErrorEndsCallsOnTheNode) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  if (L == 1) return;  // a node without other ranks
  RepeatedCalls<float> calls({.policy = "block:8,nodes=on", .P = 2 * L, .count = 4032});
  make_first_calls(calls);
  EXPECT_EQ(calls.call(calls.ranks()[0]), 0);
  EXPECT_EQ(ncclCommRevoke(calls.ranks()[0].comm, 0), ncclSuccess);
  EXPECT_EQ(TAUT_Nccl_comm_release(calls.ranks()[0].comm), 0);
  stand_in_finish();
  fake_nccl::set_patience(20);
  const std::string report = fake_nccl::take_report();
  EXPECT_EQ(report.find("deadlock"), std::string::npos) << report;
}

}  // namespace node_failures_test
}  // namespace taut::test

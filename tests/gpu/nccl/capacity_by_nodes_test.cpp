// Tests capacity mode by nodes: 1 to 4 nodes, each with as many GPUs as ctest sets in TAUT_RANKS_PER_NODE
// (CMakeLists.txt); skipped without.
#include "gpu/nccl/capacity.hpp"
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace capacity_by_nodes_test {

class NcclByNodesCapacity : public testing::Test {
 protected:
  void SetUp() override {
    if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
    stand_in_finish();
    EXPECT_EQ(TAUT_Cuda_release(), 0);
  }
  Trial on(int N, Trial trial) const {
    trial.P = N * L;
    trial.nodes = nodes_of(trial.P, L);
    trial.policy += ",nodes=on";
    const bool in_blocks =
        trial.collective == Collective::reduce_scatter || trial.collective == Collective::allgather;
    const auto P = static_cast<std::size_t>(trial.P);
    if (in_blocks) trial.count = (trial.count + P - 1) / P * P;
    return as_nccl_allows(trial);
  }
  const int L = options().ranks_per_node;
};

// Returns the number of repeated blocks of a call on devices without earlier work or memory.
std::size_t run_afresh(const Trial& trial, double ratio) {
  stand_in_finish();
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  return run_and_settle(trial, ratio);
}

TEST_F(NcclByNodesCapacity, ExactSumsHaveTheBitsOfTheHost) {
  constexpr std::size_t counts[] = {1, 7, 1009, 4032, 2, 97, 9240};
  unsigned turn = 0;
  for (int N = 1; N <= 4; ++N)
    for (const Collective collective : served)
      for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const char* const keep : {"", ",same_bits=on"}) {
          ++turn;
          const Trial trial = on(N, {.collective = collective,
                                     .policy = std::string("abs:1e-2,codec=planes,predictor=delta") + keep,
                                     .count = counts[turn % std::size(counts)],
                                     .type = type,
                                     .pattern = Pattern::steps,
                                     .root = static_cast<int>(turn) % (N * L),
                                     .in_place = turn % 3 != 0});
          EXPECT_EQ(run_afresh(trial, 1), 0u);
        }
}

TEST_F(NcclByNodesCapacity, RepeatsWhatDoesNotFit) {
  for (const Collective collective : served)
    for (const bool in_place : {false, true})
      for (const int root : {0, 2 * L - 1}) {
        const Trial trial = on(2, {.collective = collective,
                                   .policy = "abs:1e-4,codec=planes,predictor=delta",
                                   .count = static_cast<std::size_t>(4000 * L),
                                   .pattern = Pattern::noisy,
                                   .root = root,
                                   .in_place = in_place});
        SCOPED_TRACE(text_of(trial));
        NcclRanks ranks(trial.P, trial.whole_policy(), 40);
        NcclJob job(trial);
        ranks.run([&](NcclRank& me) {
          EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
          std::size_t blocks = 0;
          EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, &blocks, me.stream), 0) << TAUT_Nccl_last_error();
          EXPECT_EQ(blocks, static_cast<std::size_t>(collective == Collective::bcast ? L : trial.P));
        });
        if (!reduces(collective)) expect_outputs_of_host(trial, job);
        for (int r = 0; r < trial.P; ++r) EXPECT_EQ(job.done().check(r, 1e-4, 2 * trial.P), "");
        if (collective != Collective::reduce_scatter) {
          EXPECT_TRUE(job.done().same_bits());
        }
        stand_in_finish();
        EXPECT_EQ(TAUT_Cuda_release(), 0);
      }
}

// NaN, infinities, the least and the greatest numbers: data movements have the bits of the host.
TEST_F(NcclByNodesCapacity, MovesWildValues) {
  for (const Collective collective : {Collective::allgather, Collective::bcast})
    for (const DType type : {DType::f32, DType::f16})
      run_afresh(on(3, {.collective = collective,
                        .policy = "abs:1e-3,codec=planes,predictor=delta",
                        .count = 3001,
                        .type = type,
                        .pattern = Pattern::wild,
                        .root = L}),
                 3);
}

TEST_F(NcclByNodesCapacity, ReducesByFramesOfAFixedSize) {
  unsigned turn = 0;
  for (const Collective collective : served)
    for (const int N : {2, 3, 4})
      for (const DType type : {DType::f32, DType::f16, DType::bf16})
        for (const char* const bits : {"8", "4"}) {
          ++turn;
          const Reduction op = turn % 5 == 0   ? Reduction::min
                               : turn % 5 == 1 ? Reduction::max
                                               : Reduction::sum;
          const std::size_t counts[] = {40, 840, 3001};
          std::string policy = std::string("block:") + bits;
          if (reduces(collective)) policy += ",algorithm=rank_order";
          const Trial trial = on(N, {.collective = collective,
                                     .policy = policy,
                                     .count = counts[turn % 3],
                                     .type = type,
                                     .pattern = Pattern::steps,
                                     .op = reduces(collective) ? op : Reduction::sum,
                                     .root = static_cast<int>(turn) % (N * L),
                                     .in_place = turn % 3 == 0,
                                     .mean = reduces(collective) && turn % 5 == 2});
          EXPECT_EQ(run_afresh(trial, 40), 0u);
        }
}

// Under slots= a call is complete when it returns, whether its frames fit or not.
TEST_F(NcclByNodesCapacity, CallsUnderAPolicySettleThemselves) {
  for (const Collective collective : served)
    for (const char* const slots : {"1", "40"}) {
      const Trial trial =
          on(2, {.collective = collective,
                 .policy = std::string("abs:1e-2,codec=planes,predictor=delta,slots=") + slots,
                 .count = 4032,
                 .pattern = Pattern::steps,
                 .root = L,
                 .in_place = collective == Collective::allreduce});
      NcclRanks ranks(trial.P, trial.whole_policy());
      NcclJob job(trial);
      ranks.run([&](NcclRank& me) {
        EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
        EXPECT_EQ(stats_of(me).capacity_calls, 1u);
      });
      expect_outputs_of_host(trial, job);
      stand_in_finish();
      EXPECT_EQ(TAUT_Cuda_release(), 0);
    }
}

// Memory ends on one rank in a call. Its later calls fail at once: no rank splits the communicator alone. The
// ranks of its node see that the communicator of the node has ended, and fail too.
TEST_F(NcclByNodesCapacity, AfterAFailureARankMakesNoCallsByNodes) {
  if (L == 1) return;
  const Trial trial =
      on(2, {.policy = "abs:1e-2,codec=planes,predictor=delta", .count = 4032, .in_place = true});
  const int failed = static_cast<int>(Status::transport_failed);
  NcclRanks ranks(trial.P, trial.whole_policy(), 4);
  std::vector<std::unique_ptr<OnGpu<float>>> values;
  for (int r = 0; r < trial.P; ++r)
    values.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(4032, 1)));
  const auto all_reduce = [&](const NcclRank& me) {
    float* const own = values[static_cast<std::size_t>(me.rank)]->data();
    return TAUT_Nccl_AllReduce(own, own, 4032, ncclFloat32, ncclSum, me.comm, me.stream);
  };
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(all_reduce(me), 0);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
  });
  fake_nccl::set_patience(0.3);
  stand_in_no_memory_at(1);
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  EXPECT_EQ(all_reduce(ranks[0]), static_cast<int>(Status::out_of_memory));
  stand_in_no_memory_at(0);
  EXPECT_EQ(all_reduce(ranks[0]), failed);
  EXPECT_EQ(all_reduce(ranks[0]), failed);
  ranks.run([&](NcclRank& me) {
    if (me.rank == 0 || me.rank >= L) return;
    all_reduce(me);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), failed);
    EXPECT_EQ(all_reduce(me), failed);
  });
  stand_in_finish();
  fake_nccl::set_patience(20);
  EXPECT_EQ(fake_nccl::take_report().find("ncclCommSplit"), std::string::npos);
}

// A rank whose values are not aligned has no memory for their copy, while the other ranks of its node have
// enqueued all of their call. They fail, too, and wait for nobody.
TEST_F(NcclByNodesCapacity, AFailureOfACopyEndsTheCallOnTheNode) {
  if (L == 1) return;
  constexpr std::size_t count = 5040;
  const Trial trial = on(2, {.policy = "abs:1e-2,codec=planes,predictor=delta,slots=2"});
  NcclRanks ranks(trial.P, trial.whole_policy());
  std::vector<std::unique_ptr<OnGpu<float>>> values;
  for (int r = 0; r < trial.P; ++r)
    values.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(count, 1)));
  const OnGpu<float> apart(std::vector<float>(count, 1), 1);
  const auto all_reduce = [&](const NcclRank& me, float* own) {
    return TAUT_Nccl_AllReduce(own, own, count, ncclFloat32, ncclSum, me.comm, me.stream);
  };
  const auto own_of = [&](const NcclRank& me) { return values[static_cast<std::size_t>(me.rank)]->data(); };
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, own_of(me)), 0); });
  stand_in_finish();
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  fake_nccl::set_patience(10);
  const auto enqueued = fake_nccl::calls_of("AllGather") + static_cast<unsigned long>(L) - 1;
  ranks.run([&](NcclRank& me) {
    if (me.rank >= L) return;
    if (me.rank > 0) {
      EXPECT_EQ(all_reduce(me, own_of(me)), static_cast<int>(Status::transport_failed));
      return;
    }
    while (fake_nccl::calls_of("AllGather") < enqueued) std::this_thread::yield();
    stand_in_no_memory_at(1);
    EXPECT_EQ(all_reduce(me, apart.data()), static_cast<int>(Status::out_of_memory));
    stand_in_no_memory_at(0);
  });
  const std::string report = fake_nccl::take_report();
  EXPECT_EQ(report.find("deadlock"), std::string::npos) << report;
  fake_nccl::set_patience(0.3);
  stand_in_finish();
  fake_nccl::set_patience(20);
  fake_nccl::take_report();
}

// Counts of one call: NCCL's collectives on a node, frames between nodes, and no wait of the host.
TEST_F(NcclByNodesCapacity, TheHostWaitsForNothing) {
  if (L == 1) return;  // flat
  constexpr int N = 3;
  constexpr std::size_t count = 50400;
  const Trial trial = on(N, {.policy = "abs:1e-2,codec=planes,predictor=delta", .count = count});
  const auto P = static_cast<unsigned long>(N * L);
  NcclRanks ranks(trial.P, trial.whole_policy(), 4);
  std::vector<std::unique_ptr<OnGpu<float>>> x;
  for (int r = 0; r < trial.P; ++r) x.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(count, 1)));
  const auto enqueue = [&](const NcclRank& me) {
    float* const own = x[static_cast<std::size_t>(me.rank)]->data();
    EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, count, ncclFloat32, ncclSum, me.comm, me.stream), 0);
  };
  ranks.run(enqueue);  // makes the communicator of the node
  stand_in_finish();
  const unsigned long sums = fake_nccl::calls_of("ReduceScatter"), gathers = fake_nccl::calls_of("AllGather"),
                      bytes = fake_nccl::sent_bytes(), messages = fake_nccl::sent_messages(),
                      waits = stand_in_waits(), launches = stand_in_launches(),
                      to_host = stand_in_copied(stand_in_to_host);
  for (int r = 0; r < trial.P; ++r) enqueue(ranks[r]);  // one thread: a call that waited would hang
  stand_in_finish();
  EXPECT_EQ(stand_in_waits(), waits);
  EXPECT_EQ(stand_in_copied(stand_in_to_host), to_host);
  EXPECT_LE(stand_in_launches() - launches, 5 * P);  // encode, sum, decode; two of the latter may take two
  EXPECT_EQ(fake_nccl::calls_of("ReduceScatter") - sums, P);
  EXPECT_EQ(fake_nccl::calls_of("AllGather") - gathers, P);
  EXPECT_EQ(fake_nccl::sent_messages() - messages, 2 * (N - 1) * P);
  const unsigned long slot = count / static_cast<unsigned long>(L) / N * sizeof(float) / 4 + 320;
  EXPECT_LE(fake_nccl::sent_bytes() - bytes, 2 * (N - 1) * P * slot);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0); });
  const auto sum = static_cast<double>(P * P);
  EXPECT_NEAR(x[0]->peek(count)[17], sum, 0.02 * sum);
  EXPECT_EQ(x[0]->peek(count), x[P - 1]->peek(count));
}

// Nodes of unequal size, and calls that slots do not serve, have exact sizes.
TEST_F(NcclByNodesCapacity, OtherCallsHaveExactSizes) {
  if (L == 1) return;
  Trial unequal{
      .policy = "abs:1e-2,codec=planes,predictor=delta,nodes=on", .count = 4032, .pattern = Pattern::steps};
  unequal.P = 2 * L - 1;
  unequal.nodes = nodes_of(unequal.P, L);
  const Trial reduce = on(2, {.collective = Collective::reduce,
                              .policy = "abs:1e-2,codec=planes,predictor=delta",
                              .count = 4032,
                              .pattern = Pattern::steps});
  for (const Trial& trial : {unequal, reduce}) {
    SCOPED_TRACE(text_of(trial));
    NcclRanks ranks(trial.P, trial.whole_policy(), 4);
    NcclJob job(trial);
    ranks.run([&](NcclRank& me) {
      EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
      EXPECT_EQ(stats_of(me).capacity_calls, 0u);
    });
    expect_outputs_of_host(trial, job);
  }
}

}  // namespace capacity_by_nodes_test
}  // namespace taut::test

// Tests calls by nodes: 1 to 4 nodes, each with as many GPUs as ctest sets in TAUT_RANKS_PER_NODE
// (CMakeLists.txt); skipped without.
#include "communication/nccl/node_comm.hpp"
#include "compressor/base/options.hpp"
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace by_nodes_test {

constexpr DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

class NcclByNodes : public testing::Test {
 protected:
  void SetUp() override {
    if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  }
  // Returns the trial by nodes, for N of them. Its count is not 0: blocks of no values are not served by
  // Taut.
  Trial on(int N, Trial trial) const {
    trial.P = N * L;
    trial.nodes = nodes_of(trial.P, L);
    if (trial.policy.find("nodes=") == std::string::npos) trial.policy += ",nodes=on";
    const bool in_blocks = trial.collective == Collective::reduce_scatter ||
                           trial.collective == Collective::allgather ||
                           trial.collective == Collective::alltoall;
    const auto P = static_cast<std::size_t>(trial.P);
    if (in_blocks) trial.count = (trial.count + P - 1) / P * P;
    return as_nccl_allows(trial);
  }
  const int L = options().ranks_per_node;
};

// Frees the scratch memory of streams that are gone: the simulated GPUs hold 8192 memories.
void free_scratch() {
  stand_in_finish();
  EXPECT_EQ(TAUT_Cuda_release(), 0);
}

// Makes the call on all ranks.
void run(const Trial& trial, NcclJob& job) {
  free_scratch();
  NcclRanks ranks(trial.P, trial.whole_policy());
  ranks.run([&](NcclRank& me) { EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error(); });
  stand_in_finish();
  EXPECT_EQ(stats_of(ranks[0]).compressed_calls, trial.P > 1 && trial.count > 0 ? 1u : 0u);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Sums of integers on a node are exact, and so are minima, maxima, and values that move.
TEST_F(NcclByNodes, ExactSumsHaveTheBitsOfTheHost) {
  constexpr std::size_t counts[] = {1, 7, 1009, 4032, 2, 97};
  unsigned turn = 0;
  for (int N = 1; N <= 4; ++N)
    for (const Collective collective : nccl_collectives)
      for (const DType type : types) {
        ++turn;
        const Reduction op = turn % 7 == 3 ? Reduction::min : turn % 7 == 5 ? Reduction::max : Reduction::sum;
        const Trial trial =
            on(N, {.collective = collective,
                   .policy = turn % 3 == 0 ? "abs:1e-2,codec=planes,segments=3" : "abs:1e-2,codec=planes",
                   .count = counts[turn % std::size(counts)],
                   .type = type,
                   .pattern = Pattern::steps,
                   .op = reduces(collective) ? op : Reduction::sum,
                   .root = static_cast<int>(turn) % (N * L),
                   .in_place = turn % 2 == 1,
                   .mean = reduces(collective) && op == Reduction::sum && turn % 4 == 0});
        SCOPED_TRACE(text_of(trial));
        NcclJob job(trial);
        run(trial, job);
        expect_outputs_of_host(trial, job);
      }
}

// The first ranks of each node lead, as many as the last node has.
TEST_F(NcclByNodes, TheLastNodeLacksAGpu) {
  if (L == 1) return;  // flat
  unsigned turn = 0;
  for (const int N : {2, 3})
    for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast})
      for (const std::size_t count : {1u, 97u, 4032u}) {
        ++turn;
        Trial trial{.collective = collective,
                    .policy = "abs:1e-2,codec=planes,nodes=on",
                    .count = count,
                    .pattern = Pattern::steps,
                    .in_place = turn % 2 == 1};
        trial.P = N * L - 1;
        trial.nodes = nodes_of(trial.P, L);
        trial.root = static_cast<int>(turn) % trial.P;
        SCOPED_TRACE(text_of(trial));
        NcclJob job(trial);
        run(trial, job);
        expect_outputs_of_host(trial, job);
      }
}

TEST_F(NcclByNodes, OtherSumsKeepTheBoundAndAreAlikeOnAllRanks) {
  unsigned turn = 0;
  for (int N = 2; N <= 4; ++N)
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce_scatter, Collective::reduce})
      for (const DType type : types) {
        ++turn;
        const Trial trial = on(N, {.collective = collective,
                                   .policy = "abs:1e-2,codec=planes",
                                   .count = turn % 2 == 0 ? 2003u : 2016u,
                                   .type = type,
                                   .pattern = turn % 3 == 0 ? Pattern::wild : Pattern::noisy,
                                   .in_place = turn % 2 == 1});
        SCOPED_TRACE(text_of(trial));
        NcclJob job(trial);
        run(trial, job);
        for (int r = 0; r < trial.P; ++r) EXPECT_EQ(job.done().check(r, 1e-2, 2 * trial.P), "");
        EXPECT_TRUE(job.done().same_bits());
      }
}

// On a node a sum is one ReduceScatter and one AllGather of NCCL; parts of two sizes are reduced and
// broadcast one by one. Frames alone go between nodes.
TEST_F(NcclByNodes, ValuesMoveByTheCollectivesOfNccl) {
  if (L == 1) return;  // flat
  constexpr int N = 3;
  const auto P = static_cast<unsigned long>(N * L);
  for (const bool even : {true, false}) {
    const std::size_t count = 40320 + (even ? 0 : 1);
    const Trial trial = on(N, {.policy = "abs:1e-2,codec=planes,segments=1", .count = count});
    NcclJob job(trial);
    const unsigned long sums = fake_nccl::calls_of("ReduceScatter"),
                        gathers = fake_nccl::calls_of("AllGather"), reduces = fake_nccl::calls_of("Reduce"),
                        bytes = fake_nccl::sent_bytes(), messages = fake_nccl::sent_messages();
    run(trial, job);
    EXPECT_EQ(fake_nccl::calls_of("ReduceScatter") - sums, even ? P : 0);
    EXPECT_EQ(fake_nccl::calls_of("Reduce") - reduces, even ? 0 : P * static_cast<unsigned long>(L));
    EXPECT_GE(fake_nccl::calls_of("AllGather") - gathers, even ? P : 0);
    const unsigned long rounds = static_cast<unsigned long>(log2_ceil(N * L)) + 6;  // a step on a node is one
    EXPECT_LT(fake_nccl::sent_bytes() - bytes, 1100 * P * (P - 1) * rounds + 2 * (N - 1) * 4 * count / 2);
    EXPECT_LE(fake_nccl::sent_messages() - messages, P * (P - 1) * rounds + 4 * (N - 1) * P);
  }
}

// Frames that are shared on a node give the bits of shared values, without the AllGather or Broadcasts of
// these.
TEST_F(NcclByNodes, SharedFramesHaveTheBitsOfSharedValues) {
  if (L == 1) return;  // flat
  const auto calls = [] { return fake_nccl::calls_of("AllGather") + fake_nccl::calls_of("Broadcast"); };
  constexpr const char* hows[] = {"", ",reduction=values", ",segments=3"};
  unsigned turn = 0;
  for (int N = 2; N <= 4; ++N)
    for (const std::size_t count : {1u, 97u, 4032u, 9001u}) {
      ++turn;
      const std::string policy =
          std::string("abs:1e-2,codec=planes,algorithm=halving_doubling") + hows[turn % std::size(hows)];
      Trial trial = on(N, {.policy = policy,
                           .count = count,
                           .type = types[turn % std::size(types)],
                           .pattern = turn % 2 == 0 ? Pattern::wild : Pattern::noisy,
                           .in_place = turn % 5 < 2,
                           .mean = turn % 4 == 0});
      SCOPED_TRACE(text_of(trial));
      NcclJob values(trial), frames(trial);
      const unsigned long before = calls();
      run(trial, values);
      const unsigned long of_values = calls() - before;
      trial.policy = policy + ",nodes=frames";
      run(trial, frames);
      EXPECT_LT(calls() - before - of_values, of_values);
      EXPECT_TRUE(frames.done().outputs == values.done().outputs);
      EXPECT_TRUE(frames.done().same_bits());
    }
}

TEST_F(NcclByNodes, OtherAlgorithmsAndCodecs) {
  for (const char* const policy :
       {"abs:1e-2,codec=planes,algorithm=ring", "abs:1e-2,codec=planes,algorithm=two_shot",
        "abs:1e-2,codec=planes,algorithm=recursive_doubling", "rel:1e-3,codec=planes,segments=2",
        "snap:1e-2,codec=planes"}) {
    const Trial trial = on(3, {.policy = policy, .count = 3001, .pattern = Pattern::steps});
    SCOPED_TRACE(policy);
    NcclJob job(trial);
    run(trial, job);
    expect_outputs_of_host(trial, job);
  }
  for (const Collective collective : {Collective::allgather, Collective::alltoall, Collective::bcast})
    for (const std::size_t count : {3001u, 60000u}) {  // an alltoall does not pack blocks above 4 KiB
      const Trial trial = on(2, {.collective = collective, .policy = "lossless,codec=mpc", .count = count});
      NcclJob job(trial);
      run(trial, job);
      expect_outputs_of_host(trial, job);
    }
}

// Calls of a stream that follow one another reuse the communicator of the node.
TEST_F(NcclByNodes, CallsFollowOneAnother) {
  const Trial trial = on(2, {});
  NcclRanks ranks(trial.P, trial.whole_policy());
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(4000, 1));
    for (int turn = 0; turn < 3; ++turn)
      EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 4000, ncclFloat32, ncclAvg, me.comm, me.stream), 0);
    me.finish();
    EXPECT_NEAR(x.peek(4000)[17], 1, 0.004);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A failed call of NCCL, the split included, or of CUDA ends the call on every rank.
TEST_F(NcclByNodes, FailuresAreReported) {
  if (L > 4) return;
  int errors = 0;
  std::vector<std::pair<Collective, std::string>> calls{
      {Collective::allreduce, "abs:1e-3,codec=planes,nodes=frames,algorithm=halving_doubling"}};
  for (const Collective collective : nccl_collectives)
    calls.emplace_back(collective, "abs:1e-3,codec=planes");
  for (const auto& [collective, policy] : calls)
    for (unsigned long n = 1; n <= 40; n += 3)
      for (const bool of_cuda : {false, true}) {
        const Trial trial =
            on(2, {.collective = collective, .policy = policy, .count = 400, .pattern = Pattern::steps});
        free_scratch();
        NcclJob job(trial);
        NcclRanks ranks(trial.P, trial.whole_policy());
        fake_nccl::set_patience(0.5);
        if (of_cuda)
          stand_in_at_call(n * 5, nullptr, nullptr);
        else
          fake_nccl::fail_at(n * static_cast<unsigned long>(L));
        std::atomic<bool> failed{false};
        ranks.run([&](NcclRank& me) {
          if (job.call(me) == 0) return;
          failed = true;
          note_failure();
          stand_in_finish();
        });
        stand_in_at_call(0, nullptr, nullptr);
        fake_nccl::fail_at(0);
        end_failure();
        errors += failed;
        if (!failed && !are_of_nccl(trial, job)) expect_outputs_of_host(trial, job);
      }
  EXPECT_GT(errors, 10);
}

TEST(NcclNodeComm, NeedsALibraryThatSplits) {
  nccl::Library old = nccl::library();
  EXPECT_TRUE(nccl::NodeComm::can_split(old));
  old.CommSplit = nullptr;
  EXPECT_FALSE(nccl::NodeComm::can_split(old));
}

}  // namespace by_nodes_test
}  // namespace taut::test

// Tests calls with exact sizes: they give the bits of the same calls on the host, are compressed, and keep
// NCCL's rules, which the simulated NCCL checks.
#include "gpu/nccl/calls.hpp"

namespace taut::test {
namespace {

void expect_bits_of_host(Trial trial) {
  trial = as_nccl_allows(trial);
  SCOPED_TRACE(text_of(trial));
  NcclRanks ranks(trial.P, trial.whole_policy());
  NcclJob job(trial);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error(); });
  expect_outputs_of_host(trial, job);
  const bool compresses = trial.P > 1 && trial.count > 0;
  EXPECT_EQ(stats_of(ranks[0]).compressed_calls, compresses ? 1u : 0u);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclExactSizes, EveryCallAndTypeGivesTheBitsOfTheHost) {
  unsigned turn = 0;
  for (const Collective collective : nccl_collectives)
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (int k = 0; k < 2; ++k, ++turn) {
        const int P = 2 + static_cast<int>(turn % 6);
        expect_bits_of_host({.collective = collective,
                             .policy = turn % 3 == 0 ? "abs:1e-2,codec=planes" : "rel:1e-3,codec=planes",
                             .P = P,
                             .count = turn % 2 == 0 ? 5040u : 840u,
                             .type = type,
                             .root = static_cast<int>(turn) % P,
                             .in_place = turn % 2 == 1});
      }
}

TEST(NcclExactSizes, EveryAlgorithmKeepsTheRulesOfNccl) {
  unsigned turn = 0;
  for (const AlgorithmInfo* const algorithm : registered_algorithms()) {
    if (std::ranges::find(nccl_collectives, algorithm->collective) == std::end(nccl_collectives)) continue;
    ++turn;
    for (const int P : {turn % 2 == 0 ? 2 : 3, turn % 2 == 0 ? 7 : 4})
      expect_bits_of_host(
          {.collective = algorithm->collective,
           .policy = std::string("abs:1e-2,codec=planes,segments=2,algorithm=") + algorithm->name,
           .P = P,
           .count = 1680,
           .root = P - 1});
  }
}

TEST(NcclExactSizes, OtherOperatorsAndCodecs) {
  for (const Reduction op : {Reduction::min, Reduction::max})
    expect_bits_of_host({.policy = "abs:1e-2,codec=planes", .P = 3, .op = op});
  expect_bits_of_host({.policy = "abs:1e-2,codec=planes", .P = 3, .mean = true});
  expect_bits_of_host({.collective = Collective::allgather, .policy = "lossless,codec=mpc", .P = 3});
  expect_bits_of_host({.collective = Collective::alltoall, .policy = "pwrel:1e-2,codec=mpc", .P = 4});
}

TEST(NcclExactSizes, IntegersMoveWithoutLoss) {
  for (const Collective collective : {Collective::allgather, Collective::bcast, Collective::alltoall})
    expect_bits_of_host(
        {.collective = collective, .policy = "lossless,codec=mpc", .P = 3, .type = DType::i32});
}

TEST(NcclExactSizes, HalvesMoveWithoutLoss) {
  for (const Collective collective : {Collective::allgather, Collective::bcast, Collective::alltoall})
    expect_bits_of_host(
        {.collective = collective, .policy = "lossless,codec=exponents", .P = 3, .type = DType::bf16});
}

TEST(NcclExactSizes, OneRankIsServedByNccl) { expect_bits_of_host({.P = 1}); }

// Results of calls that follow one another in a stream, without a wait of the program between.
TEST(NcclExactSizes, CallsFollowTheWorkOfTheirStream) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    stand_in_set_seed(seed);
    NcclRanks ranks(2, "abs:1e-3,codec=planes,when=always,min_bytes=1");
    ranks.run([&](NcclRank& me) {
      const std::vector<float> ones(4000, 1);
      const OnGpu<float> late(4000), source(ones), out(4000);
      cudaMemcpyAsync(late.data(), source.data(), 16000, cudaMemcpyDefault, me.stream);
      EXPECT_EQ(TAUT_Nccl_AllReduce(late.data(), out.data(), 4000, ncclFloat32, ncclSum, me.comm, me.stream),
                0);
      EXPECT_EQ(TAUT_Nccl_AllReduce(out.data(), out.data(), 4000, ncclFloat32, ncclSum, me.comm, me.stream),
                0);
      me.finish();
      EXPECT_NEAR(out.peek(4000)[17], 4, 0.004);
    });
  }
}

// NCCL serves what Taut does not code: the result is NCCL's.
TEST(NcclExactSizes, TheRestIsServedByNccl) {
  NcclRanks ranks(3, "abs:1e-3,codec=planes,when=always,min_bytes=100");
  ranks.run([&](NcclRank& me) {
    const OnGpu<int> integers(std::vector<int>(900, me.rank));
    const OnGpu<float> product(std::vector<float>(900, 2)), small(std::vector<float>(20, 1));
    EXPECT_EQ(
        TAUT_Nccl_AllReduce(integers.data(), integers.data(), 900, ncclInt32, ncclSum, me.comm, me.stream),
        0);
    EXPECT_EQ(
        TAUT_Nccl_AllReduce(product.data(), product.data(), 900, ncclFloat32, ncclProd, me.comm, me.stream),
        0);
    EXPECT_EQ(TAUT_Nccl_AllReduce(small.data(), small.data(), 20, ncclFloat32, ncclSum, me.comm, me.stream),
              0);
    EXPECT_EQ(TAUT_Nccl_AllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    me.finish();
    EXPECT_EQ(integers.peek(900)[899], 3);
    EXPECT_EQ(product.peek(900)[899], 8);
    EXPECT_EQ(small.peek(20)[19], 3);
    EXPECT_EQ(stats_of(me).compressed_calls, 0u);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclExactSizes, AnotherRootBufferIsBroadcast) {
  NcclRanks ranks(3, "abs:1e-3,codec=planes,when=always,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> from(std::vector<float>(1000, 5)), to(1000);
    EXPECT_EQ(TAUT_Nccl_Broadcast(from.data(), to.data(), 1000, ncclFloat32, 1, me.comm, me.stream), 0);
    me.finish();
    EXPECT_NEAR(to.peek(1000)[999], 5, 1e-3);
  });
}

TEST(NcclExactSizes, FewerBytesTravel) {
  const Trial trial = as_nccl_allows({.policy = "abs:1e-2,codec=planes", .P = 4, .count = 100000});
  NcclRanks ranks(trial.P, trial.whole_policy());
  NcclJob job(trial);
  const unsigned long before = fake_nccl::sent_bytes();
  ranks.run([&](NcclRank& me) { EXPECT_EQ(job.call(me), 0); });
  EXPECT_LT(fake_nccl::sent_bytes() - before, 2 * (4 - 1) * 100000 * 4 / 2);
}

// ---- Errors

TEST(NcclErrors, NameTheArgument) {
  NcclRanks ranks(1, "abs:1e-3");
  const NcclRank& me = ranks[0];
  std::vector<float> host(100);
  const OnGpu<float> x(100);
  EXPECT_EQ(TAUT_Nccl_AllReduce(host.data(), x.data(), 100, ncclFloat32, ncclSum, me.comm, me.stream), 1);
  EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("sendbuff is not memory of a GPU"), std::string::npos);
  EXPECT_EQ(TAUT_Nccl_Broadcast(x.data(), x.data(), 100, ncclFloat32, 1, me.comm, me.stream), 1);
  EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("root"), std::string::npos);
  EXPECT_EQ(TAUT_Nccl_AlltoAll(x.data(), x.data(), 100, ncclFloat32, me.comm, me.stream), 1);
  EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 100, ncclFloat32, ncclSum, nullptr, me.stream), 1);
  EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, 0.5), 1);
  EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("ratio"), std::string::npos);
  EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, "abs:nonsense"), 4);
}

TEST(NcclErrors, DifferentPoliciesAreRefused) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const char* const policy = me.rank == 2 ? "abs:1e-3" : "abs:1e-4";
    EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, policy), 40);
    EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("different policies"), std::string::npos);
  });
}

// A rank that cannot read its policy takes part in the comparison: the others would wait for it.
TEST(NcclErrors, APolicyThatOneRankCannotReadIsRefusedOnAll) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const char* const policy = me.rank == 2 ? "abs:nonsense" : "abs:1e-4";
    EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, policy), me.rank == 2 ? 4 : 40);
    EXPECT_NE(std::string(TAUT_Nccl_last_error()).find(me.rank == 2 ? "nonsense" : "cannot be read"),
              std::string::npos);
  });
}

// A failed agreement leaves copies on its stream: to the GPU where NCCL refuses the call, and from the GPU
// where a rank is missing. They run later than the call that failed.
TEST(NcclErrors, AFailedAgreementFreesItsMemoryAfterItsCopies) {
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  const unsigned long before = stand_in_memories();
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (const bool refused : {true, false}) {
      stand_in_set_seed(seed);
      fake_nccl::set_patience(0.01);
      NcclThreads ranks(2);
      if (refused) fake_nccl::fail_at(1);
      EXPECT_EQ(TAUT_Nccl_comm_set_policy(ranks[0].comm, "abs:1e-3"), 80);
      fake_nccl::fail_at(0);
      stand_in_finish();
      EXPECT_EQ(fake_nccl::take_report().empty(), refused);
    }
  fake_nccl::set_patience(20);
  EXPECT_EQ(TAUT_Cuda_release(), 0);
  stand_in_finish();
  EXPECT_LE(stand_in_memories(), before);
}

TEST(NcclErrors, DifferentCallsAreRefusedOnAllRanks) {
  NcclRanks ranks(3, "abs:1e-3,codec=planes,when=always,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(4000, 1));
    const std::size_t count = me.rank == 1 ? 3000 : 4000;
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, me.comm, me.stream), 40);
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 4000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclErrors, AFailureOfNcclIsAnErrorOfTheCall) {
  fake_nccl::set_patience(0.3);
  for (unsigned long n = 1; n <= 12; ++n) {
    NcclRanks ranks(2, "abs:1e-3,codec=planes,when=always,min_bytes=1");
    fake_nccl::fail_at(n);
    std::vector<int> codes(2);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(4000, 1));
      int& code = codes[static_cast<std::size_t>(me.rank)];
      code = TAUT_Nccl_AllReduce(x.data(), x.data(), 4000, ncclFloat32, ncclSum, me.comm, me.stream);
      stand_in_finish();
    });
    EXPECT_TRUE(codes[0] == 80 || codes[1] == 80) << n << ": " << codes[0] << " " << codes[1];
    fake_nccl::fail_at(0);
    fake_nccl::take_report();
  }
  fake_nccl::set_patience(20);
}

}  // namespace
}  // namespace taut::test

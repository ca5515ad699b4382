// Tests the calls of taut_nccl.h over the real NCCL: the bits of the same calls on the host, on 2 ranks and
// on as many as there are processes.
#include <set>

#include "gpu/nccl/coded_values.hpp"

namespace taut::test {
namespace {

std::set<int> numbers_of_ranks() { return {2, processes()}; }

// Makes the call on all ranks; with a ratio in capacity mode, and then settles it.
void expect_bits_of_host(const Trial& asked, double ratio = 0) {
  const Trial trial = as_nccl_allows(asked);
  SCOPED_TRACE(text_of(trial) + " ratio " + std::to_string(ratio));
  NcclRanks ranks(trial.P, trial.whole_policy(), ratio);
  if (ranks.size() == 0) return;  // another process
  NcclJob job(trial);
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
    if (ratio > 0) {
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0) << TAUT_Nccl_last_error();
    }
    me.finish();
    const TAUT_Nccl_stats stats = stats_of(me);
    EXPECT_EQ(ratio > 0 ? stats.capacity_calls : stats.compressed_calls, 1u);
  });
  expect_outputs_of_host(trial, job);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(RealNccl, ExactSizesGiveTheBitsOfTheHost) {
  for (const int P : numbers_of_ranks())
    for (const Collective collective : nccl_collectives)
      for (const std::string coding :
           {"abs:1e-3,codec=planes", "rel:1e-3,codec=planes", "lossless,codec=mpc"})
        for (const bool in_place : {false, true})
          expect_bits_of_host({.collective = collective,
                               .policy = coding,
                               .P = P,
                               .count = 20160,
                               .root = P - 1,
                               .in_place = in_place});
}

TEST(RealNccl, TypesGiveTheBitsOfTheHost) {
  for (const Collective collective : nccl_collectives)
    for (const DType type : {DType::f64, DType::f16, DType::bf16})
      expect_bits_of_host(
          {.collective = collective, .policy = "abs:1e-2,codec=planes", .P = 2, .type = type});
  for (const Collective collective : {Collective::allgather, Collective::bcast, Collective::alltoall})
    expect_bits_of_host(
        {.collective = collective, .policy = "lossless,codec=mpc", .P = 2, .type = DType::i32});
}

TEST(RealNccl, OperatorsGiveTheBitsOfTheHost) {
  for (const Reduction op : {Reduction::min, Reduction::max})
    expect_bits_of_host({.policy = "abs:1e-2,codec=planes", .P = 2, .op = op});
  expect_bits_of_host({.policy = "abs:1e-2,codec=planes", .P = 2, .mean = true});
}

TEST(RealNccl, CapacityGivesTheBitsOfTheHost) {
  for (const int P : numbers_of_ranks())
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce_scatter, Collective::allgather, Collective::bcast})
      for (const double ratio : {1.0, 20.0})  // rooms in which everything fits, and nothing
        for (const Pattern pattern : {Pattern::smooth, Pattern::noisy})
          expect_bits_of_host({.collective = collective,
                               .policy = "abs:1e-4,codec=planes,predictor=delta",
                               .P = P,
                               .count = 30000,
                               .pattern = pattern,
                               .root = 1},
                              ratio);
}

TEST(RealNccl, MessagesInARing) {
  constexpr std::size_t n = 20000;
  for (const int P : numbers_of_ranks())
    for (const char* const coding : {"abs:1e-3,codec=planes", "lossless,codec=mpc"})
      for (const DType type : {DType::f32, DType::f64, DType::f16}) {
        NcclRanks ranks(P, std::string(coding) + ",min_bytes=1");
        ranks.run([&](NcclRank& me) {
          const auto values_of = [&](int rank) {
            return make_values(type, n, Pattern::smooth, static_cast<std::uint64_t>(rank));
          };
          const int to = (me.rank + 1) % P, from = (me.rank + P - 1) % P;
          const OnGpu<std::byte> out = on_gpu(values_of(me.rank)), in(n * size_of(type));
          EXPECT_EQ(TAUT_Nccl_GroupStart(), 0);
          EXPECT_EQ(TAUT_Nccl_Send(out.data(), n, nccl_type(type), to, me.comm, me.stream), 0);
          EXPECT_EQ(TAUT_Nccl_Recv(in.data(), n, nccl_type(type), from, me.comm, me.stream), 0);
          EXPECT_EQ(TAUT_Nccl_GroupEnd(), 0) << TAUT_Nccl_last_error();
          EXPECT_TRUE(fetched(in, type) == as_coded(values_of(from), coding));
        });
        EXPECT_EQ(fake_nccl::take_report(), "");
      }
}

TEST(RealNccl, MessagesAloneAndPlain) {
  for (const char* const policy : {"abs:1e-3,codec=planes,min_bytes=1", "abs:1e-3,codec=planes", "off"}) {
    NcclRanks ranks(2, policy);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(1000, static_cast<float>(me.rank + 1)));
      const int code = me.rank == 0 ? TAUT_Nccl_Send(x.data(), 1000, ncclFloat32, 1, me.comm, me.stream)
                                    : TAUT_Nccl_Recv(x.data(), 1000, ncclFloat32, 0, me.comm, me.stream);
      EXPECT_EQ(code, 0) << TAUT_Nccl_last_error();
      me.finish();
      EXPECT_NEAR(x.peek(1000)[999], 1, 1e-3);
    });
  }
}

// NCCL serves what Taut does not code: the result is NCCL's.
TEST(RealNccl, TheRestIsServedByNccl) {
  NcclRanks ranks(2, "abs:1e-3,codec=planes,when=always,min_bytes=100");
  ranks.run([&](NcclRank& me) {
    const OnGpu<int> integers(std::vector<int>(900, me.rank + 1));
    const OnGpu<float> product(std::vector<float>(900, 2)), small(std::vector<float>(20, 1));
    EXPECT_EQ(
        TAUT_Nccl_AllReduce(integers.data(), integers.data(), 900, ncclInt32, ncclSum, me.comm, me.stream),
        0);
    EXPECT_EQ(
        TAUT_Nccl_AllReduce(product.data(), product.data(), 900, ncclFloat32, ncclProd, me.comm, me.stream),
        0);
    EXPECT_EQ(TAUT_Nccl_AllReduce(small.data(), small.data(), 20, ncclFloat32, ncclSum, me.comm, me.stream),
              0);
    me.finish();
    EXPECT_EQ(integers.peek(900)[899], 3);
    EXPECT_EQ(product.peek(900)[899], 4);
    EXPECT_EQ(small.peek(20)[19], 2);
    EXPECT_EQ(stats_of(me).compressed_calls, 0u);
  });
}

// The bound holds for the sum in double precision, and fewer bytes are made than the values have.
TEST(RealNccl, SumsKeepTheirBoundInFewerBytes) {
  constexpr std::size_t n = 1 << 20;
  for (const double ratio : {0.0, 2.0}) {
    NcclRanks ranks(2, "abs:1e-4,codec=planes,predictor=delta,when=always,min_bytes=1", ratio);
    ranks.run([&](NcclRank& me) {
      const auto value_of = [](int rank, std::size_t i) {
        return std::sin(1e-3F * static_cast<float>(i) + static_cast<float>(rank));
      };
      std::vector<float> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = value_of(me.rank, i);
      const OnGpu<float> x(values), sum(n);
      EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), sum.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), 0)
          << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0) << TAUT_Nccl_last_error();
      me.finish();
      const std::vector<float> got = sum.peek(n);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i)
        worst = std::max(worst, std::abs(double(got[i]) - value_of(0, i) - value_of(1, i)));
      EXPECT_LE(worst, 1e-4);
      const TAUT_Nccl_stats stats = stats_of(me);
      EXPECT_TRUE(ratio > 0 || 2 * stats.frame_bytes < stats.value_bytes);
    });
  }
}

}  // namespace
}  // namespace taut::test

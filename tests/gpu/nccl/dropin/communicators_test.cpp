// Tests of communicators that are made of others, and of groups whose calls are not made.
#include "gpu/nccl/dropin/program.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 9000;

// Expects that the ranks of a communicator add up their values. with_rules.sh counts these calls.
void expect_sums(ncclComm_t comm, int rank, int ranks, cudaStream_t stream) {
  const auto P = static_cast<std::size_t>(ranks), me = static_cast<std::size_t>(rank);
  const OnGpu<float> x(values_of(rank, P * n)), part(n);
  EXPECT_EQ(ncclReduceScatter(x.data(), part.data(), n, ncclFloat32, ncclSum, comm, stream), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expect_near(part.peek(n), [&](std::size_t i) { return sum_of(ranks, me * n + i); });
}

TEST(NcclProgram, AShrunkCommunicator) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    if (me.rank == 1) return;
    int excluded = 1;
    ncclComm_t rest = nullptr;
    EXPECT_EQ(ncclCommShrink(me.comm, &excluded, 1, &rest, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess);
    expect_sums(rest, me.rank / 2, 2, me.stream);
    EXPECT_EQ(ncclCommDestroy(rest), ncclSuccess);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclProgram, ACommunicatorThatGrows) {
  NcclThreads ranks(2), others(1);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  const auto grow = [&](ncclComm_t comm, int rank, const NcclRank& me) {
    ncclComm_t grown = nullptr;
    EXPECT_EQ(ncclCommGrow(comm, 3, &id, comm != nullptr ? -1 : rank, &grown, nullptr), ncclSuccess);
    expect_sums(grown, rank, 3, me.stream);
    EXPECT_EQ(ncclCommDestroy(grown), ncclSuccess);
  };
  std::thread joins([&] { others.run([&](NcclRank& me) { grow(nullptr, 2, me); }); });
  ranks.run([&](NcclRank& me) { grow(me.comm, me.rank, me); });
  joins.join();
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// No call is in progress while a communicator is suspended.
TEST(NcclProgram, ASuspendedCommunicator) {
  NcclThreads ranks(2);
  std::vector<std::unique_ptr<OnGpu<float>>> x;
  for (int r = 0; r < 2; ++r) x.push_back(std::make_unique<OnGpu<float>>(values_of(r, n)));
  ranks.run([&](NcclRank& me) {
    float* const mine = x[static_cast<std::size_t>(me.rank)]->data();
    EXPECT_EQ(ncclAllReduce(mine, mine, n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    if (std::getenv("TAUT_NCCL_IN_FLIGHT") == nullptr) me.finish();  // as NCCL demands
    EXPECT_EQ(ncclCommSuspend(me.comm, NCCL_SUSPEND_MEM), ncclSuccess);
    EXPECT_EQ(ncclCommResume(me.comm), ncclSuccess);
    me.finish();
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A group whose time NCCL estimates makes no call, and later groups make theirs.
TEST(NcclProgram, AnEstimatedGroup) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(n, 1));
    const auto all_reduce = [&] {
      return ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclSum, me.comm, me.stream);
    };
    ncclSimInfo_t estimate = fake_estimate();
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(all_reduce(), ncclSuccess);
    EXPECT_EQ(ncclGroupSimulateEnd(&estimate), ncclSuccess);
    EXPECT_EQ(all_reduce(), ncclSuccess);
    EXPECT_EQ(ncclGroupSimulateEnd(&estimate), ncclSuccess);
    EXPECT_EQ(estimate.estimatedTime, 2);
    me.finish();
    EXPECT_EQ(x.peek(n)[0], 1);
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(all_reduce(), ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    }
    me.finish();
    EXPECT_NEAR(x.peek(n)[n - 1], 8, 0.02);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

}  // namespace
}  // namespace taut::test

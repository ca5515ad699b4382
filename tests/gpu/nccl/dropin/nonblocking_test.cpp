// Tests of communicators that are created with blocking = 0: NCCL serves their calls, with its bits and
// results.
#include "gpu/nccl/dropin/program.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 6000;

// Waits until the last call on a communicator has been made. Returns its result.
ncclResult_t await(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
  return state;
}

// Expects the bits of NCCL, which a rule would change.
void expect_sums_of_nccl(const NcclRank& me, ncclComm_t comm) {
  const OnGpu<float> x(values_of(me.rank, n)), mine(n), plain(n);
  EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclSum, comm, me.stream), ncclInProgress);
  EXPECT_EQ(await(comm), ncclSuccess);
  EXPECT_EQ(pncclAllReduce(x.data(), plain.data(), n, ncclFloat32, ncclSum, comm, me.stream), ncclInProgress);
  EXPECT_EQ(await(comm), ncclSuccess);
  me.finish();
  EXPECT_EQ(mine.peek(n), plain.peek(n));
}

TEST(NcclProgram, NonblockingCommunicatorsAreNccls) {
  NcclThreads ranks(3);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ranks.run([&](NcclRank& me) {
    ncclConfig_t config = fake_config(0);
    ncclComm_t whole = nullptr, part = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&whole, 3, id, me.rank, &config), ncclInProgress);
    EXPECT_EQ(await(whole), ncclSuccess);
    expect_sums_of_nccl(me, whole);
    EXPECT_EQ(ncclCommSplit(whole, 0, me.rank, &part, nullptr), ncclInProgress);
    EXPECT_EQ(await(whole), ncclSuccess);
    EXPECT_EQ(await(part), ncclSuccess);
    expect_sums_of_nccl(me, part);
    EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(whole), ncclSuccess);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A part of a nonblocking communicator, itself a blocking one, is left to NCCL too: on some ranks the
// creation could still be in progress when Taut's agreement began.
TEST(NcclProgram, PartsOfNonblockingCommunicatorsAreNccls) {
  NcclThreads ranks(2);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ranks.run([&](NcclRank& me) {
    ncclConfig_t nonblocking = fake_config(0), blocking = fake_config(1);
    ncclComm_t whole = nullptr, part = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&whole, 2, id, me.rank, &nonblocking), ncclInProgress);
    EXPECT_EQ(await(whole), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(whole, 0, me.rank, &part, &blocking), ncclInProgress);
    EXPECT_EQ(await(whole), ncclSuccess);
    const OnGpu<float> x(values_of(me.rank, n)), mine(n), plain(n);
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclSum, part, me.stream), ncclSuccess);
    EXPECT_EQ(pncclAllReduce(x.data(), plain.data(), n, ncclFloat32, ncclSum, part, me.stream), ncclSuccess);
    me.finish();
    EXPECT_EQ(mine.peek(n), plain.peek(n));
    EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(whole), ncclSuccess);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// The report of a process without other communicators has this rank in its name: rank 1, which is made first.
TEST(NcclProgram, RanksOfNonblockingCommunicatorsAreKnown) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = fake_config(0);
  ncclComm_t comms[2] = {};
  cudaStream_t stream[2] = {};
  for (const int r : {1, 0}) {
    EXPECT_EQ(ncclCommInitRankConfig(&comms[r], 2, id, r, &config), ncclInProgress);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking), cudaSuccess);
  }
  const OnGpu<float> x(values_of(0, n)), sums(2 * n);
  for (const int r : {0, 1}) EXPECT_EQ(await(comms[r]), ncclSuccess);
  for (const int r : {0, 1})
    EXPECT_EQ(ncclAllReduce(x.data(), sums.data() + static_cast<std::size_t>(r) * n, n, ncclFloat32, ncclSum,
                            comms[r], stream[r]),
              ncclInProgress);
  for (const int r : {0, 1}) EXPECT_EQ(await(comms[r]), ncclSuccess);
  for (const int r : {0, 1}) {
    EXPECT_EQ(cudaStreamSynchronize(stream[r]), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream[r]), cudaSuccess);
    EXPECT_EQ(ncclCommDestroy(comms[r]), ncclSuccess);
  }
  EXPECT_EQ(fake_nccl::take_report(), "");
}

}  // namespace
}  // namespace taut::test

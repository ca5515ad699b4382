// Tests of order: streams, groups, several communicators and threads.
#include <memory>

#include "gpu/nccl/dropin/program.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 6000;

TEST(NcclProgram, CallsFollowTheWorkOfTheirStream) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    stand_in_set_seed(seed);
    NcclThreads ranks(2);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> source(std::vector<float>(n, 1)), late(n), sum(n), copy(n);
      for (int turn = 0; turn < 3; ++turn) {
        cudaMemcpyAsync(late.data(), source.data(), n * sizeof(float), cudaMemcpyDefault, me.stream);
        EXPECT_EQ(ncclAllReduce(late.data(), sum.data(), n, ncclFloat32, ncclSum, me.comm, me.stream),
                  ncclSuccess);
        EXPECT_EQ(ncclAllReduce(sum.data(), sum.data(), n, ncclFloat32, ncclSum, me.comm, me.stream),
                  ncclSuccess);
        cudaMemcpyAsync(copy.data(), sum.data(), n * sizeof(float), cudaMemcpyDefault, me.stream);
      }
      me.finish();
      EXPECT_NEAR(copy.peek(n)[17], 4, 4e-3);
    });
    EXPECT_EQ(fake_nccl::take_report(), "");
  }
}

// Calls that Taut serves and calls of NCCL alternate, on two streams.
TEST(NcclProgram, OneOrderOfAllCalls) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    const OnGpu<float> x(values_of(me.rank, n)), y(values_of(me.rank, n));
    const OnGpu<int> integers(std::vector<int>(n, 1));
    for (int turn = 0; turn < 4; ++turn) {
      EXPECT_EQ(ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclAvg, me.comm, me.stream), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(integers.data(), integers.data(), n, ncclInt32, ncclSum, me.comm, other),
                ncclSuccess);
      EXPECT_EQ(ncclAllReduce(y.data(), y.data(), n, ncclFloat32, ncclAvg, me.comm, other), ncclSuccess);
    }
    me.finish();
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(integers.peek(n)[n - 1], 81);
    EXPECT_NEAR(x.peek(n)[5], sum_of(3, 5) / 3, 4 * bound());
    EXPECT_NEAR(y.peek(n)[5], sum_of(3, 5) / 3, 4 * bound());
    cudaStreamDestroy(other);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclProgram, GroupsOfCallsAndMessages) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const int right = (me.rank + 1) % 3, left = (me.rank + 2) % 3;
    const OnGpu<float> x(values_of(me.rank, n)), y(values_of(me.rank, n)), in(n), out(values_of(me.rank, n));
    const OnGpu<int> integers(std::vector<int>(n, 1));
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclAvg, me.comm, me.stream), ncclSuccess);
      EXPECT_EQ(ncclSend(out.data(), n, ncclFloat32, right, me.comm, me.stream), ncclSuccess);
      EXPECT_EQ(ncclRecv(in.data(), n, ncclFloat32, left, me.comm, me.stream), ncclSuccess);
      EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(y.data(), y.data(), n, ncclFloat32, ncclAvg, me.comm, me.stream), ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
      EXPECT_EQ(ncclAllReduce(integers.data(), integers.data(), n, ncclInt32, ncclSum, me.comm, me.stream),
                ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    }
    me.finish();
    expect_near(in.peek(n), [&](std::size_t i) { return value_of(left, i); });
    EXPECT_EQ(integers.peek(n)[0], 9);
    EXPECT_NEAR(x.peek(n)[9], sum_of(3, 9) / 3, 2 * bound());
    EXPECT_NEAR(y.peek(n)[9], sum_of(3, 9) / 3, 2 * bound());
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// One thread creates and drives all ranks.
TEST(NcclProgram, OneThreadDrivesAllRanks) {
  constexpr int P = 3;
  constexpr int devices[P] = {0, 1, 0};
  ncclComm_t comms[P];
  cudaStream_t streams[P];
  std::vector<std::unique_ptr<OnGpu<float>>> x;
  EXPECT_EQ(ncclCommInitAll(comms, P, devices), ncclSuccess);
  for (std::size_t r = 0; r < P; ++r) {
    cudaSetDevice(devices[r]);
    EXPECT_EQ(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking), cudaSuccess);
    x.push_back(std::make_unique<OnGpu<float>>(values_of(static_cast<int>(r), n), 0, devices[r]));
  }
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t r = 0; r < P; ++r) {
      cudaSetDevice(devices[r]);
      EXPECT_EQ(ncclAllReduce(x[r]->data(), x[r]->data(), n, ncclFloat32, ncclAvg, comms[r], streams[r]),
                ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  }
  for (std::size_t r = 0; r < P; ++r) {
    cudaSetDevice(devices[r]);
    EXPECT_EQ(cudaStreamSynchronize(streams[r]), cudaSuccess);
    EXPECT_NEAR(x[r]->peek(n)[7], sum_of(P, 7) / P, 2 * bound());
    cudaStreamDestroy(streams[r]);
  }
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  cudaSetDevice(0);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Parts of a communicator, used at the same time as the whole, and communicators by ncclCommInitRank.
TEST(NcclProgram, SeveralCommunicators) {
  NcclThreads ranks(4);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ranks.run([&](NcclRank& me) {
    cudaStream_t other = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    ncclComm_t half = nullptr, whole = nullptr, none = nullptr;
    EXPECT_EQ(ncclCommSplit(me.comm, me.rank % 2, me.rank, &half, nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommSplit(me.comm, NCCL_SPLIT_NOCOLOR, 0, &none, nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommInitRankConfig(&whole, 4, id, me.rank, nullptr), ncclSuccess);
    const OnGpu<float> x(values_of(me.rank, n)), y(values_of(me.rank, n)), z(values_of(me.rank, n));
    EXPECT_EQ(ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(y.data(), y.data(), n, ncclFloat32, ncclSum, half, other), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(z.data(), z.data(), n, ncclFloat32, ncclSum, whole, me.stream), ncclSuccess);
    me.finish();
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    expect_near(x.peek(n), [](std::size_t i) { return sum_of(4, i); });
    expect_near(y.peek(n), [&](std::size_t i) {
      return static_cast<double>(value_of(me.rank % 2, i)) + value_of(me.rank % 2 + 2, i);
    });
    expect_near(z.peek(n), [](std::size_t i) { return sum_of(4, i); });
    EXPECT_EQ(ncclCommFinalize(half), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(half), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(whole), ncclSuccess);
    cudaStreamDestroy(other);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// NCCL captures the call. From that call on, it serves the communicator.
TEST(NcclProgram, CapturedStreamsAreNccls) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank, n)), mine(n), plain(n);
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    me.finish();
    cudaStream_t captured = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclSum, me.comm, captured), ncclSuccess);
    EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(exec, captured), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(captured), cudaSuccess);
    const std::vector<float> of_graph = mine.peek(n);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(captured);
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(pncclAllReduce(x.data(), plain.data(), n, ncclFloat32, ncclSum, me.comm, me.stream),
              ncclSuccess);
    me.finish();
    EXPECT_EQ(mine.peek(n), plain.peek(n));
    EXPECT_EQ(of_graph, plain.peek(n));
  });
}

}  // namespace
}  // namespace taut::test

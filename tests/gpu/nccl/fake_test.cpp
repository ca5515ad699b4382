// Tests the simulated NCCL itself: its results, and that it reports programs which break NCCL's rules.
#include <numeric>

#include "gpu/nccl/threads.hpp"
#include "gpu/runtime/gpu.hpp"

namespace taut::test {
namespace fake_test {

using Floats = std::vector<float>;

constexpr std::size_t count = 30;

Floats values_of(int rank, std::size_t n = count) {
  Floats values(n);
  std::iota(values.begin(), values.end(), static_cast<float>(100 * rank));
  return values;
}

class FakeNccl : public testing::Test {
 protected:
  void SetUp() override { EXPECT_EQ(fake_nccl::take_report(), ""); }
  void TearDown() override {
    fake_nccl::set_patience(20);
    fake_nccl::fail_at(0);
    EXPECT_EQ(fake_nccl::take_report(), "");
  }
  static void expect_report(const std::string& part) {
    const std::string report = fake_nccl::take_report();
    EXPECT_NE(report.find(part), std::string::npos) << report;
  }
};

TEST_F(FakeNccl, CollectivesGiveTheirResults) {
  NcclThreads ranks(3, -1);
  ranks.run([&](NcclRank& me) {
    const int device = me.rank % stand_in_devices;
    const OnGpu<float> x(3 * count, 0, device), sum(3 * count, 0, device), part(count, 0, device),
        all(3 * count, 0, device);
    stand_in_copy(x.data(), values_of(me.rank, 3 * count).data(), 12 * count);
    const auto f32 = ncclFloat32;
    EXPECT_EQ(ncclAllReduce(x.data(), sum.data(), 3 * count, f32, ncclSum, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclReduceScatter(x.data(), part.data(), count, f32, ncclMax, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclAllGather(part.data(), all.data(), count, f32, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclReduce(x.data(), part.data(), count, f32, ncclAvg, 2, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(x.data(), x.data(), 3 * count, f32, 1, me.comm, me.stream), ncclSuccess);
    me.finish();
    EXPECT_EQ(sum.peek(3 * count)[4], 300 + 3 * 4);
    EXPECT_EQ(all.peek(3 * count), values_of(2, 3 * count));
    EXPECT_EQ(x.peek(3 * count), values_of(1, 3 * count));
    if (me.rank == 2) {
      EXPECT_EQ(part.peek(count), values_of(1));
    }
  });
}

TEST_F(FakeNccl, MessagesOfAGroupMoveTogether) {
  NcclThreads ranks(4);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> in(values_of(me.rank)), out(count);
    ncclGroupStart();
    EXPECT_EQ(ncclSend(in.data(), count, ncclFloat32, (me.rank + 1) % 4, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(out.data(), count, ncclFloat32, (me.rank + 3) % 4, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    me.finish();
    EXPECT_EQ(out.peek(count), values_of((me.rank + 3) % 4));
  });
}

// Without a group every rank waits for its own message to be received.
TEST_F(FakeNccl, ARingWithoutAGroupIsADeadlock) {
  fake_nccl::set_patience(0.3);
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> in(values_of(me.rank)), out(count);
    ncclSend(in.data(), count, ncclFloat32, (me.rank + 1) % 3, me.comm, me.stream);
    ncclRecv(out.data(), count, ncclFloat32, (me.rank + 2) % 3, me.comm, me.stream);
    me.finish();
    ncclResult_t error = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(me.comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclRemoteError);
  });
  const std::string report = fake_nccl::take_report();
  EXPECT_NE(report.find("deadlock"), std::string::npos) << report;
  EXPECT_NE(report.find("rank 2 Send of 30 values of type 7 to 0"), std::string::npos) << report;
}

TEST_F(FakeNccl, ReportsDifferentCounts) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank));
    if (me.rank == 0)
      ncclSend(x.data(), count, ncclFloat32, 1, me.comm, me.stream);
    else
      ncclRecv(x.data(), count - 1, ncclFloat32, 0, me.comm, me.stream);
    me.finish();
  });
  expect_report("rank 0 Send of 30 values of type 7 to 1 meets rank 1 Recv of 29 values");
}

TEST_F(FakeNccl, ReportsDifferentTypesAndOperators) {
  for (const bool of_type : {false, true}) {
    NcclThreads ranks(2);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(values_of(me.rank));
      const auto type = of_type && me.rank == 1 ? ncclInt32 : ncclFloat32;
      const auto op = !of_type && me.rank == 1 ? ncclMax : ncclSum;
      ncclAllReduce(x.data(), x.data(), count, type, op, me.comm, me.stream);
      me.finish();
    });
    expect_report("AllReduce");
  }
}

TEST_F(FakeNccl, ReportsCallsInAnotherOrder) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank)), y(values_of(me.rank));
    for (const int turn : {0, 1})
      if (turn == me.rank)
        ncclAllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, me.comm, me.stream);
      else
        ncclBroadcast(y.data(), y.data(), count, ncclFloat32, 0, me.comm, me.stream);
    me.finish();
  });
  expect_report("meets");
}

TEST_F(FakeNccl, RefusesMemoryThatTheGpuCannotUse) {
  NcclThreads ranks(1);
  NcclRank& me = ranks[0];
  Floats host(count);
  const OnGpu<float> other(count, 0, 1), own(2 * count);
  EXPECT_EQ(ncclSend(host.data(), count, ncclFloat32, 0, me.comm, me.stream), ncclInvalidArgument);
  expect_report("memory that the GPU cannot access");
  EXPECT_EQ(ncclRecv(other.data(), count, ncclFloat32, 0, me.comm, me.stream), ncclInvalidArgument);
  expect_report("memory that the GPU cannot access");
  EXPECT_EQ(ncclAllReduce(own.data(), own.data() + 1, count, ncclFloat32, ncclSum, me.comm, me.stream),
            ncclInvalidArgument);
  expect_report("overlap");
  EXPECT_EQ(ncclSend(own.data(), count, ncclFloat32, 1, me.comm, me.stream), ncclInvalidArgument);
  expect_report("no such peer");
}

TEST_F(FakeNccl, TheNthCallFails) {
  NcclThreads ranks(1);
  const OnGpu<float> x(count);
  const auto sum = [&] {
    return ncclAllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, ranks[0].comm, ranks[0].stream);
  };
  fake_nccl::fail_at(2);
  EXPECT_EQ(sum(), ncclSuccess);
  EXPECT_EQ(sum(), ncclInternalError);
  EXPECT_EQ(sum(), ncclSuccess);
}

// Kernels of one communicator do not overlap: on two streams they run in the order of the calls.
TEST_F(FakeNccl, KernelsOfACommunicatorRunInOrder) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    stand_in_set_seed(seed);
    NcclThreads ranks(2);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(values_of(me.rank));
      cudaStream_t second = nullptr;
      cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
      ncclAllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, me.comm, me.stream);
      ncclBroadcast(x.data(), x.data(), count, ncclFloat32, 0, me.comm, second);
      EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
      EXPECT_EQ(x.peek(count)[1], 102);
      cudaStreamDestroy(second);
    });
  }
}

TEST_F(FakeNccl, SplitsCommunicators) {
  NcclThreads ranks(5);
  ranks.run([&](NcclRank& me) {
    ncclComm_t part = nullptr;
    const int color = me.rank == 4 ? NCCL_SPLIT_NOCOLOR : me.rank % 2;
    EXPECT_EQ(ncclCommSplit(me.comm, color, -me.rank, &part, nullptr), ncclSuccess);
    EXPECT_EQ(part == nullptr, me.rank == 4);
    if (part == nullptr) return;
    int rank = -1, size = 0;
    EXPECT_EQ(ncclCommUserRank(part, &rank), ncclSuccess);
    EXPECT_EQ(ncclCommCount(part, &size), ncclSuccess);
    EXPECT_EQ(rank, me.rank < 2);
    EXPECT_EQ(size, 2);
    const OnGpu<float> x(values_of(me.rank));
    EXPECT_EQ(ncclAllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, part, me.stream), ncclSuccess);
    me.finish();
    EXPECT_EQ(x.peek(1)[0], 200 * (me.rank % 2) + 200);
    ncclCommDestroy(part);
  });
}

TEST_F(FakeNccl, RanksMeetByAnIdentifier) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([=] {
      ncclComm_t comm = nullptr;
      EXPECT_EQ(ncclCommInitRank(&comm, 3, id, r), ncclSuccess);
      int rank = -1;
      EXPECT_EQ(ncclCommUserRank(comm, &rank), ncclSuccess);
      EXPECT_EQ(rank, r);
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    });
  for (std::thread& thread : threads) thread.join();
  fake_nccl::set_patience(0.2);
  ncclGetUniqueId(&id);
  ncclComm_t alone = nullptr;
  EXPECT_EQ(ncclCommInitRank(&alone, 2, id, 0), ncclRemoteError);
  expect_report("ranks are missing in ncclCommInitRank");
}

// Calls of graphs meet at each launch, in the order of the launches and of direct calls.
TEST_F(FakeNccl, GraphsRepeatTheirCalls) {
  NcclThreads ranks(3);
  std::vector<std::unique_ptr<OnGpu<float>>> sums, parts;
  for (int r = 0; r < 3; ++r) {
    sums.push_back(std::make_unique<OnGpu<float>>(Floats(count, 1)));
    parts.push_back(std::make_unique<OnGpu<float>>(count));
  }
  ranks.run([&](NcclRank& me) {
    float *const x = sums[static_cast<std::size_t>(me.rank)]->data(),
                 *const y = parts[static_cast<std::size_t>(me.rank)]->data();
    const auto sum = [&] {
      EXPECT_EQ(ncclAllReduce(x, x, count, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    };
    const Graph graph(me.stream, [&] {
      sum();
      ncclGroupStart();
      ncclSend(x, count, ncclFloat32, (me.rank + 1) % 3, me.comm, me.stream);
      ncclRecv(y, count, ncclFloat32, (me.rank + 2) % 3, me.comm, me.stream);
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    });
    me.finish();
    EXPECT_EQ(sums[static_cast<std::size_t>(me.rank)]->peek(1)[0], 1) << "a capture runs nothing";
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(graph.launch(me.stream), cudaSuccess);
      EXPECT_EQ(graph.launch(me.stream), cudaSuccess);
      sum();
    }
    me.finish();
  });
  EXPECT_EQ(sums[1]->peek(count), Floats(count, 729));
  EXPECT_EQ(parts[1]->peek(count), Floats(count, 243));
}

TEST_F(FakeNccl, ReportsAGraphOnSomeRanksOnly) {
  NcclThreads ranks(2);
  const OnGpu<float> x(count), y(count);
  ranks.run([&](NcclRank& me) {
    float* const own = me.rank == 0 ? x.data() : y.data();
    const auto sum = [&] { ncclAllReduce(own, own, count, ncclFloat32, ncclSum, me.comm, me.stream); };
    if (me.rank == 0) {
      const Graph graph(me.stream, sum);
      EXPECT_EQ(graph.launch(me.stream), cudaSuccess);
    } else {
      sum();
    }
    me.finish();
  });
  expect_report("in a graph");
}

TEST_F(FakeNccl, ReportsACommunicatorThatIsDestroyedBeforeItsGraphs) {
  NcclThreads ranks(1);
  NcclRank& me = ranks[0];
  const OnGpu<float> x(count);
  {
    const Graph graph(me.stream, [&] {
      ncclAllReduce(x.data(), x.data(), count, ncclFloat32, ncclSum, me.comm, me.stream);
    });
    EXPECT_EQ(ncclCommDestroy(me.comm), ncclInvalidUsage);
    expect_report("graphs");
  }
}

TEST_F(FakeNccl, ADamagedMessageArrives) {
  NcclThreads ranks(2);
  const OnGpu<float> x(values_of(0)), y(count);
  fake_nccl::damage_message(1);
  EXPECT_EQ(ncclSend(x.data(), count, ncclFloat32, 1, ranks[0].comm, ranks[0].stream), ncclSuccess);
  EXPECT_EQ(ncclRecv(y.data(), count, ncclFloat32, 0, ranks[1].comm, ranks[1].stream), ncclSuccess);
  stand_in_finish();
  EXPECT_NE(y.peek(count)[0], values_of(0)[0]);
  EXPECT_EQ(y.peek(count)[1], values_of(0)[1]);
  fake_nccl::damage_message(0);
}

TEST_F(FakeNccl, AbortEndsTheKernelsOfARank) {
  NcclThreads ranks(2);
  NcclRank& me = ranks[0];
  const OnGpu<float> x(count);
  EXPECT_EQ(ncclSend(x.data(), count, ncclFloat32, 1, me.comm, me.stream), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(me.comm), ncclSuccess);
  me.finish();
  me.comm = nullptr;
}

}  // namespace fake_test
}  // namespace taut::test

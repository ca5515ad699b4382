// Tests calls whose frames have slots of a fixed size: the host waits for nothing, results have the bits of
// the host, and blocks that do not fit are repeated.
#include <atomic>

#include <cstring>

#include "communication/gpu/memory.hpp"
#include "gpu/nccl/capacity.hpp"

namespace taut::test {
namespace {

TEST(NcclCapacity, GivesTheBitsOfTheHost) {
  unsigned turn = 0;
  for (const Collective collective : served)
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const unsigned k : {0u, 1u}) {
        ++turn;
        const int P = 1 + static_cast<int>((turn + 3 * k) % 7);
        const Trial trial = as_nccl_allows({.collective = collective,
                                            .policy = "abs:1e-2,codec=planes,predictor=delta",
                                            .P = P,
                                            .count = turn % 2 == 0 ? 9240u : 840u,
                                            .type = type,
                                            .root = static_cast<int>(turn) % P,
                                            .in_place = turn % 3 == 0});
        EXPECT_EQ(run_and_settle(trial, 1), 0u);
      }
}

// Frames of blocks fit at every ratio.
TEST(NcclCapacity, RepeatsNoFrameOfAFixedSize) {
  for (const Collective collective : {Collective::allgather, Collective::bcast})
    for (const DType type : {DType::f32, DType::f16, DType::bf16})
      for (const char* const policy : {"block:8", "block:6", "block:4"}) {
        const Trial trial = as_nccl_allows({.collective = collective,
                                            .policy = policy,
                                            .P = 3,
                                            .count = 3001,
                                            .type = type,
                                            .pattern = Pattern::noisy,
                                            .root = 1,
                                            .in_place = type == DType::f16});
        EXPECT_EQ(run_and_settle(trial, 40), 0u);
      }
}

// Sums, means and extremes of blocks have the bits that the host's algorithm `rank_order` gives.
TEST(NcclCapacity, ReducesByFramesOfAFixedSize) {
  unsigned turn = 0;
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter})
    for (const int P : {2, 3, 5, 8})
      for (const DType type : {DType::f32, DType::f16, DType::bf16})
        for (const char* const bits : {"8", "6", "4"}) {
          ++turn;
          const Reduction op = turn % 5 == 0   ? Reduction::min
                               : turn % 5 == 1 ? Reduction::max
                                               : Reduction::sum;
          const std::size_t counts[] = {40, 840, 3001, 9240};
          const Trial trial =
              as_nccl_allows({.collective = collective,
                              .policy = std::string("block:") + bits + ",algorithm=rank_order",
                              .P = P,
                              .count = counts[turn % 4],
                              .type = type,
                              .pattern = turn % 2 == 0 ? Pattern::noisy : Pattern::wild,
                              .op = op,
                              .in_place = turn % 3 == 0,
                              .mean = turn % 5 == 2});
          EXPECT_EQ(run_and_settle(trial, 40), 0u);
        }
}

// Frames without loss fit rooms of their values' size, or are repeated.
TEST(NcclCapacity, MovesHalvesWithoutLoss) {
  for (const Collective collective : {Collective::allgather, Collective::bcast})
    for (const double ratio : {1.0, 20.0}) {
      const Trial trial = as_nccl_allows({.collective = collective,
                                          .policy = "lossless,codec=exponents",
                                          .P = 3,
                                          .count = 9000,
                                          .type = DType::bf16,
                                          .pattern = Pattern::noisy,
                                          .root = 1});
      EXPECT_EQ(run_and_settle(trial, ratio), ratio == 1 ? 0u : collective == Collective::bcast ? 1u : 3u);
    }
}

// Noise does not fit rooms of a twentieth: every block is repeated, and the results are those of the host.
TEST(NcclCapacity, RepeatsWhatDoesNotFit) {
  for (const Collective collective : served)
    for (const bool in_place : {false, true}) {
      const Trial trial = as_nccl_allows({.collective = collective,
                                          .policy = "abs:1e-4,codec=planes,predictor=delta",
                                          .P = 3,
                                          .count = 30000,
                                          .pattern = Pattern::noisy,
                                          .root = 1,
                                          .in_place = in_place});
      EXPECT_EQ(run_and_settle(trial, 20), collective == Collective::bcast ? 1u : 3u);
    }
}

// One rank has noise in one block; the other blocks fit.
TEST(NcclCapacity, RepeatsOneBlockOnly) {
  constexpr std::size_t n = 12000;
  NcclRanks ranks(3, "abs:1e-4,codec=planes,predictor=delta,when=always,min_bytes=1", 4);
  ranks.run([&](NcclRank& me) {
    std::vector<float> values(n, 1);
    std::mt19937 random(1);
    for (std::size_t i = 4000; i < 8000 && me.rank == 2; ++i)
      values[i] = 1000 * static_cast<float>(random()) / 4e9F;
    const OnGpu<float> x(values);
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    me.finish();
    EXPECT_EQ(x.peek(n)[5000], values[5000]) << "a block that does not fit is left as it was";
    EXPECT_NEAR(x.peek(n)[9000], 3, 1e-4);
    std::size_t repeated = 0;
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, &repeated, me.stream), 0) << TAUT_Nccl_last_error();
    EXPECT_EQ(repeated, 1u);
    EXPECT_NEAR(x.peek(n)[9000], 3, 1e-4);
    if (me.rank == 2) {
      EXPECT_NEAR(x.peek(n)[5000], values[5000] + 2, 1e-4);
    }
  });
}

TEST(NcclCapacity, TheHostWaitsForNothing) {
  const Trial trial =
      as_nccl_allows({.policy = "abs:1e-2,codec=planes,predictor=delta", .P = 1, .count = 9000});
  NcclRanks ranks(2, trial.whole_policy(), 2);
  const OnGpu<float> x(std::vector<float>(9000, 1)), y(std::vector<float>(9000, 2));
  const auto enqueue = [&](int r, const OnGpu<float>& values) {
    EXPECT_EQ(TAUT_Nccl_AllReduce(values.data(), values.data(), 9000, ncclFloat32, ncclSum, ranks[r].comm,
                                  ranks[r].stream),
              0);
  };
  for (int turn = 0; turn < 3; ++turn) {  // one thread for both ranks: a call that waited would hang
    enqueue(0, x);
    enqueue(1, y);
  }
  const unsigned long waits = stand_in_waits();
  enqueue(0, x);
  enqueue(1, y);
  EXPECT_EQ(stand_in_waits(), waits);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0); });
  EXPECT_NEAR(x.peek(9000)[0], 24, 0.2);
  EXPECT_EQ(x.peek(9000), y.peek(9000));
}

// Memory ends at any allocation: the call is an error, or succeeds if it needs no more.
TEST(NcclCapacity, WithoutMemoryACallEndsWithAnError) {
  const Trial trial = as_nccl_allows(
      {.policy = "abs:1e-2,codec=planes,predictor=delta", .P = 3, .count = 900, .in_place = true});
  unsigned long missed = 1;
  for (unsigned long n = 1; missed > 0 && n < 100; ++n) {
    NcclRanks ranks(trial.P, trial.whole_policy(), 4);
    NcclJob job(trial);
    std::atomic<int> errors{0};
    stand_in_no_memory_at(n);
    fake_nccl::set_patience(0.2);
    ranks.run([&](NcclRank& me) {
      const int status = job.call(me);
      errors += status != 0;
      if (status == static_cast<int>(Status::out_of_memory)) {
        EXPECT_EQ(std::strstr(TAUT_Nccl_last_error(), "CUDA: "), nullptr) << TAUT_Nccl_last_error();
      }
      stand_in_finish();
    });
    missed = stand_in_no_memory_at(0);
    EXPECT_TRUE(errors == 0 || missed > 0);
    fake_nccl::set_patience(20);
    fake_nccl::take_report();
  }
  EXPECT_EQ(missed, 0u);
}

// The blocks of a call that has failed are missing, though no decoder has failed.
TEST(NcclCapacity, ACallThatFailedDoesNotSettleAsASuccess) {
  NcclRanks ranks(2, "abs:1e-2,codec=planes,predictor=delta,when=always,min_bytes=1", 4);
  std::vector<std::unique_ptr<OnGpu<float>>> x;
  for (int r = 0; r < 2; ++r) x.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(90000, 1)));
  const auto call = [&](const NcclRank& me, std::size_t n) {
    float* const own = x[static_cast<std::size_t>(me.rank)]->data();
    return TAUT_Nccl_AllReduce(own, own, n, ncclFloat32, ncclSum, me.comm, me.stream);
  };
  const auto expect_settled = [](const NcclRank& me, Status status) {
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), static_cast<int>(status));
  };
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(call(me, 64), 0);
    expect_settled(me, Status::ok);
  });
  stand_in_no_memory_at(1);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(call(me, 90000), static_cast<int>(Status::out_of_memory)); });
  stand_in_no_memory_at(0);
  ranks.run([&](NcclRank& me) {
    expect_settled(me, Status::peer_failed);
    EXPECT_EQ(call(me, 90000), 0);
    expect_settled(me, Status::ok);
  });
  EXPECT_NEAR(x[0]->peek(90000)[80000], 2, 0.02);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A rank whose peer has not come yet frees what Taut has, without a wait.
TEST(NcclCapacity, ReleaseOfAnUnsettledCallWaitsForNothing) {
  NcclRanks ranks(2, "abs:1e-2,codec=planes,predictor=delta,when=always,min_bytes=1", 4);
  const OnGpu<float> x(std::vector<float>(9000, 1)), y(std::vector<float>(9000, 2));
  const unsigned long waits = stand_in_waits();
  for (const int r : {0, 1}) {
    float* const own = (r == 0 ? x : y).data();
    EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, 9000, ncclFloat32, ncclSum, ranks[r].comm, ranks[r].stream), 0);
    EXPECT_EQ(TAUT_Nccl_comm_release(ranks[r].comm), 0);
  }
  EXPECT_EQ(stand_in_waits(), waits);
  stand_in_finish();
  EXPECT_NEAR(x.peek(9000)[8999], 3, 0.02);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A program destroys a stream whose calls are done: nobody waits for it any more.
TEST(NcclCapacity, StreamsMayEndAfterTheirCalls) {
  struct Kind {
    const char* policy;
    double ratio;
  };
  for (const auto& [policy, ratio] :
       {Kind{"abs:1e-2,codec=planes,predictor=delta,when=always,min_bytes=1", 4},
        {"block:8,algorithm=rank_order,when=always,min_bytes=1", 0}}) {
    SCOPED_TRACE(policy);
    NcclRanks ranks(2, policy, ratio);
    const OnGpu<float> x(std::vector<float>(9000, 1)), y(std::vector<float>(9000, 2));
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams)
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    const auto call = [&](const NcclRank& me, cudaStream_t stream) {
      float* const own = (me.rank == 0 ? x : y).data();
      EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, 9000, ncclFloat32, ncclSum, me.comm, stream), 0);
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, stream), 0);
    };
    ranks.run([&](NcclRank& me) { call(me, streams[me.rank]); });
    for (const cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    unsigned long waits[2];
    for (unsigned long& of_call : waits) {
      const unsigned long before = stand_in_waits();
      ranks.run([&](NcclRank& me) { call(me, me.stream); });
      of_call = stand_in_waits() - before;
    }
    EXPECT_EQ(waits[0], waits[1]);
  }
}

// Another device never becomes current: CUDA would make a context there.
TEST(FreeAfter, TouchesOneDevice) {
  static const gpu::DeviceServices& real = gpu::device_services("a test");
  static int others = 0;
  static const gpu::DeviceServices counting = [] {
    gpu::DeviceServices services = real;
    services.set_device = [](int device, int* before) {
      others += device != 1;
      return real.set_device(device, before);
    };
    return services;
  }();
  const gpu::CurrentDevice current(real, 1);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  gpu::free_after(counting, stream, std::make_shared<int>());
  EXPECT_EQ(others, 0);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// Unequal ratios would be unequal sizes of the messages of NCCL.
TEST(NcclCapacity, RatiosAreCompared) {
  NcclRanks ranks(3, "abs:1e-2,codec=planes,predictor=delta,when=always,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const int differs = static_cast<int>(Status::rank_mismatch);
    EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, me.rank == 1 ? 4 : 2), differs);
    EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, me.rank == 1 ? 0.5 : 2),
              me.rank == 1 ? static_cast<int>(Status::invalid_argument) : differs);
    const OnGpu<float> x(std::vector<float>(9000, 1));
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 9000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    me.finish();
    EXPECT_NEAR(x.peek(9000)[0], 3, 0.01);
    EXPECT_EQ(stats_of(me).capacity_calls, 0u) << "the sizes are exact as before";
  });
}

// Calls that capacity does not serve have exact sizes.
TEST(NcclCapacity, OtherCallsHaveExactSizes) {
  const Trial trial =
      as_nccl_allows({.collective = Collective::alltoall, .policy = "abs:1e-2,codec=planes", .P = 3});
  NcclRanks ranks(3, trial.whole_policy(), 4);
  NcclJob job(trial);
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(job.call(me), 0);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
  });
  expect_outputs_of_host(trial, job);
  EXPECT_EQ(stats_of(ranks[0]).compressed_calls, 1u);
}

}  // namespace
}  // namespace taut::test

// Tests collective calls on memory of GPUs, which the shim and a stand-in for the driver simulate: results
// equal the host's to the bit, whichever ranks have their values on a GPU. matrix_test.cpp has every
// algorithm, codec and type.
#include "communication/gpu/device_values.hpp"
#include "gpu/cuda_collectives/device_job.hpp"

namespace taut::test {
namespace {

TEST(CollectivesOnGpus, AnyCount) {
  for (const Collective collective : all_collectives)
    for (const std::size_t count : {1u, 7u, 64u, 8191u, 20011u})
      for (const char* const coding : {"abs:1e-3,codec=planes,predictor=delta", "lossless,codec=mpc"})
        expect_same_bits({.collective = collective, .policy = coding, .P = 3, .count = count, .root = 1});
}

TEST(CollectivesOnGpus, AnyRanksHaveGpus) {
  for (const Collective collective : all_collectives)
    for (unsigned on_gpus = 0; on_gpus < 8; ++on_gpus)
      for (const char* const coding : {"abs:1e-3,codec=planes", "rel:1e-4,codec=planes,reduction=values"})
        expect_same_bits({.collective = collective,
                          .policy = coding,
                          .P = 3,
                          .count = 1499,
                          .root = 2,
                          .on_gpus = on_gpus});
}

TEST(CollectivesOnGpus, SegmentsAndSamples) {
  for (const Collective collective : all_collectives)
    for (const char* const coding : {"abs:1e-3,codec=planes,segments=3", "lossless,codec=mpc,segments=2",
                                     "abs:1e-3,codec=planes,dims=60x100", "abs:1e-3,codec=planes,bits=exact"})
      expect_same_bits({.collective = collective, .policy = coding, .P = 3, .count = 9000});
}

// Without libzfp there is no such codec.
TEST(CollectivesOnGpus, FixedRates) {
  if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  for (const Collective collective : all_collectives)
    for (const DType type : {DType::f32, DType::f64})
      for (const std::string coding : {"rate:8", "rate:12,dims=30x50", "rate:3.5,dims=4x10x20"})
        expect_same_bits({.collective = collective,
                          .policy = coding + ",codec=zfp",
                          .P = 3,
                          .count = 3600,
                          .type = type,
                          .root = 1});
}

TEST(CollectivesOnGpus, MeansAndNodesAtARate) {
  if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  expect_same_bits({.policy = "rate:16,codec=zfp,segments=2", .P = 3, .count = 3001, .mean = true});
  const int node_of[] = {0, 0, 1, 1};
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::reduce_scatter})
    expect_same_bits({.collective = collective,
                      .policy = "rate:16,codec=zfp,nodes=on",
                      .P = 4,
                      .count = 6000,
                      .nodes = Nodes(node_of)});
}

TEST(CollectivesOnGpus, ByNodes) {
  const int node_of[] = {0, 0, 1, 1};
  const Nodes nodes(node_of);
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast,
                                      Collective::allgather, Collective::reduce_scatter})
    for (const char* const coding : {"abs:1e-3,codec=planes,nodes=on", "lossless,codec=mpc,nodes=on"})
      for (const unsigned on_gpus : {~0u, 0b0110u})
        expect_same_bits({.collective = collective,
                          .policy = coding,
                          .P = 4,
                          .count = 6000,
                          .root = 1,
                          .on_gpus = on_gpus,
                          .nodes = nodes});
}

TEST(CollectivesOnGpus, Means) {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::c64})
    expect_same_bits({.policy = "abs:1e-2,codec=planes", .P = 3, .count = 3001, .type = type, .mean = true});
}

TEST(CollectivesOnGpus, ValuesThatAreNotFinite) {
  for (const Collective collective : {Collective::allgather, Collective::bcast, Collective::allreduce})
    for (const char* const coding : {"abs:1e-3,codec=planes", "lossless,codec=mpc"}) {
      const Trial trial{.collective = collective, .policy = coding, .P = 3, .count = 4500};
      Job here = trial.job(), there = trial.job();
      for (Job* const job : {&here, &there})
        for (auto* const all : {&job->inputs, &job->outputs}) {
          auto& values = (*all)[0];
          if (all == &job->outputs && collective != Collective::bcast) continue;
          values.set(3, -0.0);
          values.set(1000, std::numeric_limits<double>::infinity());
          values.set(1001, -std::numeric_limits<double>::infinity());
          if (!reduces(collective)) values.set(4400, std::numeric_limits<double>::quiet_NaN());
        }
      Ranks host(3, trial.whole_policy()), gpus(3, trial.whole_policy());
      for (const Verdict& verdict : host.run(collective, here)) EXPECT_EQ(verdict.fallback, Fallback::none);
      for (const Verdict& verdict : run_on_gpus(gpus, trial, there)) EXPECT_EQ(verdict.status, Status::ok);
      EXPECT_TRUE(here.outputs == there.outputs) << text_of(trial);
    }
}

// The host serves such values on a copy.
TEST(CollectivesOnGpus, ValuesThatAreNotAligned) {
  for (const char* const coding : {"abs:1e-3,codec=planes", "rel:1e-3,codec=planes,reduction=values"})
    for (const Collective collective : all_collectives) {
      const Trial trial{.collective = collective, .policy = coding, .count = 300};
      Job here = trial.job(), there = trial.job();
      Ranks host(trial.P, trial.whole_policy()), gpus(trial.P, trial.whole_policy());
      host.run(collective, here);
      for (const Verdict& verdict : run_on_gpus(gpus, trial, there, 1)) {
        EXPECT_EQ(verdict.status, Status::ok) << text_of(trial);
        EXPECT_EQ(verdict.fallback, Fallback::none) << text_of(trial);
      }
      EXPECT_TRUE(here.outputs == there.outputs) << text_of(trial);
    }
}

TEST(CollectivesOnGpus, SeveralGpusOnOneRankArePlain) {
  if (stand_in_device_count() < 2) GTEST_SKIP() << "there is one GPU";
  Trial trial;
  Job job = trial.job();
  const OnGpu<float> other(trial.count, 0, 1);
  OnGpus there(job, ~0u);
  Ranks ranks(trial.P, trial.whole_policy());
  const auto verdicts = ranks.run(trial.collective, job, [&](int rank, CollectiveCall& request) {
    there.place(rank, request);
    if (rank == 1) request.data.out.data = other.data();
  });
  for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.fallback, Fallback::device);
}

// Memory out of reach hides no other difference of the calls.
TEST(CollectivesOnGpus, OfDifferentTypesAreRefused) {
  if (stand_in_device_count() < 2) GTEST_SKIP() << "there is one GPU";
  for (const char* const coding : {"abs:1e-3,codec=planes", "rel:1e-3,codec=planes"}) {
    const Trial trial{.policy = coding};
    Job job = trial.job();
    const OnGpu<float> other(trial.count, 0, 1);
    OnGpus there(job, ~0u);
    Ranks ranks(trial.P, trial.whole_policy());
    const auto verdicts = ranks.run(trial.collective, job, [&](int rank, CollectiveCall& request) {
      there.place(rank, request);
      if (rank == 1) request.data.out.data = other.data();
      if (rank == 2) request.type = request.data.in.type = request.data.out.type = DType::i32;
    });
    for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.status, Status::rank_mismatch) << coding;
  }
}

// The program may free values as soon as a call has ended, also by an exception.
TEST(ValuesOnGpus, AreNotUsedAfterTheirCall) {
  const std::vector<float> x(1000, 3);
  const OnGpu<float> from(x), to(x.size());
  const auto device = std::make_shared<gpu::Device>(gpu::device_services("a test"), 0, nullptr);
  {
    gpu::DeviceValues values(device);
    const auto* const bytes = reinterpret_cast<const std::byte*>(from.data());
    EXPECT_EQ(values.copy(reinterpret_cast<std::byte*>(to.data()), bytes, 4 * x.size()), Status::ok);
  }
  EXPECT_EQ(to.peek(x.size()), x);
}

}  // namespace
}  // namespace taut::test

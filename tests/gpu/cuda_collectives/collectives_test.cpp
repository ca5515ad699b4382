// Tests collective calls on memory of GPUs, which the shim and a stand-in for the driver simulate: results
// equal the host's to the bit, whichever ranks have their values on a GPU.
#include "gpu/cuda_collectives/device_job.hpp"

namespace taut::test {
namespace {

constexpr const char* codings[] = {
    "abs:1e-3,codec=planes,predictor=delta",
    "snap:1e-2,codec=planes,predictor=second",
    "abs:1e-3,codec=planes,reduction=values",
    "abs:1e-3,codec=planes,predictor=delta+100",
    "lossless,codec=mpc",
    "lossless,codec=mpc,predictor=d2",
};

bool is_compressed(Collective collective, const std::string& coding) {
  return !reduces(collective) || coding.find("pwrel") == std::string::npos;
}

// Every algorithm, with as many ranks as there are kinds of structure.
TEST(CollectivesOnGpus, EveryAlgorithmGivesTheBitsOfTheHost) {
  unsigned turn = 0;
  for (const AlgorithmInfo* const algorithm : registered_algorithms())
    for (int P = 2; P <= 7; ++P) {
      Trial trial{.collective = algorithm->collective, .P = P, .count = P % 2 == 0 ? 5003u : 997u};
      trial.policy = std::string(codings[turn % std::size(codings)]) + ",algorithm=" + algorithm->name;
      trial.root = static_cast<int>(turn) % P;
      trial.in_place = turn % 3 == 1 && algorithm->collective != Collective::bcast;
      trial.on_gpus = turn % 4 == 3 ? 0b0100110u : ~0u;
      ++turn;
      expect_same_bits(trial);
    }
}

TEST(CollectivesOnGpus, EveryCodingOfEveryType) {
  for (std::uint8_t code = 1; is_dtype(code); ++code) {
    const DType type{code};
    const bool integer = info_of(type).family == Family::integer;
    for (const Collective collective : all_collectives)
      for (const std::string coding :
           {"abs:1e-2,codec=planes", "rel:1e-3,codec=planes", "lossless,codec=mpc", "pwrel:1e-2,codec=mpc"}) {
        if (integer && (coding[0] != 'l' || reduces(collective))) continue;
        if (!is_compressed(collective, coding)) continue;
        expect_same_bits({.collective = collective, .policy = coding, .P = 3, .count = 1201, .type = type});
      }
  }
}

TEST(CollectivesOnGpus, MinimaAndMaximaToo) {
  for (const Reduction op : {Reduction::min, Reduction::max})
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce, Collective::reduce_scatter, Collective::scan})
      for (const DType type : {DType::f32, DType::f64, DType::bf16, DType::i32})
        for (const char* const coding : {"abs:1e-3,codec=planes", "lossless,codec=mpc"})
          if (info_of(type).family != Family::integer || coding[0] == 'l')
            expect_same_bits({.collective = collective,
                              .policy = coding,
                              .P = 4,
                              .count = 2003,
                              .type = type,
                              .pattern = Pattern::noisy,
                              .op = op});
}

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
      expect_same_bits({.collective = collective, .policy = coding, .P = 3, .count = 18000});
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

TEST(CollectivesOnGpus, ReductionsAtARateByEveryAlgorithm) {
  if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  constexpr Reduction operators[] = {Reduction::sum, Reduction::min, Reduction::max};
  unsigned turn = 0;
  for (const AlgorithmInfo* const algorithm : registered_algorithms())
    for (int P = 2; P <= 7 && reduces(algorithm->collective); ++P, ++turn)
      expect_same_bits({.collective = algorithm->collective,
                        .policy = std::string("rate:16,codec=zfp,algorithm=") + algorithm->name,
                        .P = P,
                        .count = P % 2 == 0 ? 5003u : 997u,
                        .type = turn % 5 == 0 ? DType::f64 : DType::f32,
                        .pattern = Pattern::noisy,
                        .op = operators[turn % std::size(operators)],
                        .root = static_cast<int>(turn) % P,
                        .in_place = turn % 4 == 1,
                        .on_gpus = turn % 4 == 3 ? 0b0100110u : ~0u});
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
      for (const Verdict& verdict : host.run(collective, here)) EXPECT_EQ(verdict.plain, Fallback::none);
      for (const Verdict& verdict : run_on_gpus(gpus, trial, there)) EXPECT_EQ(verdict.status, Status::ok);
      EXPECT_TRUE(here.outputs == there.outputs) << text_of(trial);
    }
}

// A codec without kernels leaves the call to plain MPI, on all ranks.
TEST(CollectivesOnGpus, PlainWithoutKernels) {
  for (const char* const coding :
       {"abs:1e-3,codec=szx", "abs:1e-3,codec=planes,checksum=on", "lossless,codec=raw"})
    for (const unsigned on_gpus : {~0u, 0b010u}) {
      const Trial trial{.collective = Collective::allgather, .policy = coding, .on_gpus = on_gpus};
      Job job = trial.job();
      const Job untouched = job;
      Ranks ranks(trial.P, trial.whole_policy());
      for (const Verdict& verdict : run_on_gpus(ranks, trial, job)) {
        EXPECT_EQ(verdict.plain, Fallback::device) << coding;
        EXPECT_EQ(verdict.status, Status::ok);
      }
      EXPECT_TRUE(job.outputs == untouched.outputs);
    }
}

TEST(CollectivesOnGpus, SeveralGpusOnOneRankArePlain) {
  Trial trial;
  Job job = trial.job();
  const OnGpu<float> other(trial.count, 0, 1);
  OnGpus there(job, ~0u);
  Ranks ranks(trial.P, trial.whole_policy());
  const auto verdicts = ranks.run(trial.collective, job, [&](int rank, CollectiveCall& request) {
    there.place(rank, request);
    if (rank == 1) request.data.out.data = other.data();
  });
  for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.plain, Fallback::device);
}

}  // namespace
}  // namespace taut::test

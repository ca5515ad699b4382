// Tests sum=wide on values of GPUs: the bits of the same call on the host.
#include "gpu/cuda_collectives/device_job.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace wide_sums_test {

constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64};
constexpr Pattern patterns[] = {Pattern::noisy, Pattern::wild, Pattern::sparse};

TEST(WideSumsOnGpus, HaveTheBitsOfTheHost) {
  unsigned turn = 0;
  for (const int P : {2, 3, 5, 8})
    for (const std::size_t count : {1u, 7u, 1009u, 20011u})
      for (const DType type : types)
        for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
          ++turn;
          if (!is_sampled()) continue;
          expect_same_bits(
              {.collective = collective,
               .policy = std::string("lossless,sum=wide,segments=") + (turn % 3 == 0 ? "3" : "1"),
               .P = P,
               .count = count,
               .type = type,
               .pattern = patterns[turn % std::size(patterns)],
               .in_place = turn % 4 == 1,
               .on_gpus = turn % 5 == 2 ? 0b0100110u : ~0u,
               .mean = turn % 7 < 3,
               .frames_there = turn % 2 == 0});
        }
}

// Writes numbers of all kinds over the operands: two ranks meet in each pair of kinds.
void add_special_numbers(Job& job) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN(),
                   beyond = std::numeric_limits<double>::infinity();
  constexpr double kinds[] = {none, -none, beyond, -beyond, 0.0, -0.0, 1e-42, -1e-42, 3e38, -3e38, 1.5};
  constexpr std::size_t n = std::size(kinds);
  for (std::size_t r = 0; r < job.inputs.size(); ++r) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < n * n; ++i) numbers.push_back(kinds[r % 2 == 0 ? i % n : i / n]);
    job.inputs[r].set(0, numbers);
  }
}

TEST(WideSumsOnGpus, OfNaNInfinitiesZerosAndDenormals) {
  for (const DType type : types)
    for (const bool mean : {false, true}) {
      SCOPED_TRACE(name_of(type));
      const Trial trial{.policy = "lossless,sum=wide", .P = 3, .count = 1009, .type = type, .mean = mean};
      Job here = trial.job(), there = trial.job();
      add_special_numbers(here);
      add_special_numbers(there);
      Ranks host(trial.P, trial.whole_policy());
      host.run(trial.collective, here, [&](int, CollectiveCall& request) { request.mean = mean; });
      RanksOnGpus gpus(trial);
      for (const Verdict& verdict : run_on_gpus(gpus, trial, there))
        EXPECT_EQ(verdict.fallback, Fallback::none);
      EXPECT_TRUE(here.outputs == there.outputs);
    }
}

TEST(WideSumsOnGpus, OfValuesAtAnyAddress) {
  for (const std::size_t skipped : {4u, 12u, 60u}) {
    const Trial trial{.policy = "lossless,sum=wide", .P = 3, .count = 5003, .pattern = Pattern::noisy};
    Job here = trial.job(), there = trial.job();
    Ranks host(trial.P, trial.whole_policy());
    host.run(trial.collective, here);
    RanksOnGpus gpus(trial);
    run_on_gpus(gpus, trial, there, skipped);
    EXPECT_TRUE(here.outputs == there.outputs) << skipped;
  }
}

}  // namespace wide_sums_test
}  // namespace taut::test

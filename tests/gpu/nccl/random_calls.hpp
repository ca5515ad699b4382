// Random sequences of calls on one communicator.
#pragma once

#include "gpu/nccl/calls.hpp"
#include "support/test_size.hpp"

namespace taut::test {

// Source of random choices.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  template <class T, std::size_t n>
  T of(const T (&all)[n]) {
    return all[below(n)];
  }

 private:
  std::mt19937_64 random_;
};

// A sequence of calls under one policy.
struct Sequence {
  explicit Sequence(std::uint64_t seed) {
    constexpr const char* codings[] = {"abs:1e-2,codec=planes", "abs:1e-3,codec=planes,predictor=delta",
                                       "snap:1e-2,codec=planes", "rel:1e-3,codec=planes",
                                       "abs:1e-2,codec=planes,segments=2"};
    constexpr double ratios[] = {0, 0, 1, 3, 30};
    constexpr DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
    constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::steps};
    constexpr int sizes[] = {1, 2, 2, 3, 3, 4, 5, 6, 7};
    constexpr std::size_t limits[] = {100, 300, 600, 600, 600, 2000, 2000, 12000};
    constexpr Reduction operators[] = {Reduction::sum, Reduction::sum, Reduction::max};
    Draw draw(seed);
    const int P = draw.of(sizes);
    const std::string policy = draw.of(codings);
    ratio = draw.of(ratios);
    for (std::size_t i = 1 + draw.below(4); i > 0; --i) {
      trials.push_back(as_nccl_allows({.collective = draw.of(nccl_collectives),
                                       .policy = policy,
                                       .P = P,
                                       .count = 1 + draw.below(draw.of(limits)),
                                       .type = draw.of(types),
                                       .pattern = draw.of(patterns),
                                       .op = draw.of(operators),
                                       .root = static_cast<int>(draw.below(static_cast<std::size_t>(P))),
                                       .in_place = draw.below(2) == 0}));
      Trial& made = trials.back();
      made.mean = reduces(made.collective) && made.op == Reduction::sum && draw.below(4) == 0;
    }
  }

  std::vector<Trial> trials;
  double ratio;
};

inline std::vector<std::unique_ptr<NcclJob>> jobs_of(const Sequence& sequence) {
  std::vector<std::unique_ptr<NcclJob>> jobs;
  for (const Trial& trial : sequence.trials) jobs.push_back(std::make_unique<NcclJob>(trial));
  return jobs;
}

// True if the rest of the program may rely on the calls: all of them succeeded on all ranks.
inline bool all_good(const std::vector<std::vector<int>>& codes) {
  return std::ranges::all_of(
      codes, [](const auto& own) { return std::ranges::all_of(own, [](int code) { return code == 0; }); });
}

inline void expect_results_of_host(const Sequence& sequence,
                                   const std::vector<std::unique_ptr<NcclJob>>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) expect_outputs_of_host(sequence.trials[i], *jobs[i]);
}

// Returns true if the outputs are those of NCCL alone: a call that some rank cannot serve is left to NCCL.
inline bool are_of_nccl(const Trial& trial, NcclJob& job) {
  NcclRanks ranks(trial.P, "off");
  NcclJob plain(trial);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(plain.call(me), 0); });
  return job.outputs() == plain.outputs();
}

// Calls test(seed) for TEST_COUNT seeds, `count` without that variable, from TEST_SEED on; stops at a
// failure. Scratch memory of streams that are gone is freed at times: the simulated GPUs hold 4096 memories.
template <class Test>
void for_each_seed(std::uint64_t count, Test test) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1);
  const std::uint64_t last = first + number_from_environment("TEST_COUNT", sampled_part(count));
  constexpr std::uint64_t seeds_between_releases = 50;
  for (std::uint64_t seed = first; seed < last && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_COUNT=1 TEST_SEED=" << seed);
    stand_in_set_seed(seed);
    test(seed);
    if (seed % seeds_between_releases != 0) continue;
    stand_in_finish();
    EXPECT_EQ(TAUT_Cuda_release(), 0);
  }
}

// Tests random sequences. `test(sequence, seed, jobs)` makes the calls and checks them.
template <class Test>
void for_each_sequence(std::uint64_t count, Test test) {
  for_each_seed(count, [&](std::uint64_t seed) {
    const Sequence sequence(seed);
    auto jobs = jobs_of(sequence);
    test(sequence, seed, jobs);
  });
}

// `run(sequence, seed, jobs, begin)` calls begin() when the communicator exists, makes the calls, and returns
// true if all of them succeeded.
template <class Run>
void expect_bits_of_host(Run run) {
  for_each_sequence(20, [&](const Sequence& sequence, std::uint64_t seed, auto& jobs) {
    EXPECT_TRUE(run(sequence, seed, jobs, [] {})) << TAUT_Nccl_last_error();
    EXPECT_EQ(fake_nccl::take_report(), "");
    expect_results_of_host(sequence, jobs);
  });
}

// Returns a function that makes a random later call of NCCL or CUDA fail.
inline std::function<void()> failure_of(std::uint64_t seed) {
  return [seed] {
    Draw draw(seed + 1000);
    fake_nccl::set_patience(0.5);
    if (draw.below(2) == 0)
      fake_nccl::fail_at(1 + draw.below(60));
    else
      stand_in_at_call(1 + draw.below(400), nullptr, nullptr);
  };
}

// Notes that a call of a rank has failed. Ranks that wait for that rank find a deadlock soon.
inline void note_failure() { fake_nccl::set_patience(0.02); }

inline void end_failure() {
  fake_nccl::set_patience(20);
  fake_nccl::take_report();
}

// A call of NCCL or CUDA fails in each sequence. No rank hangs, and without an error the results are right.
template <class Run>
void expect_failures_are_reported(Run run) {
  std::uint64_t sequences = 0, errors = 0;
  for_each_sequence(12, [&](const Sequence& sequence, std::uint64_t seed, auto& jobs) {
    const bool good = run(sequence, seed, jobs, failure_of(seed));
    end_failure();
    ++sequences;
    errors += !good;
    for (std::size_t i = 0; i < jobs.size() && good; ++i)
      if (!are_of_nccl(sequence.trials[i], *jobs[i])) expect_outputs_of_host(sequence.trials[i], *jobs[i]);
  });
  EXPECT_TRUE(errors > 0 || sequences < 10);
}

}  // namespace taut::test

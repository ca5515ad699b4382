// Random sequences of calls on one communicator.
#pragma once

#include "compressor/base/options.hpp"
#include "gpu/nccl/calls.hpp"
#include "support/draw_job.hpp"

namespace taut::test {

// Returns the nodes of P ranks, L of them on each in their order.
inline Nodes nodes_of(int P, int L) {
  std::vector<int> node_of;
  for (int r = 0; r < P; ++r) node_of.push_back(r / L);
  return Nodes(node_of);
}

// A sequence of calls under one policy, with exact sizes or in capacity mode. Under TAUT_RANKS_PER_NODE there
// are 1 to 4 nodes, by which all calls go but those under sum=wide, and sums are of integers: those on a node
// are exact.
struct Sequence {
  explicit Sequence(std::uint64_t seed) {
    constexpr const char* codings[] = {
        "abs:1e-2,codec=planes",        "abs:1e-3,codec=planes,predictor=delta", "snap:1e-2,codec=planes",
        "rel:1e-3,codec=planes",        "abs:1e-2,codec=planes,segments=2",      "lossless,sum=wide",
        "lossless,sum=wide,segments=2", "block:6,algorithm=rank_order"};
    constexpr double ratios[] = {0, 0, 1, 3, 30};
    constexpr DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
    constexpr int sizes[] = {1, 2, 2, 3, 3, 4, 5, 6, 7};
    constexpr std::size_t limits[] = {100, 300, 600, 600, 600, 2000, 2000, 12000};
    Draw draw(seed);
    const int L = options().ranks_per_node, P = L > 0 ? L * (1 + draw.pick(4)) : draw.one_of(sizes);
    const Nodes nodes = L > 0 ? nodes_of(P, L) : Nodes();
    std::string policy = draw.one_of(codings);
    if (L > 0 && policy.find("sum=wide") == policy.npos) {
      const bool shares_frames = policy.find("algorithm=") == policy.npos && draw.one_in(3);
      policy += shares_frames ? ",algorithm=halving_doubling,nodes=frames" : ",nodes=on";
    }
    ratio = draw.one_of(ratios);
    for (int i = 1 + draw.pick(4); i > 0; --i) {
      const DrawnJob drawn(draw, P, nccl_collectives, types, draw.one_of(limits));
      trials.push_back(as_nccl_allows({.collective = drawn.collective,
                                       .policy = policy,
                                       .P = P,
                                       .count = 1 + drawn.count,
                                       .type = drawn.type,
                                       .pattern = L > 0 ? Pattern::steps : drawn.pattern,
                                       .op = drawn.op,
                                       .root = drawn.root,
                                       .in_place = drawn.in_place,
                                       .nodes = nodes,
                                       .mean = drawn.mean}));
      times.push_back(drawn.in_place || !draw.one_in(3) ? 1 : 2 + draw.pick(2));
    }
  }

  std::vector<Trial> trials;
  std::vector<int> times;  // that a rank makes each call, on the same memory
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

// Calls test(seed) for seeds. Scratch memory of streams that are gone is freed at times: the simulated GPUs
// hold 8192 memories.
template <class Test>
void for_each_seed_on_gpus(std::uint64_t count, Test test) {
  for_each_seed(count, [&](std::uint64_t seed) {
    constexpr std::uint64_t seeds_between_releases = 10;
    stand_in_set_seed(seed);
    test(seed);
    if (seed % seeds_between_releases != 0) return;
    stand_in_finish();
    EXPECT_EQ(TAUT_Cuda_release(), 0);
  });
}

// Tests random sequences. `test(sequence, seed, jobs)` makes the calls and checks them.
template <class Test>
void for_each_sequence(std::uint64_t count, Test test) {
  for_each_seed_on_gpus(count, [&](std::uint64_t seed) {
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
    if (draw.one_in(2))
      fake_nccl::fail_at(1 + draw.pick(60u));
    else
      stand_in_at_call(1 + draw.pick(400u), nullptr, nullptr);
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

// Series of collective calls whose values are in memory of simulated GPUs, and change little from call to
// call.
#pragma once

#include "gpu/cuda_collectives/device_job.hpp"
#include "support/histories.hpp"

namespace taut::test::history_test {

inline constexpr unsigned all = ~0U, none = 0, some = 0b1010;  // ranks with values on a GPU

inline std::vector<Collective> moving() {
  std::vector<Collective> found;
  for (const Collective collective : all_collectives)
    if (!reduces(collective)) found.push_back(collective);
  return found;
}

inline Trial trial_of(Collective collective, const std::string& policy = "abs:1e-3,codec=planes") {
  return {.collective = collective, .policy = policy, .P = 4, .count = 12000};
}

inline Trial with(Trial trial, const std::string& options) {
  trial.policy += "," + options;
  return trial;
}

// Values that change little from call to call: noise that stays, and a wave that moves. Pattern::wild: all
// values are new in each call. Pattern::sparse: some are NaN, infinite or huge.
inline Values at_step(const Trial& trial, int rank, int step) {
  const auto seed = 77 + static_cast<std::uint64_t>(rank),
             special = seed + 1000 * static_cast<unsigned>(step);
  if (trial.pattern == Pattern::wild) return make_values(trial.type, trial.count, Pattern::wild, special);
  Values noise = make_values(trial.type, trial.count, Pattern::noisy, seed);
  std::vector<double> numbers(noise.numbers());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = noise.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + step);
  noise.set(0, numbers);
  if (trial.pattern == Pattern::sparse) set_special(noise, special);
  return noise;
}

inline Job job_at_step(const Trial& trial, int step) {
  Job job = trial.job();
  for (int r = 0; r < trial.P; ++r) {
    const auto k = static_cast<std::size_t>(r);
    const bool own = trial.collective == Collective::bcast ? r == trial.root : trial.in_place;
    Values& to = own ? job.outputs[k] : job.inputs[k];
    std::memcpy(to.slice().data, at_step(trial, r, step).slice().data, to.slice().bytes());
    job.inputs[k] = to;
  }
  return job;
}

// Communicators that make the calls of a trial, and what they sent.
class Series {
 public:
  explicit Series(const Trial& trial, std::size_t skipped = 0)
      : trial_(trial), skipped_(skipped), ranks(trial) {}

  // Makes call `step` with the values of the ranks in `on_gpus` on GPUs, between begin() and end().
  template <class Begin, class End>
  std::vector<Verdict> call(int step, unsigned on_gpus, const Begin& begin, const End& end) {
    jobs.push_back(job_at_step(trial_, step));
    const std::uint64_t before = bytes();
    OnGpus there(jobs.back(), on_gpus, skipped_);
    begin();
    const unsigned long waited = stand_in_waits();
    auto verdicts = ranks.run(trial_.collective, jobs.back(), [&](int rank, CollectiveCall& request) {
      const Operands here = request.data;
      there.place(rank, request);
      if (inputs_here) request.data.in.data = here.in.data;
      if (outputs_here) request.data.out.data = here.out.data;
    });
    waits.push_back(stand_in_waits() - waited);
    end();
    if (!outputs_here) there.fetch();
    sent.push_back(bytes() - before);
    return verdicts;
  }
  Series& calls(int n, unsigned on_gpus) {
    for (int i = 0; i < n; ++i)
      for (const Verdict& verdict : call(
               static_cast<int>(jobs.size()), on_gpus, [] {}, [] {})) {
        EXPECT_EQ(verdict.status, Status::ok) << verdict.text();
        EXPECT_EQ(verdict.fallback, Fallback::none);
      }
    return *this;
  }

 private:
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (int r = 0; r < trial_.P; ++r) sum += ranks.statistics(r).sent_bytes;
    return sum;
  }

  Trial trial_;
  std::size_t skipped_;  // bytes before the values on GPUs

 public:
  RanksOnGpus ranks;
  std::vector<Job> jobs;
  std::vector<std::uint64_t> sent;
  std::vector<unsigned long> waits;                // of the host for GPUs
  bool inputs_here = false, outputs_here = false;  // they are on the host, whatever the rank
};

inline void expect_same_results(const Series& a, const Series& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) EXPECT_TRUE(a.jobs[i].outputs == b.jobs[i].outputs) << i;
}

}  // namespace taut::test::history_test

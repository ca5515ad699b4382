// Tests collective calls in which a call of CUDA's runtime fails on one rank: no rank hangs, every rank has
// the right result, falls back, or gets an error.
#include "gpu/cuda_collectives/device_job.hpp"
#include "support/gpu_faults.h"

namespace taut::test {
namespace {

// Makes the call with the n-th runtime call failing. Returns true if so many calls were made. `device`: has
// the values; device 0 is current.
bool fails_cleanly(const Trial& trial, unsigned long n, const Job& wanted, int device) {
  Job job = trial.job();
  RanksOnGpus ranks(trial);
  OnGpus there(job, trial.on_gpus, 0, device);
  const unsigned long before = stand_in_calls();
  stand_in_at_call(n, nullptr, nullptr);
  const auto verdicts = ranks.run(trial.collective, job,
                                  [&](int rank, CollectiveCall& request) { there.place(rank, request); });
  stand_in_at_call(0, nullptr, nullptr);
  const bool reached = stand_in_calls() - before >= n;
  there.fetch();
  const std::vector<Values> at_return = job.outputs;
  stand_in_finish();
  there.fetch();
  EXPECT_TRUE(job.outputs == at_return) << "values were written after the call " << n;
  bool any_error = false, any_plain = false;
  for (const Verdict& verdict : verdicts) {
    any_error = any_error || verdict.status != Status::ok;
    any_plain = any_plain || verdict.fallback != Fallback::none;
  }
  for (std::size_t r = 0; r < verdicts.size(); ++r) {
    EXPECT_TRUE(!any_plain || verdicts[r].fallback == verdicts[0].fallback);
    const bool served = verdicts[r].fallback == Fallback::none && verdicts[r].status == Status::ok;
    EXPECT_TRUE(!served || job.outputs[r] == wanted.outputs[r]) << "rank " << r << " call " << n;
  }
  EXPECT_TRUE(reached || (!any_error && !any_plain));
  return reached;
}

void expect_clean_failures(const Trial& trial, int device) {
  SCOPED_TRACE(text_of(trial));
  Job wanted = trial.job();
  Ranks host(trial.P, trial.whole_policy());
  host.run(trial.collective, wanted);
  for (unsigned long n = 1; fails_cleanly(trial, n, wanted, device); ++n) ASSERT_LT(n, 1000u);
}

TEST(FaultsOfGpus, EndOnEveryRank) {
  for (const Collective collective : {Collective::allreduce, Collective::bcast, Collective::alltoall})
    for (const char* const coding : {"abs:1e-3,codec=planes,predictor=delta",
                                     "abs:1e-3,codec=planes,reduction=values", "rel:1e-3,codec=planes"})
      expect_clean_failures({.collective = collective, .policy = coding, .P = 2, .count = 60}, 0);
}

// Failures of a GPU before the agreement, under rules: the reason for plain MPI is not one of the arguments.
TEST(FaultsOfGpus, HaveAReasonOfTheirOwnUnderRules) {
  const Trial trial{.P = 2, .count = 60};
  int failed = 0;
  bool reached = true;
  for (unsigned long n = 1; reached; ++n) {
    ASSERT_LT(n, 1000u);
    Job job = trial.job();
    Ranks ranks(trial.P, "off");
    for (std::size_t r = 0; r < 2; ++r)
      ranks.comms[r] =
          std::make_unique<Communicator>(ranks.hub.transport(static_cast<int>(r)), *ranks.places[r],
                                         read_rules("* >=1B : rel=1e-3 codec=planes when=always", "", ""));
    const OnGpus there(job, trial.on_gpus);
    const unsigned long before = stand_in_calls();
    stand_in_at_call(n, nullptr, nullptr);
    const auto verdicts = ranks.run(trial.collective, job,
                                    [&](int rank, CollectiveCall& request) { there.place(rank, request); });
    stand_in_at_call(0, nullptr, nullptr);
    reached = stand_in_calls() - before >= n;
    for (const Verdict& verdict : verdicts) {
      EXPECT_NE(verdict.fallback, Fallback::arguments) << n;
      failed += verdict.fallback == Fallback::failed;
    }
  }
  EXPECT_GT(failed, 0);
}

// No kernel may run on the current device, nor memory be allocated there, when the change to the device of
// the values has failed.
TEST(FaultsOfGpus, EndWhereAnotherGpuIsCurrent) {
  for (const bool frames_there : {false, true})
    expect_clean_failures(
        {.policy = "abs:1e-3,codec=planes,segments=2", .P = 2, .count = 60, .frames_there = frames_there}, 1);
}

}  // namespace
}  // namespace taut::test

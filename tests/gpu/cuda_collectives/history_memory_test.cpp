// Promise: histories of calls on GPUs take no memory that a call needs, and survive failures.
#include <cstdint>

#include "gpu/cuda_collectives/series.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace history_test {

unsigned long memories() {
  stand_in_finish();
  return stand_in_memories();
}

// Returns the number of allocations that calls leave while the communicator exists. Later calls add none: the
// memory of dropped states is that of new ones.
unsigned long memories_of(const Trial& trial, bool gains) {
  const unsigned long before = memories();
  Series series(trial);
  series.calls(8, all);
  const unsigned long now = memories();
  series.calls(8, all);
  EXPECT_EQ(memories(), now);
  EXPECT_EQ(series.sent[7] < series.sent[0], gains);
  return now - before;
}

TEST(HistoryOnGpus, MemoryStaysWithinItsLimitAndGoesWithTheCommunicator) {
  const Trial trial = trial_of(Collective::alltoall);  // a state has two allocations, of 48000 bytes each
  memories_of(with(trial, "history=auto"), true);
  const unsigned long before = memories();
  const unsigned long without = memories_of(trial, false),
                      none_fits = memories_of(with(trial, "history=auto,history_bytes=1KiB"), false),
                      two_fit = memories_of(with(trial, "history=auto,history_bytes=200KiB"), true),
                      five = memories_of(with(trial, "history=auto"), true);
  EXPECT_EQ(none_fits, without);
  EXPECT_EQ(five - two_fit, 4u * 2 * 3);
  EXPECT_EQ(two_fit - none_fits, 4u * 2 * 2);
  EXPECT_EQ(memories(), before);
}

// Makes a sum on the ranks of a series: break_it() is called before it, mend() after it.
template <class Break, class Mend>
std::vector<Verdict> sum_on(RanksOnGpus& ranks, Job& job, const Break& break_it, const Mend& mend) {
  OnGpus there(job, all);
  break_it();
  const auto verdicts = ranks.run(Collective::allreduce, job,
                                  [&](int rank, CollectiveCall& request) { there.place(rank, request); });
  mend();
  there.fetch();
  return verdicts;
}

// The GPUs are full, with states for the most part: calls of another kind get their memory.
TEST(HistoryOnGpus, StatesMakeRoomForOtherCalls) {
  for (const bool frames_there : {false, true}) {
    SCOPED_TRACE(frames_there);
    Trial trial = with(trial_of(Collective::alltoall), "reduction=values");
    trial.P = 2;
    trial.count = 200000;
    trial.frames_there = frames_there;
    Trial sum = trial;
    sum.collective = Collective::allreduce;
    sum.count = 300000;
    Series alone(trial), behind(with(trial, "history=auto"));
    alone.calls(7, none);
    behind.calls(4, all);
    Job wanted = sum.job(), job = sum.job();
    Ranks(2, sum.whole_policy()).run(Collective::allreduce, wanted);
    const auto verdicts = sum_on(
        behind.ranks, job, [] { stand_in_limit_bytes(0); }, [] { stand_in_limit_bytes(SIZE_MAX); });
    for (const Verdict& verdict : verdicts) EXPECT_TRUE(verdict.good()) << verdict.text();
    EXPECT_TRUE(job.outputs == wanted.outputs);
    behind.calls(3, all);
    expect_same_results(alone, behind);
    EXPECT_GT(behind.sent[4] * 10, behind.sent[0] * 9);  // begins anew
    EXPECT_LT(behind.sent[6] * 4, behind.sent[0] * 3);
  }
}

// Memory that is found to be missing late in a call is there for the next one.
TEST(HistoryOnGpus, StatesMakeRoomAfterACallThatFailed) {
  Trial trial = with(trial_of(Collective::alltoall), "history=auto");
  trial.P = 2;
  int failed = 0;
  for (unsigned long n = 1, missing = 1; missing > 0; ++n) {
    Series series(trial);
    series.calls(4, all);
    Job job(Collective::allreduce, 2, 40000, DType::f32, Pattern::smooth, 7);
    const auto verdicts = sum_on(
        series.ranks, job, [&] { stand_in_no_memory_at(n); }, [&] { missing = stand_in_no_memory_at(0); });
    if (std::ranges::none_of(verdicts, [](const Verdict& v) { return v.status == Status::out_of_memory; }))
      continue;
    ++failed;
    series.calls(1, all);
    EXPECT_GT(series.sent[4] * 10, series.sent[0] * 9) << n;
  }
  EXPECT_GT(failed, 0);
}

// Makes calls of which one meets a fault, and compares the results of those that are served.
class Faulty {
 public:
  explicit Faulty(const Trial& trial) : trial_(trial), wanted_(trial) { wanted_.calls(6, none); }

  // break_it() is called before call `at`, mend() after it.
  template <class Break, class Mend>
  void run(int at, const Break& break_it, const Mend& mend) {
    Series series(with(trial_, "history=auto"));
    for (int step = 0; step < at + 3; ++step) {
      const auto verdicts = series.call(
          step, all, [&] { step == at ? break_it() : void(); }, [&] { step == at ? mend() : void(); });
      bool any_plain = false, of_peer = false, own = false;
      for (const Verdict& verdict : verdicts) {
        EXPECT_NE(verdict.status, Status::corrupt_frame);
        any_plain |= verdict.fallback != Fallback::none;
        of_peer |= verdict.status == Status::peer_failed;
        own |= verdict.status != Status::ok && verdict.status != Status::peer_failed;
      }
      EXPECT_TRUE(own || !of_peer) << "no rank reports its own failure";
      for (std::size_t r = 0; r < verdicts.size(); ++r) {
        EXPECT_TRUE(!any_plain || verdicts[r].fallback == verdicts[0].fallback) << step;
        EXPECT_TRUE(step == at || verdicts[r].status == Status::ok) << step << " " << verdicts[r].text();
        const bool served = !any_plain && verdicts[r].status == Status::ok;
        const auto k = static_cast<std::size_t>(step);
        EXPECT_TRUE(!served || series.jobs[k].outputs[r] == wanted_.jobs[k].outputs[r]) << step;
      }
    }
  }

 private:
  Trial trial_;
  Series wanted_;
};

TEST(HistoryOnGpus, MemoryIsMissingAnywhere) {
  Trial trial = trial_of(Collective::alltoall);
  trial.P = 2;
  trial.count = 600;
  Faulty faulty(trial);
  for (int at = 0; at < 4; ++at) {
    bool failed = true;
    for (unsigned long n = 1; failed; ++n) {
      SCOPED_TRACE("allocation " + std::to_string(n) + " of call " + std::to_string(at));
      ASSERT_LT(n, 200u);
      faulty.run(
          at, [&] { stand_in_no_memory_at(n); }, [&] { failed = stand_in_no_memory_at(0) > 0; });
    }
  }
}

TEST(HistoryOnGpus, CallsOfTheRuntimeFailAnywhere) {
  Trial trial = trial_of(Collective::alltoall);
  trial.P = 2;
  trial.count = 600;
  for (const bool frames_there : {false, true}) {
    trial.frames_there = frames_there;
    Faulty faulty(trial);
    for (const int at : {1, 2}) {  // leaves the first state; refers to it
      bool reached = true;
      for (unsigned long n = 1; reached; ++n) {
        if (!is_sampled()) continue;
        SCOPED_TRACE("call " + std::to_string(n) + " of call " + std::to_string(at));
        ASSERT_LT(n, 1000u);
        const unsigned long before = stand_in_calls();
        faulty.run(
            at, [&] { stand_in_at_call(n, nullptr, nullptr); },
            [&] {
              stand_in_at_call(0, nullptr, nullptr);
              reached = stand_in_calls() - before >= n;
            });
      }
    }
  }
}

}  // namespace history_test
}  // namespace taut::test

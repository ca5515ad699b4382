// Promise: with history=, frames of collectives that move values on GPUs refer to earlier calls, and results
// have the bits that they have without it, and on the host.
#include "gpu/cuda_collectives/device_job.hpp"
#include "support/histories.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace history_test {

constexpr unsigned all = ~0U, none = 0, some = 0b1010;  // ranks with values on a GPU

std::vector<Collective> moving() {
  std::vector<Collective> found;
  for (const Collective collective : all_collectives)
    if (!reduces(collective)) found.push_back(collective);
  return found;
}

Trial trial_of(Collective collective, const std::string& policy = "abs:1e-3,codec=planes") {
  return {.collective = collective, .policy = policy, .P = 4, .count = 12000};
}

Trial with(Trial trial, const std::string& options) {
  trial.policy += "," + options;
  return trial;
}

// Values that change little from call to call: noise that stays, and a wave that moves. Pattern::wild: all
// values are new in each call. Pattern::sparse: some are NaN, infinite or huge.
Values at_step(const Trial& trial, int rank, int step) {
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

Job job_at_step(const Trial& trial, int step) {
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

void expect_same_results(const Series& a, const Series& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) EXPECT_TRUE(a.jobs[i].outputs == b.jobs[i].outputs) << i;
}

// Compares calls with a history on GPUs with calls without one, by default on the host. Returns the part of
// the bytes that the last call sends.
double compared(const Trial& trial, const std::string& history = "history=auto", unsigned on_gpus = all,
                unsigned alone_on_gpus = none) {
  SCOPED_TRACE(text_of(trial) + " " + std::to_string(on_gpus));
  Series alone(trial), behind(with(trial, history));
  alone.calls(4, alone_on_gpus);
  behind.calls(4, on_gpus);
  expect_same_results(alone, behind);
  return static_cast<double>(behind.sent.back()) / static_cast<double>(alone.sent.back());
}

TEST(HistoryOnGpus, ResultsHaveTheSameBitsAndFewerBytes) {
  for (const Collective collective : moving())
    for (const unsigned on_gpus : {all, some})
      EXPECT_LT(compared(trial_of(collective), "history=auto", on_gpus), 0.75);
  for (const char* const policy : {"snap:1e-3,codec=planes", "abs:1e-3,codec=planes,bits=exact"})
    EXPECT_LT(compared(trial_of(Collective::allgather, policy)), 0.75);
}

TEST(HistoryOnGpus, FramesThatStayThere) {
  for (const Collective collective : moving())
    for (const char* const same_bits : {"same_bits=off", "same_bits=on"}) {
      Trial trial = with(trial_of(collective), same_bits);
      trial.frames_there = true;
      EXPECT_LT(compared(trial), 0.75);
    }
}

TEST(HistoryOnGpus, AllTypesAlgorithmsAndSegments) {
  for (const DType type : {DType::f64, DType::f16, DType::bf16, DType::c64, DType::c128})
    for (const char* const segments : {"segments=1", "segments=3"}) {
      Trial trial = with(trial_of(Collective::alltoall, "abs:1e-2,codec=planes"), segments);
      trial.type = type;
      EXPECT_LT(compared(trial, "history=2", some), 0.9);
    }
  for (const AlgorithmInfo* const algorithm : registered_algorithms()) {
    if (reduces(algorithm->collective)) continue;
    Trial trial = with(trial_of(algorithm->collective), std::string("algorithm=") + algorithm->name);
    trial.P = 5;
    trial.count = 10000;
    trial.root = 2;
    EXPECT_EQ(compared(trial) < 1, !algorithm->recodes) << algorithm->name;
  }
}

TEST(HistoryOnGpus, InputsInPlaceStay) {
  for (const Collective collective : {Collective::bcast, Collective::allgather, Collective::alltoall})
    for (const char* const same_bits : {"same_bits=off", "same_bits=on"}) {
      Trial trial = with(trial_of(collective), same_bits);
      trial.in_place = true;
      EXPECT_LT(compared(trial), 0.75);
    }
}

TEST(HistoryOnGpus, ByNodes) {
  const int node_of[] = {0, 0, 1, 1};
  for (const Collective collective : {Collective::allgather, Collective::bcast, Collective::alltoall,
                                      Collective::gather, Collective::scatter})
    for (const unsigned on_gpus : {all, some})
      for (const char* const options : {"nodes=on", "nodes=on,segments=3"}) {
        Trial trial = with(trial_of(collective), options);
        trial.nodes = Nodes(node_of);
        for (const bool frames_there : {false, true}) {
          trial.frames_there = frames_there;
          EXPECT_LT(compared(trial, "history=auto", on_gpus), 1);
        }
      }
}

// The forecast waits together with samples, and a state at the end. The memory of states is reused by now.
TEST(HistoryOnGpus, WaitsAtMostOnceMore) {
  for (const Collective collective : moving()) {
    Series alone(trial_of(collective)), behind(with(trial_of(collective), "history=auto"));
    alone.calls(8, all);
    behind.calls(8, all);
    EXPECT_GT(alone.waits[7], 0u);
    EXPECT_LE(behind.waits[7], alone.waits[7] + 4) << name_of(collective);
  }
}

// Times decide on each rank's history: all ranks do the same.
TEST(HistoryOnGpus, TimedSeriesKeepTheirBound) {
  const Trial trial = trial_of(Collective::allgather);
  Ranks ranks(trial.P, "abs:1e-3,history=auto,min_bytes=1");
  int served = 0;
  for (int step = 0; step < 100; ++step) {
    Job job = job_at_step(trial, step / 30);
    const auto verdicts = run_on_gpus(ranks, trial, job);
    for (const Verdict& verdict : verdicts) {
      ASSERT_EQ(verdict.status, Status::ok) << step;
      ASSERT_EQ(verdict.fallback, verdicts[0].fallback) << step;
      if (verdict.plain_times != nullptr) verdict.plain_times->note(1e6, job.bytes());  // plain MPI is slow
    }
    served += verdicts[0].good();
    ASSERT_TRUE(!verdicts[0].good() || job.check(1, 1e-3, 0).empty()) << step;
  }
  EXPECT_GT(served, 0);
  EXPECT_GT(ranks.statistics(0).referring_calls, 0u);
}

// Some values have no integer. Hosts use lags behind references too.
TEST(HistoryOnGpus, SpecialValuesAndNamedPredictors) {
  for (const char* const policy :
       {"abs:1e-3,codec=planes,predictor=delta+64", "abs:1e-3,codec=planes,predictor=second",
        "abs:1e-3,codec=planes,dims=100x120", "abs:1e-9,codec=planes"})
    for (const unsigned on_gpus : {all, some}) {
      Trial trial = trial_of(Collective::allgather, policy);
      trial.pattern = Pattern::sparse;
      compared(trial, "history=auto", on_gpus);
    }
}

// Kernels cannot access such values.
TEST(HistoryOnGpus, ValuesAtAnyAddress) {
  for (const bool frames_there : {false, true})
    for (const unsigned on_gpus : {all, some}) {
      Trial trial = trial_of(Collective::alltoall);
      Series alone(trial);
      trial.frames_there = frames_there;
      Series behind(with(trial, "history=auto"), 2);
      alone.calls(4, none);
      behind.calls(4, on_gpus);
      expect_same_results(alone, behind);
    }
}

TEST(HistoryOnGpus, OneOperandOnTheHost) {
  for (const bool inputs_here : {false, true})
    for (const Collective collective : {Collective::alltoall, Collective::allgather, Collective::gather}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << inputs_here);
      Series alone(trial_of(collective)), behind(with(trial_of(collective), "history=auto"));
      behind.inputs_here = inputs_here;
      behind.outputs_here = !inputs_here;
      alone.calls(4, none);
      behind.calls(4, some);
      expect_same_results(alone, behind);
      EXPECT_LT(behind.sent[3], alone.sent[3]);
    }
}

// Values that kernels do not encode have no references: then no rank has a history.
TEST(HistoryOnGpus, InputsOnTheHostGoWithout) {
  for (const Collective collective : {Collective::alltoall, Collective::allgather}) {
    Series alone(trial_of(collective)), behind(with(trial_of(collective), "history=auto"));
    behind.inputs_here = true;
    alone.calls(4, none);
    behind.calls(4, all);
    expect_same_results(alone, behind);
    EXPECT_EQ(behind.sent, alone.sent) << name_of(collective);
  }
}

// Codecs without kernels for references, and sums, are served as without a history.
TEST(HistoryOnGpus, WhatHasNoKernelsGoesWithout) {
  for (const Trial& trial :
       {trial_of(Collective::allgather, "lossless,codec=mpc"), trial_of(Collective::bcast, "rate:16"),
        trial_of(Collective::allreduce, "abs:1e-3,codec=planes,reduction=frames")})
    for (const unsigned on_gpus : {all, some}) {
      if (trial.policy[0] == 'r' && find_codec("zfp") == nullptr) continue;
      EXPECT_EQ(compared(trial, "history=auto", on_gpus, on_gpus), 1) << trial.policy;
    }
}

// The states of a rank stay where its values were: the ranks begin anew.
TEST(HistoryOnGpus, BuffersMoveBetweenHostAndGpu) {
  for (const Collective collective : moving()) {
    SCOPED_TRACE(name_of(collective));
    Series alone(trial_of(collective)), behind(with(trial_of(collective), "history=auto"));
    for (const unsigned on_gpus : {all, none, all, some, some, some, none, ~some, ~some, ~some}) {
      alone.calls(1, none);
      behind.calls(1, on_gpus);
    }
    expect_same_results(alone, behind);
    EXPECT_LT(behind.sent.back() * 4, alone.sent.back() * 3);
  }
}

// Two states of calls that agreed alike, and had the same lanes, have numbers of their own: the last call
// finds one on each rank.
TEST(HistoryOnGpus, StatesOfCallsFarApartDiffer) {
  constexpr int calls_at_a_time = 128;
  Trial trial = trial_of(Collective::allgather);
  trial.P = 2;
  Series alone(trial), behind(with(trial, "history=auto"));
  alone.calls(5, none);
  behind.calls(2, 0b10);
  Job between(Collective::bcast, 2, 100, DType::f32, Pattern::smooth, 7);
  for (int i = 2; i < calls_at_a_time; ++i) behind.ranks.run(Collective::bcast, between);
  behind.calls(2, 0b01).calls(1, none);
  expect_same_results(alone, behind);
}

// Fields in turn are found as on the host, and values without gain have no references.
TEST(HistoryOnGpus, ForecastsChooseTheCall) {
  const Trial trial = trial_of(Collective::bcast);
  const auto sent_by = [&](const std::string& history) {
    RanksOnGpus ranks(with(trial, history));
    std::uint64_t before = 0, last = 0;
    for (int call = 0; call < 12; ++call) {
      Job job = trial.job();
      job.inputs[0] = job.outputs[0] = at_step(trial, call % 3, call / 3);
      run_on_gpus(ranks, trial, job);
      last = ranks.statistics(0).sent_bytes - before;
      before += last;
    }
    return last;
  };
  EXPECT_LT(sent_by("history=auto"), sent_by("history=2") * 3 / 4);
  Trial noise = trial;
  noise.pattern = Pattern::wild;
  EXPECT_LE(compared(noise), 1.01);
}

// Each step makes two calls with the same buffers, as persistent requests do.
TEST(HistoryOnGpus, CallsInFlightHaveSeriesOfTheirOwn) {
  for (const Collective collective : {Collective::bcast, Collective::alltoall}) {
    const Trial trial = with(trial_of(collective), "history=auto");
    RanksOnGpus ranks(trial);
    Job jobs[] = {job_at_step(trial, 0), job_at_step(trial, 100)};
    std::vector<std::uint64_t> sent{0};
    OnGpus there[] = {{jobs[0], all}, {jobs[1], all}};
    for (int step = 0; step < 5; ++step) {
      for (int i = 0; i < 2; ++i) {
        const Job next = job_at_step(trial, step + 100 * i);
        for (std::size_t r = 0; r < 4; ++r) {
          jobs[i].inputs[r] = next.inputs[r];
          jobs[i].outputs[r] = next.outputs[r];
        }
        there[i].send();
      }
      const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) {
        CollectiveCall calls[] = {{collective, jobs[0].operands(rank), jobs[0].bytes()},
                                  {collective, jobs[1].operands(rank), jobs[1].bytes()}};
        for (int i = 0; i < 2; ++i) there[i].place(rank, calls[i]);
        return start_both(*ranks.comms[static_cast<std::size_t>(rank)], calls[0], calls[1]);
      });
      for (const Verdict& verdict : verdicts) EXPECT_TRUE(verdict.good()) << verdict.text();
      for (int i = 0; i < 2; ++i) {
        there[i].fetch();
        Job wanted = job_at_step(trial, step + 100 * i);
        Ranks(4, trial_of(collective).whole_policy()).run(collective, wanted);
        EXPECT_TRUE(wanted.outputs == jobs[i].outputs) << step;
      }
      sent.push_back(ranks.statistics(0).sent_bytes);
    }
    EXPECT_LT((sent[5] - sent[4]) * 4, (sent[1] - sent[0]) * 3);
  }
}

// ---- Memory and failures

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
      bool any_plain = false;
      for (const Verdict& verdict : verdicts) any_plain |= verdict.fallback != Fallback::none;
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

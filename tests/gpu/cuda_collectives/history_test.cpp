// Promise: with history=, frames of collectives that move values on GPUs refer to earlier calls, and results
// have the bits that they have without it, and on the host.
#include "gpu/cuda_collectives/series.hpp"

namespace taut::test {
namespace history_test {

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
    for (const bool frames_there : {false, true}) {
      trial.frames_there = frames_there;
      EXPECT_EQ(compared(trial) < 1, !algorithm->recodes) << algorithm->name;
    }
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

// The forecast waits together with samples, and a state at the end; the numbers of states come with headers.
// The memory of states is reused by now. Frames that arrive on GPUs wait for the copies of values before.
TEST(HistoryOnGpus, WaitsAtMostOnceMore) {
  for (const bool frames_there : {false, true})
    for (const Collective collective : moving()) {
      Trial trial = trial_of(collective);
      trial.frames_there = frames_there;
      Series alone(trial), behind(with(trial, "history=auto"));
      alone.calls(8, all);
      behind.calls(8, all);
      EXPECT_GT(alone.waits[7], 0u);
      EXPECT_LE(behind.waits[7], alone.waits[7] + 4 + (frames_there ? 12 : 0)) << name_of(collective);
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

}  // namespace history_test
}  // namespace taut::test

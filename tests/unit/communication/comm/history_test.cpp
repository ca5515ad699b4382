// Promise: with history=, frames of a collective refer to earlier calls, all ranks or none, and results have
// the bits that they have without it.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

constexpr std::size_t count = 40000;

std::vector<Collective> moving() {
  std::vector<Collective> found;
  for (const Collective collective : all_collectives)
    if (!reduces(collective)) found.push_back(collective);
  return found;
}

// Values that change little from call to call: noise that stays, and a wave that moves.
Values at_step(DType type, int rank, int step) {
  Values noise = make_values(type, count, Pattern::noisy, 77 + static_cast<std::uint64_t>(rank));
  const std::size_t parts = noise.numbers();
  std::vector<double> numbers(parts);
  for (std::size_t i = 0; i < parts; ++i)
    numbers[i] = noise.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + step);
  noise.set(0, numbers);
  return noise;
}

struct Setting {
  Collective collective;
  int ranks;
  std::string policy;
  DType type = DType::f32;
  int root = 0;
  bool in_place = false;
};

// A sequence of equal calls, one job each, and what they sent.
struct Sequence {
  std::vector<Job> jobs;
  std::vector<std::uint64_t> sent;
};

// Runs the calls after change(step, rank, call) on each rank.
template <class Change>
Sequence run(const Setting& setting, int calls, const Change& change) {
  Ranks ranks(setting.ranks, setting.policy);
  Sequence sequence;
  for (int step = 0; step < calls; ++step) {
    Job job(setting.collective, setting.ranks, count, setting.type, Pattern::smooth, 1, Reduction::sum,
            setting.root, setting.in_place);
    for (int r = 0; r < setting.ranks; ++r) {
      const Values values = at_step(setting.type, r, step);
      const bool own = setting.collective == Collective::bcast ? r == setting.root : setting.in_place;
      auto& to = own ? job.outputs : job.inputs;
      std::memcpy(to[static_cast<std::size_t>(r)].slice().data, values.slice().data, job.bytes());
      job.inputs[static_cast<std::size_t>(r)] = to[static_cast<std::size_t>(r)];
    }
    const auto verdicts =
        ranks.run(setting.collective, job, [&](int rank, CollectiveCall& call) { change(step, rank, call); });
    for (const Verdict& verdict : verdicts) {
      EXPECT_EQ(verdict.status, Status::ok) << verdict.text();
      EXPECT_EQ(verdict.fallback, Fallback::none);
    }
    sequence.jobs.push_back(job);
    std::uint64_t sent = 0;
    for (int r = 0; r < setting.ranks; ++r) sent += ranks.statistics(r).sent_bytes;
    for (const std::uint64_t earlier : sequence.sent) sent -= earlier;
    sequence.sent.push_back(sent);
  }
  return sequence;
}
Sequence run(const Setting& setting, int calls) {
  return run(setting, calls, [](int, int, CollectiveCall&) {});
}

Setting with(Setting setting, const char* history) {
  setting.policy += std::string(",history=") + history;
  return setting;
}

void expect_same_results(const Sequence& a, const Sequence& b) {
  for (std::size_t i = 0; i < a.jobs.size(); ++i) EXPECT_TRUE(a.jobs[i].outputs == b.jobs[i].outputs) << i;
}

TEST(History, ResultsHaveTheSameBitsAndFewerBytes) {
  for (const Collective collective : moving()) {
    for (const char* policy : {"abs:1e-3,when=always", "lossless,when=always", "pwrel:1e-3,when=always",
                               "snap:1e-3,when=always"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << policy);
      const Setting setting{collective, 4, policy};
      const Sequence alone = run(setting, 4), behind = run(with(setting, "auto"), 4);
      expect_same_results(alone, behind);
      if (std::string_view(policy).starts_with("abs")) {
        EXPECT_EQ(behind.sent[0], alone.sent[0]);
        EXPECT_LT(behind.sent[3], alone.sent[3] * 3 / 4);
      }
    }
  }
}

// Results within relative bounds depend on the setting of histories, and never on the calls before. Ranges
// that differ by less than a fifth have the same step, so that references pay.
TEST(History, StepsOfRelativeBoundsStay) {
  for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
    for (const char* policy : {"rel:1e-4", "psnr:80"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << policy);
      const auto new_ranks = [&] {
        return Ranks(3, std::string(policy) + ",when=always,reduction=frames,history=auto");
      };
      Ranks ranks = new_ranks();
      std::vector<std::uint64_t> sent{0};
      for (int step = 0; step < 5; ++step) {
        Job job(collective, 3, count, DType::f32, Pattern::smooth, 1);
        for (int r = 0; r < 3; ++r) {
          Values& values = job.inputs[static_cast<std::size_t>(r)];
          std::memcpy(values.slice().data, at_step(DType::f32, r, step).slice().data, values.slice().bytes());
          values.set(0, 20 + 0.05 * step);
        }
        Job alone = job;
        Ranks others = new_ranks();
        others.run(collective, alone);
        ranks.run(collective, job);
        EXPECT_TRUE(job.outputs == alone.outputs) << step;
        EXPECT_EQ(job.check(0, 1e-4 * 65, 0), "");
        sent.push_back(ranks.statistics(0).sent_bytes);
      }
      EXPECT_LT(sent[5] - sent[4], (sent[1] - sent[0]) * 3 / 4);
    }
  }
}

TEST(History, AllTypesRootsAlgorithmsAndSegments) {
  for (const DType type : {DType::f64, DType::f16, DType::bf16, DType::c64, DType::i32}) {
    for (const int segments : {1, 3}) {
      for (const Collective collective : {Collective::bcast, Collective::allgather, Collective::alltoall}) {
        SCOPED_TRACE(testing::Message() << name_of(collective) << " type " << static_cast<int>(type));
        const std::string bound = type == DType::i32 ? "lossless" : "abs:1e-2";
        const Setting setting{collective, 3, bound + ",when=always,segments=" + std::to_string(segments),
                              type, 2};
        expect_same_results(run(setting, 3), run(with(setting, "2"), 3));
      }
    }
  }
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    if (reduces(algorithm->collective)) continue;
    SCOPED_TRACE(algorithm->name);
    const Setting setting{algorithm->collective, 5,
                          std::string("abs:1e-3,when=always,algorithm=") + algorithm->name};
    expect_same_results(run(setting, 3), run(with(setting, "auto"), 3));
  }
}

TEST(History, InputsInPlaceStay) {
  for (const Collective collective : {Collective::bcast, Collective::allgather, Collective::alltoall})
    for (const char* same_bits : {"off", "on"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " same_bits " << same_bits);
      const Setting setting{collective, 3, std::string("abs:1e-3,when=always,same_bits=") + same_bits,
                            DType::f32, 1, true};
      expect_same_results(run(setting, 3), run(with(setting, "auto"), 3));
    }
}

// Fields that are sent in turn by one kind of call need a reference several calls back.
TEST(History, FindsThePeriodOfFieldsInTurn) {
  const auto sent_by = [](const char* history) {
    Ranks ranks(2, std::string("abs:1e-3,when=always,history=") + history);
    std::uint64_t before = 0, last = 0;
    for (int call = 0; call < 12; ++call) {
      Job job(Collective::bcast, 2, count, DType::f32, Pattern::smooth, 1);
      job.inputs[0] = job.outputs[0] = at_step(DType::f32, call % 3, call / 3);
      ranks.run(Collective::bcast, job);
      last = ranks.statistics(0).sent_bytes - before;
      before += last;
    }
    return last;
  };
  EXPECT_LT(sent_by("auto"), sent_by("2") * 3 / 4);
}

// A rank that does not hold the newest state makes all ranks begin anew: the next call goes without
// references.
TEST(History, AMissingStateIsNeverAWrongValue) {
  const Setting setting{Collective::allgather, 4, "abs:1e-3,when=always"};
  const auto change = [](int step, int rank, CollectiveCall& call) {
    if (step == 3 && rank == 2) call.data.own = nullptr;  // a series of its own
  };
  const Sequence alone = run(setting, 6, change), behind = run(with(setting, "auto"), 6, change);
  expect_same_results(alone, behind);
  EXPECT_EQ(behind.sent[3], alone.sent[3]);
  EXPECT_LT(behind.sent[5], alone.sent[5] * 3 / 4);
}

// Calls of unchanged values, and calls fed with their own result, stay where the first one left them.
TEST(History, AThousandCallsOnTheirOwnResult) {
  constexpr std::size_t few = 999;
  for (const Collective collective : {Collective::bcast, Collective::allgather}) {
    SCOPED_TRACE(name_of(collective));
    Ranks ranks(3, "abs:1e-3,when=always,min_bytes=0,history=auto");
    Job job(collective, 3, few, DType::f32, Pattern::noisy, 1);
    ranks.run(collective, job);
    const Job first = job;
    EXPECT_EQ(job.check(1, 1e-3, 0), "");
    for (int call = 0; call < 1000; ++call) {
      for (std::size_t r = 0; r < 3 && call % 2 == 1; ++r)
        if (collective == Collective::allgather) job.inputs[r] = job.outputs[r];
      for (const Verdict& verdict : ranks.run(collective, job)) ASSERT_EQ(verdict.status, Status::ok) << call;
      ASSERT_TRUE(job.outputs == first.outputs) << call;
    }
  }
}

// Other counts, roots and calls between do not disturb a series.
TEST(History, SeriesAreKeptApart) {
  Ranks alone(3, "abs:1e-3,when=always"), behind(3, "abs:1e-3,when=always,history=auto");
  for (int step = 0; step < 9; ++step) {
    const int root = step % 3;
    Job one(Collective::bcast, 3, count - static_cast<std::size_t>(step % 2), DType::f32, Pattern::smooth, 1,
            Reduction::sum, root);
    const auto r = static_cast<std::size_t>(root);
    const Values values = at_step(DType::f32, root, step);
    std::memcpy(one.outputs[r].slice().data, values.slice().data, one.bytes());
    one.inputs[r] = one.outputs[r];
    Job other = one;
    for (const Verdict& verdict : alone.run(Collective::bcast, one)) EXPECT_EQ(verdict.status, Status::ok);
    for (const Verdict& verdict : behind.run(Collective::bcast, other)) EXPECT_EQ(verdict.status, Status::ok);
    EXPECT_TRUE(one.outputs == other.outputs);
  }
}

TEST(History, MemoryStaysWithinItsLimit) {
  const Setting setting{Collective::bcast, 2, "abs:1e-3,when=always"};
  const Sequence alone = run(setting, 4);
  Setting limited = with(setting, "auto");
  limited.policy += ",history_bytes=1KiB";
  const Sequence none = run(limited, 4);
  expect_same_results(alone, none);
  EXPECT_EQ(none.sent, alone.sent);
}

TEST(History, SpecialValuesPass) {
  Ranks alone(2, "abs:1e-3,when=always"), behind(2, "abs:1e-3,when=always,history=auto");
  for (int step = 0; step < 4; ++step) {
    Job job(Collective::bcast, 2, count, DType::f32, Pattern::smooth, 1);
    Values values = at_step(DType::f32, 0, step);
    const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e30, 1e-42};
    for (std::size_t i = 0; i < 6; ++i)
      values.set((i * 9973 + static_cast<std::size_t>(step) * 31) % count, special[i]);
    job.inputs[0] = job.outputs[0] = values;
    Job other = job;
    alone.run(Collective::bcast, job);
    behind.run(Collective::bcast, other);
    EXPECT_TRUE(job.outputs == other.outputs) << step;
  }
}

// Runs pairs of calls with the same buffers in each step. `shared`: a root sends the same buffer by both.
Sequence run_pairs(Collective collective, const std::string& policy, bool shared) {
  Ranks ranks(3, policy);
  Job jobs[2] = {{collective, 3, count, DType::f32, Pattern::smooth, 1},
                 {collective, 3, count, DType::f32, Pattern::smooth, 2}};
  Sequence sequence;
  std::uint64_t before = 0;
  for (int step = 0; step < 6; ++step) {
    for (Job& job : jobs) {
      for (std::size_t r = 0; r < 3; ++r) {
        const Values values =
            at_step(DType::f32, static_cast<int>(r) + (&job == jobs || shared ? 0 : 10), step);
        std::memcpy(job.inputs[r].slice().data, values.slice().data, job.bytes());
        if (collective == Collective::bcast && r == 0)
          std::memcpy(job.outputs[r].slice().data, values.slice().data, job.bytes());
      }
    }
    const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) {
      CollectiveCall first(collective, jobs[0].operands(rank), jobs[0].bytes());
      CollectiveCall second(collective, jobs[1].operands(rank), jobs[1].bytes());
      if (shared && rank == 0) second.data = first.data;
      return start_both(*ranks.comms[static_cast<std::size_t>(rank)], first, second);
    });
    for (const Verdict& verdict : verdicts) EXPECT_TRUE(verdict.good()) << verdict.text();
    for (const Job& job : jobs) sequence.jobs.push_back(job);
    const std::uint64_t sent = ranks.statistics(0).sent_bytes;
    sequence.sent.push_back(sent - before);
    before = sent;
  }
  return sequence;
}

TEST(History, CallsInFlightHaveSeriesOfTheirOwn) {
  const std::string policy = "abs:1e-3,when=always";
  for (const Collective collective : {Collective::bcast, Collective::allgather, Collective::allreduce}) {
    SCOPED_TRACE(name_of(collective));
    const Sequence alone = run_pairs(collective, policy, false),
                   behind = run_pairs(collective, policy + ",history=auto", false);
    expect_same_results(alone, behind);
    EXPECT_LT(behind.sent[5], alone.sent[5] * 3 / 4);
  }
}

// Calls that share a buffer would share a state too: one of them goes without.
TEST(History, CallsInFlightThatShareABuffer) {
  const std::string policy = "abs:1e-3,when=always";
  expect_same_results(run_pairs(Collective::bcast, policy, true),
                      run_pairs(Collective::bcast, policy + ",history=auto", true));
}

// Under when=profitable, values that do not compress by themselves are served once earlier calls predict
// them.
TEST(History, ForecastsServeCallsThatGainByItAlone) {
  const auto served = [](const char* history) {
    Ranks ranks(2, std::string("lossless,when=profitable") + history);
    Job job(Collective::bcast, 2, count, DType::f32, Pattern::wild, 1);
    int calls = 0;
    for (int step = 0; step < 40; ++step) {
      const auto verdicts = ranks.run(Collective::bcast, job);
      EXPECT_EQ(verdicts[0].status, Status::ok);
      calls += verdicts[0].good();
    }
    return calls;
  };
  EXPECT_EQ(served(""), 0);
  EXPECT_GT(served(",history=auto"), 0);
}

// Trials come and go by times that differ on each rank: all ranks do the same, and results keep the bound.
TEST(History, TimedSeriesKeepTheirBound) {
  for (const Collective collective :
       {Collective::bcast, Collective::gather, Collective::allgather, Collective::allreduce}) {
    SCOPED_TRACE(name_of(collective));
    Ranks ranks(3, "abs:1e-3,reduction=frames,history=auto");
    int served = 0;
    for (int step = 0; step < 150; ++step) {
      Job job(collective, 3, count, DType::f32, Pattern::noisy, 1 + static_cast<std::uint64_t>(step / 40));
      const auto verdicts = ranks.run(collective, job);
      for (const Verdict& verdict : verdicts) {
        ASSERT_EQ(verdict.status, Status::ok) << step;
        ASSERT_EQ(verdict.fallback, verdicts[0].fallback) << step;
        if (verdict.plain_times != nullptr) verdict.plain_times->note(1e6, job.bytes());  // plain MPI is slow
      }
      if (!verdicts[0].good()) continue;
      ASSERT_EQ(job.check(1, 1e-3, 0), "") << step;
      ++served;
    }
    EXPECT_GT(served, 0);
    EXPECT_GT(ranks.statistics(0).referring_calls, 0u);
  }
}

TEST(Histories, HaveALimit) {
  Histories histories;
  const auto add = [&](std::uint64_t key, std::uint64_t number, std::size_t limit) {
    CallState state{.number = number, .sent = KeptValues(100), .received = {}};
    const auto series = histories.of(key, state.bytes(), limit);
    if (series != nullptr) series->add(std::move(state), 3);
    return series;
  };
  for (std::uint64_t i = 1; i <= 5; ++i) add(1, i, 1000);
  EXPECT_EQ(histories.of(1, 0, 1000)->newest(), 5u);
  EXPECT_EQ(histories.of(1, 0, 1000)->states().size(), 3u);
  for (std::uint64_t i = 1; i <= 3; ++i) add(2, i, 400);
  EXPECT_EQ(histories.of(2, 0, 400)->states().size(), 3u);
  EXPECT_EQ(histories.of(1, 0, 400)->states().size(), 1u);  // the series used least recently goes first
  EXPECT_EQ(add(2, 9, 50), nullptr);
  EXPECT_EQ(histories.of(2, 0, 1000)->newest(), 3u);
  EXPECT_EQ(histories.of(2, 100, 100)->states().size(), 0u);  // the room is free before the call
}

// States that a call under way refers to stay, and the state that it will leave counts.
TEST(Histories, CallsUnderWayKeepTheirStates) {
  Histories histories;
  const auto series = histories.of(1, 100, 200);
  series->add({.number = 7, .sent = KeptValues(100), .received = {}}, 3);
  series->begin(100);
  EXPECT_EQ(histories.of(2, 100, 200), nullptr);
  EXPECT_EQ(series->newest(), 7u);
  series->end();
  EXPECT_NE(histories.of(2, 100, 200), nullptr);
  EXPECT_NE(histories.of(3, 200, 200), nullptr);
  EXPECT_EQ(series->newest(), 0u);
}

// The memory of a state that goes is that of the next one, unless a call still refers to it. It counts, and
// goes before states.
TEST(Histories, ReuseMemory) {
  Histories histories;
  const auto series = histories.of(1, 100, 1000);
  const auto add = [&] {
    CallState state = series->room(60, 40);
    EXPECT_EQ(state.sent.find(0, 1), nullptr);
    state.sent.keep(0, 60);
    series->add(std::move(state), 2);
  };
  for (int call = 0; call < 3; ++call) add();
  EXPECT_EQ(series->bytes(), 300u);
  EXPECT_EQ(series->spare_bytes(), 100u);
  add();
  EXPECT_EQ(series->bytes(), 300u);
  EXPECT_NE(histories.of(1, 100, 300), nullptr);
  EXPECT_EQ(series->spare_bytes(), 100u);
  EXPECT_EQ(histories.of(2, 100, 300)->bytes(), 0u);
  EXPECT_EQ(series->spare_bytes(), 0u);
  EXPECT_EQ(series->states().size(), 2u);
  const HeldStates in_use = series->states();
  add();
  EXPECT_EQ(series->spare_bytes(), 0u);
  EXPECT_EQ(series->room(10, 10).bytes(), 20u);
}

// A series whose values are never alike is looked at now and then, and found when they are.
TEST(Histories, ASeriesKeepsNoMoreStatesThanItIsAskedFor) {
  Series series(1);
  for (int i = 0; i < 4; ++i) series.add(CallState::with_bytes(64, 64), 4);
  EXPECT_EQ(series.states().size(), 4U);
  series.add(CallState::with_bytes(64, 64), 1);
  EXPECT_EQ(series.states().size(), 1U);
}

TEST(Histories, SeriesThatGainNothingRest) {
  const auto codec = find_codec("planes")->make({.bound = 1e-3});
  Series series(1);
  std::size_t gains = 0;
  std::size_t looks = 0;
  for (std::uint64_t call = 0; call < 1500; ++call) {
    const std::uint64_t seed = call < 500 ? call : 500;
    if (series.pieces().rests()) continue;
    looks += call < 500;
    const Values values = make_values(DType::f32, 4096, Pattern::noisy, seed);
    const bool gained = series.pieces().forecast(values.slice(), false, *codec, 4).period > 0;
    EXPECT_TRUE(!gained || call > 500) << call;
    gains += gained;
  }
  EXPECT_LE(looks, 30u);
  EXPECT_GT(gains, 200u);
}

// A wave that has not reached the middle of a message is seen, and zeros everywhere leave the last look.
TEST(Histories, ForecastsLookAllOverTheValues) {
  const auto codec = find_codec("planes")->make({.bound = 1e-3});
  EarlierPieces pieces;
  Values values = make_values(DType::f32, 40000, Pattern::noisy, 3);
  values.set(10000, std::vector<double>(20000, 0.0));
  const auto period = [&](ConstSlice one) { return pieces.forecast(one, false, *codec, 4).period; };
  EXPECT_EQ(period(values.slice()), 0u);
  EXPECT_EQ(period(values.slice()), 1u);
  const std::vector<float> zeros(40000);
  for (int call = 0; call < 30; ++call)
    EXPECT_EQ(period({zeros.data(), zeros.size(), DType::f32}), 1u) << call;
}

// Kernels use all references that they get: one for values that jump to and fro, two for a steady change.
TEST(Histories, ForecastsForKernelsFindTheNumberOfReferences) {
  const auto codec = find_codec("planes")->make({.bound = 1e-3}),
             none = find_codec("planes")->make({.bound = 1e-3, .predictor = "none"});
  for (const bool steady : {false, true}) {
    EarlierPieces pieces;
    const Values noise = make_values(DType::f32, 4096, Pattern::noisy, 3);
    for (const int step : {0, 1, 2, 3}) {
      Values values = noise;
      const double change = steady ? 0.5 * step : 0.004 * (step % 2);
      for (std::size_t i = 0; i < values.numbers(); ++i)
        values.set(i, noise.at(i) + change * static_cast<double>(i % 7));
      const HistoryForecast found = pieces.forecast(values.slice(), false, *codec, 2, none.get());
      if (step < 2) continue;
      EXPECT_GT(found.period, 0u);
      EXPECT_EQ(found.references, steady ? 2u : 1u);
    }
  }
}

TEST(KeptValues, AreFoundOnlyWhereTheyAreKept) {
  KeptValues kept(100);
  EXPECT_EQ(kept.find(0, 1), nullptr);
  kept.keep(10, 10);
  kept.keep(30, 10);
  EXPECT_EQ(kept.find(10, 10), kept.at(10));
  EXPECT_EQ(kept.find(10, 11), nullptr);
  EXPECT_EQ(kept.find(9, 2), nullptr);
  EXPECT_EQ(kept.find(15, 20), nullptr);
  kept.keep(20, 10);
  EXPECT_EQ(kept.find(10, 30), kept.at(10));
  EXPECT_EQ(kept.find(39, 1), kept.at(39));
  EXPECT_EQ(kept.find(40, 1), nullptr);
}

}  // namespace
}  // namespace taut::test

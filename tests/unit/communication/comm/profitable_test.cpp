// Tests of the autotuner: communicators decide from the times of their calls whether to compress, and decide
// alike on every rank.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "communication/comm/in_flight.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Nanoseconds of plain calls. A back-off lasts as long as the trial before it took: a few calls of moderate
// speed, very many fast ones.
constexpr std::uint64_t fast = 1, moderate = 200'000, slow = 1'000'000'000'000;

Task<Verdict> plain(Fallback why) { co_return Verdict{why}; }

void record_plain(const Verdict& verdict, std::size_t bytes, std::uint64_t nanoseconds) {
  if (verdict.plain_times != nullptr) verdict.plain_times->note(seconds(nanoseconds), bytes);
}

class Profitable : public testing::Test {
 protected:
  // Makes one call on all ranks and returns its fallback reason. A plain call takes `nanoseconds(rank)`.
  template <class Nanoseconds>
  Fallback call(Nanoseconds nanoseconds, Collective collective = Collective::allreduce) {
    Job& job =
        jobs.try_emplace(collective, collective, P, 100000, DType::f32, Pattern::noisy, 1).first->second;
    const auto verdicts = ranks.run(collective, job);
    for (int r = 0; r < P; ++r) {
      const Verdict& verdict = verdicts[static_cast<std::size_t>(r)];
      EXPECT_EQ(verdict.status, Status::ok);
      EXPECT_EQ(verdict.fallback, verdicts[0].fallback);
      record_plain(verdict, job.bytes(), nanoseconds(r));
    }
    return verdicts[0].fallback;
  }
  Fallback call(std::uint64_t nanoseconds, Collective collective = Collective::allreduce) {
    return call([=](int) { return nanoseconds; }, collective);
  }
  template <class Nanoseconds>
  std::vector<Fallback> calls(int n, Nanoseconds nanoseconds) {
    std::vector<Fallback> courses;
    for (int i = 0; i < n; ++i) courses.push_back(call(nanoseconds));
    return courses;
  }
  Communicator& comm(int rank) { return *ranks.comms[static_cast<std::size_t>(rank)]; }
  static auto count(const std::vector<Fallback>& courses, Fallback course) {
    return std::count(courses.begin(), courses.end(), course);
  }

  static constexpr int P = 3;
  std::map<Collective, Job> jobs;                  // the same values for each call
  Ranks ranks{P, "abs:1e-5,when=profitable", {}};  // the ratio is so low that plain MPI is worth a trial
};

// If the ranks disagreed, one of them would try plain MPI while the others wait for it.
TEST_F(Profitable, ACallThatFailedOnOneRankIsExperienceOnAll) {
  int frames = 0;
  ranks.hub.set_damage([&](const LoopbackHub::Record& record, std::vector<std::byte>& message) {
    if (record.bytes > 1000 && record.to == P - 1 && frames++ == 0) message.clear();  // passed on to nobody
  });
  Job job(Collective::bcast, P, 100000, DType::f32, Pattern::noisy, 1);
  int failed = 0;
  for (const Verdict& verdict : ranks.run(Collective::bcast, job)) failed += verdict.status != Status::ok;
  EXPECT_EQ(failed, 1);
  for (int i = 0; i < 5; ++i) call(fast, Collective::bcast);
}

TEST_F(Profitable, PlainMpiIsTriedAndKeptWhereItIsFaster) {
  EXPECT_EQ(call(fast), Fallback::none);
  EXPECT_EQ(call(fast), Fallback::trial);
  const auto courses = calls(300, fast);
  EXPECT_LE(count(courses, Fallback::none), 10);
  EXPECT_GE(count(courses, Fallback::slower), 285);
}

TEST_F(Profitable, ARestHasNoMessages) {
  while (call(moderate) != Fallback::slower) {
  }
  while (call(moderate) == Fallback::slower) {
  }
  while (call(moderate) != Fallback::slower) {
  }
  const std::uint64_t before = ranks.hub.transport(0).traffic().messages;
  EXPECT_EQ(call(moderate), Fallback::slower);
  EXPECT_EQ(ranks.hub.transport(0).traffic().messages, before);
}

// Staging of values that are contiguous in truth, which counts how often they are gathered.
class CountedStaging final : public Staging {
 public:
  CountedStaging(const Operands& there, int& gathered) : there_(there), gathered_(gathered) {}
  std::array<Buffer, 2> pack(Place&, Operands& data) const override {
    ++gathered_;
    data = there_;
    return {};
  }
  void unpack(const Operands&) const override {}

 private:
  Operands there_;
  int& gathered_;
};

// Cost of one call of all ranks beyond that of plain MPI.
struct Cost {
  Fallback course;
  int gathered;            // times that values were gathered, which samples need
  std::uint64_t messages;  // of rank 0
};

std::vector<Cost> costs_of_calls(Ranks& ranks, int calls, std::uint64_t nanoseconds) {
  std::vector<Cost> costs;
  for (int i = 0; i < calls; ++i) {
    Job job(Collective::allgather, ranks.hub.size(), 100000, DType::f32, Pattern::noisy, 1);
    int gathered = 0;
    const std::uint64_t before = ranks.hub.transport(0).traffic().messages;
    const auto verdicts = ranks.run(Collective::allgather, job, [&](int, CollectiveCall& request) {
      request.staging = std::make_shared<CountedStaging>(request.data, gathered);
      request.data.in.data = nullptr;
      request.data.out.data = nullptr;
    });
    for (const Verdict& verdict : verdicts) record_plain(verdict, job.bytes(), nanoseconds);
    costs.push_back({verdicts[0].fallback, gathered, ranks.hub.transport(0).traffic().messages - before});
  }
  return costs;
}

// The second call begins a trial of plain MPI. Its other calls cost what plain MPI costs. The ranks compare
// their times before the second call of the trial and after the last one, and then agree on the next call.
TEST_F(Profitable, CallsOfATrialGatherNothing) {
  const auto costs = costs_of_calls(ranks, 6, fast);
  EXPECT_EQ(costs[0].course, Fallback::none);
  constexpr std::uint64_t agreement = 2;  // messages of one of three ranks
  const int gathered[] = {P, P, 0, 0, P, 0};
  const std::uint64_t messages[] = {0, agreement, agreement, 0, 2 * agreement, 0};
  for (std::size_t i = 1; i < costs.size(); ++i) {
    EXPECT_EQ(costs[i].course, i < 4 ? Fallback::trial : Fallback::slower) << i;
    EXPECT_EQ(costs[i].gathered, gathered[i]) << i;
    EXPECT_EQ(costs[i].messages, messages[i]) << i;
  }
}

// Values that gain nothing: all but a few calls are plain calls, without messages and without samples.
TEST(PaysNot, CallsThatGainNothingCostWhatPlainCallsCost) {
  for (const char* const policy : {"abs:1e-12", "abs:1e-5,when=profitable"}) {
    Ranks ranks(3, policy, {});
    const auto costs = costs_of_calls(ranks, 60, fast);
    int burdened = 0;
    for (const Cost& cost : costs) burdened += cost.gathered + cost.messages != 0;
    EXPECT_LE(burdened, 10) << policy;
    EXPECT_EQ(costs.back().gathered + costs.back().messages, 0u) << policy;
  }
}

// Each rank may ask by the short or the full check, and so times different calls.
TEST_F(Profitable, RanksMayAskBrieflyWhetherAKindStillRests) {
  Job job(Collective::allreduce, P, 100000, DType::f32, Pattern::noisy, 1);
  int asked_briefly = 0;
  Autotuner* backing_off[P] = {};
  for (int i = 0; i < 600; ++i) {
    const bool like_the_last = i % 50 != 0;
    const auto collective = i / 50 % 2 == 0 ? Collective::allreduce : Collective::reduce;
    const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) -> Task<Verdict> {
      const bool brief = rank != 1 && like_the_last;
      Autotuner*& last = backing_off[rank];
      const Fallback why = brief && last != nullptr ? last->next() : Fallback::none;
      if (why != Fallback::none) return plain(why);
      const CollectiveCall request{collective, job.operands(rank), job.bytes()};
      const EarlyDecision early = comm(rank).decide(request);
      last = early.fallback != Fallback::none ? early.autotuner : nullptr;
      return comm(rank).run(request, early);
    });
    for (int r = 0; r < P; ++r) {
      ASSERT_EQ(verdicts[static_cast<std::size_t>(r)].fallback, verdicts[0].fallback) << i;
      Autotuner* const last = backing_off[r];
      asked_briefly += last != nullptr && r != 1 && like_the_last;
      if (last == nullptr)
        record_plain(verdicts[static_cast<std::size_t>(r)], job.bytes(), fast);
      else if (r == 1 || last->needs_time())
        last->record(Outcome::plain, seconds(fast), job.bytes());
    }
  }
  EXPECT_GE(asked_briefly, 1000);
}

TEST_F(Profitable, FramesAreKeptWhereTheyAreFaster) {
  const auto courses = calls(100, slow);
  EXPECT_GE(count(courses, Fallback::none), 90);
  EXPECT_EQ(count(courses, Fallback::slower), 0);
}

TEST_F(Profitable, TheRankThatCameLastKnowsHowLongACallOfAllTook) {
  const auto courses = calls(50, [](int rank) { return rank == 1 ? fast : slow; });
  EXPECT_GE(count(courses, Fallback::slower), 35);
}

TEST_F(Profitable, OfARootedCallTheSlowestRankCounts) {
  call(fast, Collective::bcast);
  for (int i = 0; i < 50; ++i)
    EXPECT_NE(call([](int rank) { return rank == 1 ? slow : fast; }, Collective::bcast), Fallback::slower);
}

TEST_F(Profitable, WhatASampleRejectsIsLeftAlone) {
  ranks.comms.clear();
  for (int r = 0; r < P; ++r)
    ranks.comms.push_back(std::make_unique<Communicator>(
        ranks.hub.transport(r), *ranks.places[static_cast<std::size_t>(r)], parse_policy("abs:1e-12")));
  const auto courses = calls(100, fast);
  EXPECT_EQ(count(courses, Fallback::no_gain), 100);
  const std::uint64_t agreements = ranks.hub.transport(0).traffic().messages / 2;  // log2 3 messages each
  EXPECT_LE(agreements, 7u);
}

TEST_F(Profitable, AlwaysMeansAlways) {
  ranks.comms.clear();
  for (int r = 0; r < P; ++r)
    ranks.comms.push_back(std::make_unique<Communicator>(ranks.hub.transport(r),
                                                         *ranks.places[static_cast<std::size_t>(r)],
                                                         parse_policy("abs:1e-12,when=always,codec=planes")));
  EXPECT_EQ(count(calls(20, fast), Fallback::none), 20);
}

// Every algorithm that is tried is the same on every rank and gives the bits of the first call.
TEST_F(Profitable, OtherAlgorithmsAreTriedAndGiveTheSameBits) {
  for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::bcast}) {
    Ranks four(4, "abs:1e-3,when=always", {});
    Job first(collective, 4, 100000, DType::f32, Pattern::noisy, 1);
    four.run(collective, first);
    std::set<std::string> taken;
    for (int i = 0; i < 120; ++i) {
      Job job(collective, 4, 100000, DType::f32, Pattern::noisy, 1);
      for (const Verdict& verdict : four.run(collective, job)) ASSERT_EQ(verdict.status, Status::ok);
      ASSERT_TRUE(job.outputs == first.outputs);
      taken.insert(four.comms[0]->calls().rows()[0].decision.algorithm);
    }
    EXPECT_GE(taken.size(), 2u) << name_of(collective);
  }
}

// Overlapping calls do not update the autotuner: the ranks may see them complete in different orders.
TEST_F(Profitable, CallsThatOverlapTeachBlockingCallsNothing) {
  for (int i = 0; i < 20; ++i) {
    Job job(Collective::allreduce, P, 100000, DType::f32, Pattern::noisy, 1);
    bool compressed[P] = {};
    const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) {
      return comm(rank).run({Collective::allreduce, job.operands(rank), job.bytes()}, {}, &compressed[rank]);
    });
    for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.fallback, verdicts[0].fallback);
  }
  EXPECT_EQ(call(fast), Fallback::none);
  EXPECT_EQ(call(fast), Fallback::trial);
}
}  // namespace
}  // namespace taut::test

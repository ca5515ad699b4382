// Counters and times of communicators.
#include "communication/comm/statistics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "support/ranks.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace statistics_test {

using std::chrono::milliseconds;
constexpr std::uint64_t ms = 1000000;  // nanoseconds

std::uint64_t parts(const PhaseTimes& t) {
  return t[Phase::encode] + t[Phase::combine] + t[Phase::decode] + t[Phase::wait] + t[Phase::agree] +
         t[Phase::plain];
}

// ---- Times

TEST(CallTimes, TheVerbsAreTheWholeCall) {
  for (const Collective collective : all_collectives) {
    for (const char* policy : {"abs:1e-3,segments=1", "abs:1e-3,segments=4,reduction=values", "rel:1e-4"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << policy);
      Ranks ranks(3, policy, {});
      Job job(collective, 3, 100000, DType::f32, Pattern::smooth, 1);
      const std::uint64_t begin = clock_now();
      ranks.run(collective, job);
      const std::uint64_t all = clock_now() - begin;
      for (int r = 0; r < 3; ++r) {
        const PhaseTimes times = ranks.statistics(r).times;
        EXPECT_EQ(parts(times), times[Phase::call]);
        EXPECT_LE(times[Phase::call], all);
        EXPECT_LE(times[Phase::wait], times[Phase::call]);  // else the phases overlap
        EXPECT_GT(times[Phase::agree], 0u);
        EXPECT_EQ(times[Phase::plain], 0u);
      }
    }
  }
}

// A transport that delays messages, those of frames only.
class Late final : public Transport {
 public:
  explicit Late(Transport& transport) : transport_(transport) {}
  int rank() const noexcept override { return transport_.rank(); }
  int size() const noexcept override { return transport_.size(); }

 private:
  struct Operation {
    Pending pending;
    std::chrono::steady_clock::time_point ready;
  };
  std::uint64_t add(Pending pending, std::size_t bytes) {
    const milliseconds delay(bytes > sizeof(AgreementMessage) ? 20 : 0);
    operations_[++last_] = {std::move(pending), std::chrono::steady_clock::now() + delay};
    return last_;
  }
  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override {
    return add(transport_.send(bytes, to, lane), 0);
  }
  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override {
    return add(transport_.recv(capacity, from, lane), capacity.size());
  }
  bool poll(std::uint64_t& operation, SizeOrStatus& moved) override {
    Operation& o = operations_[operation];
    if (std::chrono::steady_clock::now() < o.ready || !o.pending.ready()) return false;
    moved = o.pending.result();
    operations_.erase(operation);
    return true;
  }
  void abandon(std::uint64_t operation) noexcept override { operations_.erase(operation); }

  Transport& transport_;
  std::map<std::uint64_t, Operation> operations_;
  std::uint64_t last_ = 0;
};

// Advances rank 0's task until it blocks, runs `between`, then advances both tasks until they complete.
template <class Between>
void drive(Task<Verdict> zero, Task<Verdict> one, Between between) {
  zero.advance();
  between();
  for (bool done = false; !done;) {
    const bool first = zero.advance();
    done = one.advance() && first;
  }
  EXPECT_EQ(zero.result().status, Status::ok);
  EXPECT_EQ(one.result().status, Status::ok);
}

TEST(CallTimes, LateMessagesAreWaitedFor) {
  Ranks ranks(2, "abs:1e-3,algorithm=ring,segments=2", {});
  Late late(ranks.hub.transport(0));
  ranks.comms[0] = std::make_unique<Communicator>(late, *ranks.places[0],
                                                  parse_policy("abs:1e-3,algorithm=ring,segments=2"));
  Job job(Collective::allreduce, 2, 20000, DType::f32, Pattern::smooth, 1);
  drive(ranks.comms[0]->run({Collective::allreduce, job.operands(0), job.bytes()}),
        ranks.comms[1]->run({Collective::allreduce, job.operands(1), job.bytes()}), [] {});
  const PhaseTimes times = ranks.statistics(0).times;
  // Two steps in a row; the segments wait at the same time. Work that is emulated fills a part of the wait.
  EXPECT_GE(times[Phase::wait], (is_emulated() ? 30 : 40) * ms);
  EXPECT_EQ(parts(times), times[Phase::call]);
}

TEST(CallTimes, ALateRankIsWaitedForInTheAgreement) {
  Ranks ranks(2, "abs:1e-3", {});
  Job job(Collective::allreduce, 2, 20000, DType::f32, Pattern::smooth, 1);
  drive(ranks.comms[0]->run({Collective::allreduce, job.operands(0), job.bytes()}),
        ranks.comms[1]->run({Collective::allreduce, job.operands(1), job.bytes()}),
        [] { std::this_thread::sleep_for(milliseconds(20)); });
  EXPECT_GE(ranks.statistics(0).times[Phase::agree], 20 * ms);
}

// ---- Counts

TEST(CallCounts, SentIsWhatTheTransportSent) {
  for (const char* policy : {"abs:1e-3", "rel:1e-4,segments=3"}) {
    Ranks ranks(5, policy);
    for (const Collective collective : all_collectives) {
      Job job(collective, 5, 100000, DType::f32, Pattern::smooth, 1);
      ranks.run(collective, job);
    }
    for (int r = 0; r < 5; ++r) {
      const Statistics sum = ranks.statistics(r);
      EXPECT_EQ(sum.sent_bytes, ranks.hub.transport(r).traffic().bytes);
      EXPECT_EQ(sum.sent_messages, ranks.hub.transport(r).traffic().messages);
      EXPECT_EQ(sum.calls, std::size(all_collectives));
      EXPECT_EQ(sum.message_bytes, std::size(all_collectives) * 400000);
    }
  }
}

TEST(CallCounts, AMismatchFailsAndCompressesNothing) {
  Ranks ranks(2, "abs:1e-3");
  Job job(Collective::allreduce, 2, 100000, DType::f32, Pattern::smooth, 1);
  ranks.run(Collective::allreduce, job, [](int rank, CollectiveCall& request) { request.data.root = rank; });
  EXPECT_EQ(ranks.statistics(0).failed_calls, 1u);
  EXPECT_EQ(ranks.statistics(0).compressed_calls, 0u);
  EXPECT_EQ(ranks.statistics(0).sent_bytes, 0u);
}

// ---- Kinds

const CallRow* row_of(const CallTable& calls, const Call& call) {
  for (const CallRow& row : calls.rows())
    if (row.key == call.key()) return &row;
  return nullptr;
}

TEST(CallKinds, AreCountedApart) {
  Ranks ranks(2, "abs:1e-3,segments=2,when=always");
  const char here = 0;
  const auto run = [&](Collective collective, std::size_t count, DType type, const void* site) {
    Job job(collective, 2, count, type, Pattern::smooth, 1);
    ranks.run(collective, job, [&](int, CollectiveCall& request) { request.site = site; });
  };
  run(Collective::allreduce, 100000, DType::f32, &here);
  run(Collective::allreduce, 100001, DType::f32, &here);  // the same power of two
  run(Collective::allreduce, 100000, DType::f32, nullptr);
  run(Collective::allreduce, 100000, DType::f64, &here);
  run(Collective::bcast, 100000, DType::f32, &here);
  run(Collective::bcast, 100, DType::f32, &here);
  const CallTable& calls = ranks.comms[0]->calls();
  EXPECT_EQ(calls.rows().size(), 5u);
  EXPECT_EQ(calls.rest().sum.calls, 0u);
  const CallRow* const twice = row_of(calls, {.collective = Collective::allreduce,
                                              .type = DType::f32,
                                              .op = Reduction::sum,
                                              .bytes = 1 << 18,
                                              .site = &here});
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->call().bytes, 262144u);
  EXPECT_EQ(twice->sum.compressed_calls, 2u);
  EXPECT_STREQ(twice->decision.codec, "planes");
  EXPECT_STREQ(twice->decision.algorithm, "ring");
  EXPECT_EQ(twice->decision.arithmetic, Arithmetic::frames);
  EXPECT_EQ(twice->decision.segments, 2);
  EXPECT_EQ(twice->decision.bound, Bound(0.5e-3));
  EXPECT_GT(twice->expected_ratio, 1.2f);
  const CallRow* const small =
      row_of(calls, {.collective = Collective::bcast, .type = DType::f32, .bytes = 1 << 8, .site = &here});
  ASSERT_NE(small, nullptr);  // calls that only move data have no operator
  EXPECT_EQ(small->fallback, Fallback::small);
  EXPECT_EQ(small->sum.times[Phase::call], 0u);
}

TEST(CallKinds, WhyACallWasPlain) {
  Ranks ranks(2, "abs:1e-12");
  Job job(Collective::allreduce, 2, 100000, DType::f32, Pattern::wild, 1);
  ranks.run(Collective::allreduce, job);
  const CallRow& row = ranks.comms[0]->calls().rows()[0];
  EXPECT_EQ(row.fallback, Fallback::no_gain);
  EXPECT_EQ(row.sum.plain[static_cast<std::size_t>(Fallback::no_gain)], 1u);
  EXPECT_GT(row.expected_ratio, 0.0f);
  EXPECT_LT(row.expected_ratio, 1.2f);
  EXPECT_EQ(row.decision.codec, nullptr);
  EXPECT_EQ(row.sum.times[Phase::agree], row.sum.times[Phase::call]);
  EXPECT_EQ(row.sum.sent_bytes, 0u);
}

CallKey kind_number(std::size_t i) {
  return Call{.collective = Collective::allreduce, .site = reinterpret_cast<const void*>(i)}.key();
}

TEST(CallTable, WhatExceedsItSharesARow) {
  CallTable calls;
  for (std::size_t round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < 100; ++i) calls.count(kind_number(i), 10);
  EXPECT_EQ(calls.rows().size(), CallTable::most_kinds);
  EXPECT_EQ(calls.rest().sum.calls, 2 * (100 - CallTable::most_kinds));
  for (const CallRow& row : calls.rows()) EXPECT_EQ(row.sum.calls, 2u);
  EXPECT_EQ(calls.total().calls, 200u);
  EXPECT_EQ(calls.total().message_bytes, 2000u);
}

TEST(PlainTimes, KeepsEveryPowerOfTwo) {
  PlainTimes times;
  for (std::uint64_t call = 0; call < 1000; ++call)
    if (call != 512) times.note(call, {10 * call, call});
  ASSERT_EQ(times.every(), 8u);
  ASSERT_EQ(times.kept().size(), 125u);
  for (std::size_t i = 0; i < 125; ++i) {
    EXPECT_EQ(times.kept()[i].nanoseconds, i == 64 ? 0 : 80 * i);
    EXPECT_EQ(times.kept()[i].gap, i == 64 ? PlainTime::unknown : 8 * i);
  }
  times.forget();
  times.note(8, {1, 1});
  EXPECT_TRUE(times.kept().empty());
}

TEST(PlainTimes, DependsOnNumbersOfCallsAlone) {
  PlainTimes all, late;
  for (std::uint64_t call = 0; call < 300; ++call) all.note(call, {call + 1, 0});
  late.note(299 - 299 % all.every(), {7, 0});
  EXPECT_EQ(late.every(), all.every());
  EXPECT_EQ(late.kept().size(), all.kept().size());
}

TEST(CallTable, Merges) {
  CallTable a, b;
  for (std::size_t i = 0; i < 40; ++i) a.count(kind_number(i), 1);
  for (std::size_t i = 30; i < 130; ++i) b.count(kind_number(i), 1);
  b.row(kind_number(35)).decision.codec = "planes";
  b.row(kind_number(36)).fallback = Fallback::small;
  a.merge(b);
  EXPECT_EQ(a.rows().size(), CallTable::most_kinds);
  EXPECT_EQ(a.total().calls, 140u);
  EXPECT_EQ(a.row(kind_number(35)).sum.calls, 2u);
  EXPECT_STREQ(a.row(kind_number(35)).decision.codec, "planes");
  EXPECT_EQ(a.row(kind_number(36)).fallback, Fallback::small);
  a.merge(CallTable());
  EXPECT_EQ(a.total().calls, 140u);
}

// ---- Events

TEST(CallEvents, OneForEachVerb) {
  Recorder recorder;
  Ranks ranks(2, "abs:1e-3");
  CallTable table;
  const auto policy = parse_policy("abs:1e-3,algorithm=ring,segments=3,when=always");
  ranks.comms[1] = std::make_unique<Communicator>(ranks.hub.transport(1), *ranks.places[1], policy, "",
                                                  Observer{&table, &recorder});
  ranks.comms[0] = std::make_unique<Communicator>(ranks.hub.transport(0), *ranks.places[0], policy);
  Job job(Collective::allreduce, 2, 30000, DType::f32, Pattern::smooth, 1);
  for (int i = 0; i < 2; ++i) ranks.run(Collective::allreduce, job);
  std::map<std::pair<Phase, int>, int> count;
  std::map<int, std::uint64_t> last;  // end, by segment
  recorder.for_each([&](const Event& event) {
    ++count[{event.phase, event.segment}];
    EXPECT_LE(event.begin, event.end);
    EXPECT_EQ(Call::of_kind(event.kind).collective, Collective::allreduce);
    EXPECT_EQ(event.slot, 0);
    EXPECT_LT(event.call, 2u);
    if (event.phase == Phase::call) return;  // contains the other phases
    EXPECT_GE(event.begin, last[event.segment]);
    last[event.segment] = event.end;
  });
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ((count[{Phase::encode, k}]), 2);
    EXPECT_EQ((count[{Phase::combine, k}]), 2);
    EXPECT_EQ((count[{Phase::wait, k}]), 2 * 2);
    EXPECT_EQ((count[{Phase::decode, k}]), 2 * 2);
    EXPECT_EQ((count[{Phase::call, k}]), k == 0 ? 2 : 0);
    EXPECT_EQ((count[{Phase::agree, k}]), k == 0 ? 2 : 0);
  }
  EXPECT_EQ(table.total().calls, 2u);
  EXPECT_EQ(recorder.lost(), 0u);
}

}  // namespace statistics_test
}  // namespace taut::test

// Promise: with history=, frames of a sum refer to the addends of earlier calls, on all ranks or on none, and
// sums have the bits that they have without it.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace sum_history_test {

struct Setting {
  Collective collective = Collective::allreduce;
  int ranks = 4;
  std::string policy = "abs:1e-3,when=always,min_bytes=0,reduction=frames";
  DType type = DType::f32;
  std::size_t count = 40000;
  int root = 0;
  bool in_place = false;
  int special_step = -1;  // the call in which rank 1 has values without integers
  int other_step = -1;    // the call in which rank 1 reduces other values than before
};

// Noise that stays, and a wave that moves a little.
Values at_step(const Setting& setting, int rank, int step) {
  const std::uint64_t seed = 77 + static_cast<std::uint64_t>(rank);
  const bool other = step == setting.other_step && rank == 1;
  Values values = make_values(setting.type, setting.count, Pattern::noisy, seed + (other ? 1000 : 0));
  std::vector<double> numbers(values.numbers());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = values.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + step);
  values.set(0, numbers);
  if (step != setting.special_step || rank != 1) return values;
  const double special[] = {NAN, INFINITY, -0.0, 1e30, 1e-42, 3e9};
  for (std::size_t i = 0; i < std::size(special); ++i) values.set(i * 997 % values.numbers(), special[i]);
  return values;
}

struct Sequence {
  std::vector<Job> jobs;
  std::vector<std::uint64_t> sent;
};

Sequence run(const Setting& s, int calls, const std::string& history = "") {
  Ranks ranks(s.ranks, s.policy + history);
  Sequence sequence;
  std::uint64_t before = 0;
  for (int step = 0; step < calls; ++step) {
    Job job(s.collective, s.ranks, s.count, s.type, Pattern::smooth, 1, Reduction::sum, s.root, s.in_place);
    for (int r = 0; r < s.ranks; ++r) {
      const auto k = static_cast<std::size_t>(r);
      const Values values = at_step(s, r, step);
      auto& to = s.in_place ? job.outputs : job.inputs;
      std::memcpy(to[k].slice().data, values.slice().data, job.bytes());
      job.inputs[k] = to[k];
    }
    for (const Verdict& verdict : ranks.run(s.collective, job)) {
      EXPECT_EQ(verdict.status, Status::ok) << verdict.text();
      EXPECT_EQ(verdict.fallback, Fallback::none);
    }
    sequence.jobs.push_back(job);
    std::uint64_t sent = 0;
    for (int r = 0; r < s.ranks; ++r) sent += ranks.statistics(r).sent_bytes;
    sequence.sent.push_back(sent - before);
    before = sent;
  }
  return sequence;
}

// Compares calls with and without a history. Returns the part of the bytes that each call sends with it.
std::vector<double> compared(const Setting& setting, int calls = 5, const std::string& history = "auto") {
  const Sequence alone = run(setting, calls), behind = run(setting, calls, ",history=" + history);
  std::vector<double> parts;
  for (std::size_t i = 0; i < alone.jobs.size(); ++i) {
    EXPECT_TRUE(alone.jobs[i].outputs == behind.jobs[i].outputs) << i;
    parts.push_back(static_cast<double>(behind.sent[i]) / static_cast<double>(alone.sent[i]));
  }
  return parts;
}

constexpr Collective sums[] = {Collective::allreduce, Collective::reduce, Collective::reduce_scatter,
                               Collective::scan, Collective::exscan};

TEST(SumHistory, SumsHaveTheSameBitsAndFewerBytes) {
  for (const Collective collective : sums) {
    for (const char* bound : {"abs:1e-3", "snap:1e-3", "abs:1e-4"}) {
      for (const DType type : {DType::f32, DType::f64, DType::c64}) {
        SCOPED_TRACE(testing::Message() << name_of(collective) << " " << bound << " " << name_of(type));
        const std::string policy = std::string(bound) + ",when=always,min_bytes=0,reduction=frames";
        const std::vector<double> parts = compared({collective, 4, policy, type, 20000, 2});
        EXPECT_GE(parts[0], 1.0);
        EXPECT_LT(parts[4], 0.7);
      }
    }
  }
}

TEST(SumHistory, AllAlgorithmsRanksAndSegments) {
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    if (std::ranges::find(sums, algorithm->collective) == std::end(sums) || !algorithm->may_add_frames())
      continue;
    for (const int ranks : {2, 3, 5, 8}) {
      for (const int segments : {1, 3}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name << ranks);
        const std::string policy =
            std::string("abs:1e-3,when=always,min_bytes=0,reduction=frames,algorithm=") + algorithm->name +
            ",segments=" + std::to_string(segments);
        EXPECT_LT(compared({algorithm->collective, ranks, policy, DType::f32, 9001, 1})[4], 0.9);
      }
    }
  }
}

TEST(SumHistory, InPlace) { EXPECT_LT(compared({.in_place = true})[4], 0.7); }

// A state with values that no integer stands for is none: the next call goes without, and all begin anew.
TEST(SumHistory, ValuesWithoutIntegers) {
  const std::vector<double> parts = compared({.special_step = 4}, 9);
  EXPECT_LT(parts[3], 0.7);
  EXPECT_GT(parts[5], 0.95);
  EXPECT_LT(parts[8], 0.7);
}

// Chunks that need layers or 64 bits, behind a call in which they did not. Their places are not in the piece
// that the forecast looks at.
TEST(SumHistory, ChunksThatNeedLayersOr64Bits) {
  for (const DType type : {DType::f32, DType::f64}) {
    const std::string policy = "abs:1e-3,when=always,min_bytes=0,reduction=frames";
    Ranks alone(3, policy), behind(3, policy + ",history=auto");
    for (int step = 0; step < 8; ++step) {
      Job job(Collective::allreduce, 3, 12000, type, Pattern::noisy, 1);
      for (std::size_t r = 0; r < 3 && step == 4; ++r)
        for (std::size_t i = 9000; i < 12000; ++i) job.inputs[r].set(i, job.inputs[r].at(i) * 1e6);
      Job other = job;
      for (const Verdict& verdict : alone.run(Collective::allreduce, job)) EXPECT_TRUE(verdict.good());
      for (const Verdict& verdict : behind.run(Collective::allreduce, other)) EXPECT_TRUE(verdict.good());
      EXPECT_TRUE(job.outputs == other.outputs) << name_of(type) << " " << step;
    }
    EXPECT_LT(behind.statistics(0).sent_bytes, alone.statistics(0).sent_bytes * 3 / 4);
  }
}

// One rank without gain lets all go without.
TEST(SumHistory, ARankWithoutGain) {
  const std::vector<double> parts = compared({.other_step = 4}, 8);
  EXPECT_LT(parts[3], 0.7);
  EXPECT_GE(parts[4], 0.99);
  EXPECT_LT(parts[7], 0.7);
}

TEST(SumHistory, UnchangedAddendsSendNextToNothing) {
  Ranks ranks(4, "abs:1e-3,when=always,min_bytes=0,reduction=frames,history=auto");
  std::uint64_t before = 0, last = 0;
  Job first(Collective::allreduce, 4, 100000, DType::f32, Pattern::noisy, 1);
  for (int step = 0; step < 6; ++step) {
    Job job = first;
    for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
      ASSERT_EQ(verdict.status, Status::ok);
    EXPECT_EQ(job.check(1, 1e-3, 0), "");
    last = ranks.statistics(0).sent_bytes - before;
    before += last;
  }
  EXPECT_LT(last, 8000u);  // of 600 KB
}

TEST(SumHistory, OtherReductionsTypesAndBoundsGoWithout) {
  const char* const by_values = "abs:1e-3,when=always,min_bytes=0,reduction=values";
  compared({Collective::allreduce, 3, by_values, DType::f32, 9001}, 4);
  compared({.type = DType::bf16}, 4);
}

}  // namespace sum_history_test
}  // namespace taut::test

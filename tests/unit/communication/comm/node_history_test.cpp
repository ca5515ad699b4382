// Promise: calls by nodes have histories: frames between nodes refer to earlier calls by nodes, and results
// have the bits that they have without a history.
#include <gtest/gtest.h>

#include "communication/team/hierarchical.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace node_history_test {

using enum Collective;
constexpr Collective served[] = {allreduce, reduce_scatter, allgather, bcast,
                                 reduce,    alltoall,       gather,    scatter};

struct Setting {
  Collective collective = allreduce;
  std::vector<int> node_of{0, 0, 0, 1, 1, 1};
  std::string bound = "abs:1e-3", options{};
  DType type = DType::f32;
  std::size_t count = 24000;
  int root = 2;
  bool in_place = false;
  int lost_step = -1;  // the call in which rank 1 has lost its states
  int special_step = -1;

  int ranks() const { return static_cast<int>(node_of.size()); }
  std::string policy(const std::string& history) const {
    return bound + ",when=always,nodes=on,min_bytes=0,reduction=frames" + options + history;
  }
};

// Noise that stays, and a wave that moves a little.
Values at_step(const Setting& setting, int rank, int step) {
  Values values =
      make_values(setting.type, setting.count, Pattern::noisy, 77 + static_cast<std::uint64_t>(rank));
  std::vector<double> numbers(values.numbers());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = values.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + step);
  values.set(0, numbers);
  const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e30, 1e-42};
  for (std::size_t i = 0; step == setting.special_step && i < std::size(special) && i < numbers.size(); ++i)
    values.set((i * 9973) % numbers.size(), special[i]);
  return values;
}

struct Sequence {
  std::vector<Job> jobs;
  std::vector<std::size_t> sent;  // bytes between nodes of each call
};

Sequence run(const Setting& s, int calls, const std::string& history) {
  const int P = s.ranks();
  const Nodes nodes(s.node_of);
  Ranks ranks(P, s.policy(history), {.seed = 2, .random_order = true, .record = true}, nodes);
  Sequence sequence;
  for (int step = 0; step < calls; ++step) {
    const std::size_t before = ranks.hub.records().size();
    Job job(s.collective, P, s.count, s.type, Pattern::smooth, 1, Reduction::sum, s.root, s.in_place);
    for (int r = 0; r < P; ++r) {
      const auto k = static_cast<std::size_t>(r);
      const Values values = at_step(s, r, step);
      const bool own = s.collective == bcast ? r == s.root : s.in_place;
      auto& to = own ? job.outputs : job.inputs;
      std::memcpy(to[k].slice().data, values.slice().data, job.bytes());
      job.inputs[k] = to[k];
    }
    const auto verdicts = ranks.run(s.collective, job, [&](int rank, CollectiveCall& call) {
      if (step == s.lost_step && rank == 1) call.data.own = nullptr;  // a series of its own
    });
    for (const Verdict& verdict : verdicts) {
      EXPECT_EQ(verdict.status, Status::ok) << verdict.text();
      EXPECT_EQ(verdict.fallback, Fallback::none);
    }
    EXPECT_TRUE(ranks.comms[0]->calls().rows().back().decision.by_nodes);
    sequence.jobs.push_back(job);
    std::size_t bytes = 0;
    for (std::size_t i = before; i < ranks.hub.records().size(); ++i) {
      const LoopbackHub::Record& record = ranks.hub.records()[i];
      if (nodes.node(record.from) != nodes.node(record.to)) bytes += record.bytes;
    }
    sequence.sent.push_back(bytes);
  }
  return sequence;
}

// Compares calls with and without a history. Returns the part of the bytes that each call sends with it.
std::vector<double> compared(const Setting& setting, int calls = 5, const std::string& history = "auto") {
  const Sequence alone = run(setting, calls, ""), behind = run(setting, calls, ",history=" + history);
  std::vector<double> parts;
  for (std::size_t i = 0; i < alone.jobs.size(); ++i) {
    EXPECT_TRUE(alone.jobs[i].outputs == behind.jobs[i].outputs) << i;
    parts.push_back(static_cast<double>(behind.sent[i]) / static_cast<double>(alone.sent[i]));
  }
  return parts;
}

TEST(NodeHistory, ResultsHaveTheSameBitsAndFewerBytes) {
  for (const Collective collective : served)
    for (const char* bound : {"abs:1e-3", "snap:1e-3", "pwrel:1e-3", "lossless"}) {
      if (reduces(collective) && bound[0] != 'a' && bound[0] != 's') continue;
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << bound);
      const std::vector<double> parts = compared({.collective = collective, .bound = bound});
      EXPECT_GE(parts[0], 1.0);
      EXPECT_LT(parts[4], bound[0] == 'l' || bound[0] == 'p' ? 1.01 : 0.75);
    }
}

TEST(NodeHistory, AllTypesAlgorithmsSegmentsAndNodes) {
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    const bool by_frames = algorithm->may_add_frames() || !reduces(algorithm->collective);
    if (std::ranges::find(served, algorithm->collective) == std::end(served) || !by_frames) continue;
    if (algorithm->recodes) continue;
    for (const std::vector<int>& node_of :
         {std::vector{0, 1, 0, 1}, {0, 0, 1, 1, 2, 2}, {0, 0, 1, 1, 1, 2, 2}, {0, 0, 0, 1, 2, 1}}) {
      const auto P = static_cast<int>(node_of.size());
      for (const int segments : {1, 3}) {
        SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name << " "
                                        << P << " in " << segments);
        Setting s{.collective = algorithm->collective, .node_of = node_of, .root = P - 1};
        s.count = 997 * static_cast<std::size_t>(P);
        if (!runs_by_nodes(s.collective, s.count, P, Nodes(node_of).equal())) continue;
        s.options = std::string(",algorithm=") + algorithm->name + ",segments=" + std::to_string(segments);
        compared(s, 4);
        s.type = segments == 1 ? DType::f64 : DType::c64;
        compared(s, 4, "2");
      }
    }
  }
}

TEST(NodeHistory, InputsInPlaceStay) {
  for (const Collective collective : served)
    for (const char* same_bits : {"off", "on"}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " same_bits " << same_bits);
      Setting s{.collective = collective, .options = std::string(",segments=3,same_bits=") + same_bits};
      s.in_place = true;
      EXPECT_LT(compared(s)[4], 0.75);
    }
}

// Few values: parts of some leaders are empty.
TEST(NodeHistory, FewValues) {
  for (const Collective collective : served)
    for (const std::size_t count : {6, 12, 30}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " " << count);
      compared({.collective = collective, .count = count}, 4);
      if (collective == allreduce || collective == bcast || collective == reduce)
        compared({.collective = collective, .count = 1}, 4);
    }
}

TEST(NodeHistory, SpecialValuesPass) {
  for (const Collective collective : served) {
    SCOPED_TRACE(name_of(collective));
    const std::vector<double> parts = compared({.collective = collective, .special_step = 3}, 8);
    EXPECT_LT(parts[7], 0.75);
  }
}

// A rank that does not hold the newest state makes all ranks begin anew.
TEST(NodeHistory, AMissingStateIsNeverAWrongValue) {
  const std::vector<double> parts = compared({.collective = allgather, .lost_step = 3}, 7);
  EXPECT_LT(parts[2], 0.75);
  EXPECT_GE(parts[3], 0.99);
  EXPECT_LT(parts[6], 0.75);
}

// Routes that the tuner tries have series of their own.
TEST(NodeHistory, RoutesInTurn) {
  const std::vector<int> node_of{0, 0, 1, 1};
  for (const Collective collective : served) {
    SCOPED_TRACE(name_of(collective));
    Ranks ranks(4, "abs:1e-3,min_bytes=0,reduction=frames,history=auto", {.seed = 1, .random_order = true},
                Nodes(node_of));
    const Setting s{.collective = collective, .node_of = node_of, .count = 8000};
    for (int step = 0; step < 60; ++step) {
      Job job(collective, 4, s.count, s.type, Pattern::smooth, 1, Reduction::sum, s.root);
      for (int r = 0; r < 4; ++r) {
        const auto k = static_cast<std::size_t>(r);
        auto& to = collective == bcast && r == s.root ? job.outputs : job.inputs;
        std::memcpy(to[k].slice().data, at_step(s, r, step).slice().data, job.bytes());
        job.inputs[k] = to[k];
      }
      const auto verdicts = ranks.run(collective, job);
      for (const Verdict& verdict : verdicts) ASSERT_EQ(verdict.status, Status::ok) << step;
      for (int r = 0; r < 4 && verdicts[0].good(); ++r) ASSERT_EQ(job.check(r, 1e-3, 8), "") << step;
    }
  }
}

}  // namespace node_history_test
}  // namespace taut::test

// Failed allocations: on one rank every allocation from some allocation on fails.
#include <gtest/gtest.h>

#include <thread>

#include "support/ranks.hpp"
#include "support/shielded.hpp"

namespace taut::test {
namespace failed_allocations_test {

constexpr int P = 4, victim = 1;
const std::vector<int> node_of{0, 0, 1, 1};
constexpr double bound = 1e-3;

// Makes a call in which the victim has this many allocations left; returns true if the victim needed more.
// All ranks complete the call and agree on its result.
bool starves(const AlgorithmInfo& algorithm, const std::string& policy, std::size_t allocations_left) {
  SCOPED_TRACE(testing::Message() << name_of(algorithm.collective) << " " << policy << ", "
                                  << allocations_left << " allocations");
  const Nodes nodes(node_of);
  Ranks ranks(P, policy, {.seed = 1, .random_order = true}, nodes);
  ShieldedTransport shield(ranks.hub.transport(victim));
  ranks.comms[victim] = std::make_unique<Communicator>(shield, *ranks.places[victim], parse_policy(policy),
                                                       "", Observer{}, nodes);
  Job job(algorithm.collective, P, 3000, DType::f32, Pattern::noisy, 1);
  bool starved = false;
  const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) -> Task<Verdict> {
    Communicator& comm = *ranks.comms[static_cast<std::size_t>(rank)];
    const CollectiveCall request{algorithm.collective, job.operands(rank), job.bytes()};
    if (rank != victim) co_return co_await comm.run(request);
    Starved<Verdict> call([&] { return comm.run(request); }, allocations_left);
    const Verdict verdict = co_await call;
    starved = call.starved();
    co_return verdict;
  });
  bool reported = false;
  for (int r = 0; r < P; ++r) {
    const Verdict& verdict = verdicts[static_cast<std::size_t>(r)];
    EXPECT_EQ(verdict.fallback, verdicts[0].fallback);
    reported |= verdict.fallback == Fallback::memory || verdict.status != Status::ok;
    if (verdict.fallback == Fallback::none && verdict.status == Status::ok) {
      EXPECT_EQ(job.check(r, bound, 2 * P), "");
    }
  }
  EXPECT_TRUE(reported || !starved || verdicts[0].fallback == Fallback::none);
  return starved;
}

// Runs on a thread of its own, whose coroutines have had no memory before.
TEST(FailedAllocations, OfOneRankNeverLeaveTheOthersAlone) {
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    for (const char* how : {"abs:1e-3,min_bytes=0,segments=3", "abs:1e-3,min_bytes=0,codec=szx",
                            "abs:1e-3,min_bytes=0,nodes=on"}) {
      std::thread([&] {
        const std::string policy = how + std::string(",algorithm=") + algorithm->name;
        for (std::size_t left = 0; starves(*algorithm, policy, left); ++left)
          if (testing::Test::HasFailure()) return;
      }).join();
    }
  }
}

// A rank that has made no call before can still begin one and report that it has no memory.
TEST(FailedAllocations, CoroutinesHaveSpareFrames) {
  std::thread([] {
    const auto nothing = []() -> Task<> { co_return; };
    reserve_coroutine_frames(20);
    std::vector<Task<>> tasks(20);
    allocations.until_failure = 0;
    for (Task<>& task : tasks) task = nothing();
    EXPECT_THROW(nothing().wait(), std::bad_alloc);
    for (Task<>& task : tasks) task.wait();
    allocations.until_failure = Allocations::never;
  }).join();
}

}  // namespace failed_allocations_test
}  // namespace taut::test

// Sixteen threads, each with a communicator of its own, make calls of all kinds, blocking and nonblocking.
// Each group of ranks has another policy, and all threads read their statistics and write one trace.
// ThreadSanitizer checks the shared objects: registries, options, pools, the recorder, loopback.
#include <gtest/gtest.h>

#include <thread>

#include "communication/comm/explain.hpp"
#include "support/in_flight.hpp"

namespace taut::test {
namespace {

constexpr int ranks_of_a_group = 4;
constexpr double bound = 1e-2;  // a bound that all policies keep

// A communicator of several threads, under one policy.
class Group {
 public:
  Group(const char* policy, Recorder& recorder, std::uint64_t seed)
      : policy_(policy), hub_(ranks_of_a_group), jobs_(make_jobs(seed)) {
    for (std::size_t r = 0; r < ranks_of_a_group; ++r) {
      ranks_.push_back(std::make_unique<Rank>());
      ranks_[r]->comm =
          std::make_unique<Communicator>(hub_.transport(static_cast<int>(r)), ranks_[r]->place,
                                         parse_policy(policy), "", Observer{nullptr, &recorder});
    }
  }

  // Runs one thread for each rank.
  void run() {
    std::vector<Task<>> tasks;
    for (int r = 0; r < ranks_of_a_group; ++r) tasks.push_back(rank(r));
    hub_.run_threads(tasks);
    for (Task<>& task : tasks) task.result();
  }

  void expect_results() const {
    SCOPED_TRACE(policy_);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      for (std::size_t r = 0; r < ranks_of_a_group; ++r) {
        const Verdict verdict = ranks_[r]->verdicts[i];
        ASSERT_EQ(verdict.status, Status::ok) << describe(verdict.status);
        ASSERT_EQ(verdict.fallback, ranks_[0]->verdicts[i].fallback);
        if (verdict.fallback == Fallback::none) {
          ASSERT_EQ(jobs_[i]->check(static_cast<int>(r), bound, 2 * ranks_of_a_group), "");
        }
      }
      ASSERT_TRUE(jobs_[i]->same_bits() || ranks_[0]->verdicts[i].fallback != Fallback::none);
    }
    for (const auto& rank : ranks_) {
      EXPECT_EQ(rank->comm->calls().total().calls, jobs_.size());
      EXPECT_GT(rank->comm->calls().total().compressed_calls, 0u);
      EXPECT_NE(rank->explained, "");
    }
  }

 private:
  struct Rank {
    HostPlace place;
    std::unique_ptr<Communicator> comm;
    InFlight flight;
    int issued = 0;
    std::vector<Verdict> verdicts;
    std::string explained;
  };

  // Makes three calls of each collective, of several types; integers too, which most policies leave to plain
  // MPI.
  static std::vector<std::unique_ptr<Job>> make_jobs(std::uint64_t seed) {
    std::vector<std::unique_ptr<Job>> jobs;
    for (const Collective collective : all_collectives)
      for (const DType type : {DType::f32, DType::f64, DType::i32})
        jobs.push_back(std::make_unique<Job>(collective, ranks_of_a_group, 3000 + 100 * jobs.size(), type,
                                             Pattern::smooth, seed + jobs.size()));
    return jobs;
  }

  // Runs the calls in groups of three: the first is blocking, while the two others are in flight.
  Task<> rank(int number) {
    Rank& mine = *ranks_[static_cast<std::size_t>(number)];
    std::vector<std::unique_ptr<OneCall>> calls;
    const auto request = [&](std::size_t i) {
      return CollectiveCall{collective_of(i), jobs_[i]->operands(number), jobs_[i]->bytes()};
    };
    mine.verdicts.resize(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); i += 3) {
      for (const std::size_t k : {i + 1, i + 2}) {
        calls.push_back(
            std::make_unique<OneCall>(*mine.comm, request(k), hub_.transport(number), mine.issued, k));
        mine.flight.start(calls.back()->call);
      }
      Blocking blocking(mine.flight, mine.comm->run(request(i)));
      mine.verdicts[i] = co_await blocking;
      for (std::size_t k = 2; k-- > 0;) {  // the last one first
        OneCall& one = *calls[calls.size() - 2 + k];
        co_await Completion(mine.flight, one.call);
        mine.verdicts[i + 1 + k] = one.call.verdict();
      }
      mine.explained = explain(mine.comm->calls(), policy_, ranks_of_a_group);
    }
  }
  static Collective collective_of(std::size_t i) { return all_collectives[i / 3]; }

  std::string policy_;
  LoopbackHub hub_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST(ManyThreads, EachOnACommunicatorOfItsOwn) {
  constexpr const char* policies[] = {
      "abs:1e-3,codec=planes,min_bytes=0", "rel:1e-4,when=always,min_bytes=0,checksum=on",
      "lossless,min_bytes=0,segments=3,threads=2", "abs:1e-2,codec=szx,reduction=values,min_bytes=0"};
  Recorder recorder(2000);
  std::vector<std::unique_ptr<Group>> groups;
  for (const char* const policy : policies)
    groups.push_back(std::make_unique<Group>(policy, recorder, 100 * (1 + groups.size())));
  std::vector<std::thread> threads;
  for (const auto& group : groups) threads.emplace_back([&group] { group->run(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& group : groups) group->expect_results();
  std::size_t events = 0;
  recorder.for_each([&](const Event&) { ++events; });
  EXPECT_GT(events, std::size(policies) * std::size(all_collectives));
}

}  // namespace
}  // namespace taut::test

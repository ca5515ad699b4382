#include <gtest/gtest.h>
#include <sys/mman.h>

#include "communication/comm/in_flight.hpp"
#include "support/places.hpp"
#include "support/ranks.hpp"
#include "support/replace_new.hpp"

namespace taut::test {
namespace {

TEST(Communicator, EveryCollectiveKeepsTheBoundOnTheResult) {
  for (const Collective collective : all_collectives) {
    for (const int P : {2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " P " << P);
      Ranks ranks(P, "abs:1e-3");
      Job job(collective, P, 100000, DType::f32, Pattern::smooth, 1);
      for (const Verdict& verdict : ranks.run(collective, job)) {
        ASSERT_EQ(verdict.fallback, Fallback::none);
        ASSERT_EQ(verdict.status, Status::ok);
      }
      for (int r = 0; r < P; ++r) EXPECT_EQ(job.check(r, 1e-3, 0), "");
      EXPECT_TRUE(job.same_bits());
      EXPECT_EQ(ranks.statistics(0).compressed_calls, 1u);
      EXPECT_GT(ranks.statistics(0).sent_bytes, 0u);
    }
  }
}

TEST(Communicator, PlainCallsTouchNothing) {
  struct {
    const char* policy;
    int P;
    std::size_t count;
    Pattern pattern;
    Fallback why;
  } const cases[] = {
      {"off", 3, 100000, Pattern::smooth, Fallback::off},
      {"abs:1e-3", 1, 100000, Pattern::smooth, Fallback::communicator},
      {"abs:1e-3", 3, 100, Pattern::smooth, Fallback::small},
      {"lossless", 3, 100000, Pattern::smooth, Fallback::unsupported},
      {"abs:1e-12", 3, 100000, Pattern::noisy, Fallback::no_gain},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.policy);
    Ranks ranks(c.P, c.policy);
    Job job(Collective::allreduce, c.P, c.count, DType::f32, c.pattern, 1);
    const Job untouched = job;
    for (const Verdict& verdict : ranks.run(Collective::allreduce, job)) EXPECT_EQ(verdict.fallback, c.why);
    EXPECT_TRUE(job.outputs == untouched.outputs);
    EXPECT_EQ(ranks.statistics(0).compressed_calls, 0u);
    EXPECT_EQ(ranks.statistics(0).sent_bytes, 0u);
  }
}

TEST(Communicator, TheWorstRankDecidesWhetherItIsProfitable) {
  Ranks ranks(4, "abs:1e-6");
  Job job(Collective::allreduce, 4, 100000, DType::f32, Pattern::sparse, 1);
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
    EXPECT_EQ(verdict.fallback, Fallback::none);
  job.inputs[2] = make_values(DType::f32, 100000, Pattern::wild, 5);
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
    EXPECT_EQ(verdict.fallback, Fallback::no_gain);
}

TEST(Communicator, DifferentCallsAreAnErrorOnEveryRank) {
  const std::pair<const char*, void (*)(CollectiveCall&)> differences[] = {
      {"count", [](CollectiveCall& r) { r.bytes += 4; }},
      {"operator", [](CollectiveCall& r) { r.op = Reduction::max; }},
      {"root", [](CollectiveCall& r) { r.data.root = 1; }},
      {"collective", [](CollectiveCall& r) { r.collective = Collective::bcast; }},
      {"type",
       [](CollectiveCall& r) {  // half as many values, in the same number of bytes: the values are read
                                // before the ranks compare their records
         r.type = r.data.in.type = r.data.out.type = DType::f64;
         r.data.in.count = r.data.out.count /= 2;
       }},
  };
  for (const auto& [name, change] : differences) {
    for (int P = 2; P <= 5; ++P) {
      SCOPED_TRACE(testing::Message() << name << " P " << P);
      Ranks ranks(P, "abs:1e-3");
      Job job(Collective::allreduce, P, 100000, DType::f32, Pattern::smooth, 1);
      for (const Verdict& verdict :
           ranks.run(Collective::allreduce, job, [&](int rank, CollectiveCall&request) {
             if (rank == P - 1) change(request);
           })) {
        EXPECT_EQ(verdict.fallback, Fallback::none);
        EXPECT_EQ(verdict.status, Status::rank_mismatch);
      }
      // The communicator remains usable.
      for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
        EXPECT_EQ(verdict.status, Status::ok);
    }
  }
}

// Gives all ranks rules, which are no policy of the program.
void set_rules(Ranks& ranks, const char* rules) {
  for (std::size_t r = 0; r < ranks.comms.size(); ++r)
    ranks.comms[r] = std::make_unique<Communicator>(ranks.hub.transport(static_cast<int>(r)),
                                                    *ranks.places[r], read_rules(rules, "", ""));
}

TEST(Communicator, DifferentCallsUnderRulesAreLeftToPlainMpi) {
  for (const char* const rules :
       {"* : abs=1e-3 when=always", "* f32 : abs=1e-3", "* : rel=1e-3", "* : lossless codec=mpc"}) {
    for (const auto change :
         {+[](CollectiveCall& r) { r.bytes += 4; },
          +[](CollectiveCall& r) { r.type = r.data.in.type = r.data.out.type = DType::u8; },
          +[](CollectiveCall& r) { r.data.root = 1; }}) {
      SCOPED_TRACE(rules);
      Ranks ranks(3, "off");
      set_rules(ranks, rules);
      Job job(Collective::bcast, 3, 100000, DType::f32, Pattern::smooth, 1);
      const Job untouched = job;
      for (const Verdict& verdict : ranks.run(Collective::bcast, job, [&](int rank, CollectiveCall&request) {
             if (rank == 2) change(request);
           }))
        EXPECT_EQ(verdict.fallback, Fallback::mismatch);
      EXPECT_TRUE(job.outputs == untouched.outputs);
    }
  }
}

TEST(Communicator, BlocksOfOtherSizesAreAnErrorUnderRulesToo) {
  Ranks ranks(3, "off");
  set_rules(ranks, "* : abs=1e-3 when=always");
  Job job(Collective::allgather, 3, 100000, DType::f32, Pattern::smooth, 1);
  for (const Verdict& verdict : ranks.run(Collective::allgather, job, [&](int rank, CollectiveCall&request) {
         if (rank == 2) request.bytes += 4;
       }))
    EXPECT_EQ(verdict.status, Status::rank_mismatch);
}

TEST(Communicator, BuffersUnderRulesThatOverlapOrAreNullAreLeftToPlainMpi) {
  for (const auto change : {+[](CollectiveCall& r) { r.overlaps = true; },
                            +[](CollectiveCall& r) { r.data.in.data = nullptr; }}) {
    Ranks ranks(3, "off");
    set_rules(ranks, "* : abs=1e-3 when=always");
    Job job(Collective::allreduce, 3, 100000, DType::f32, Pattern::smooth, 1);
    for (const Verdict& verdict :
         ranks.run(Collective::allreduce, job, [&](int rank, CollectiveCall&request) {
           if (rank == 1) change(request);
         }))
      EXPECT_EQ(verdict.fallback, Fallback::arguments);
  }
}

// A root whose values are to be replaced and are in read-only memory: an error under a policy, plain MPI
// under rules.
TEST(Communicator, AReadOnlyRootIsNotWrittenTo) {
  Job job(Collective::bcast, 3, 100000, DType::f32, Pattern::smooth, 1);
  void* const mapped = mmap(nullptr, job.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::memcpy(mapped, job.inputs[0].slice().data, job.bytes());
  mprotect(mapped, job.bytes(), PROT_READ);
  const auto at_root = [&](int rank, CollectiveCall& request) {
    if (rank == 0) request.data.in.data = request.data.out.data = mapped;
  };
  Ranks ranks(3, "abs:1e-3,same_bits=on");
  const auto verdicts = ranks.run(Collective::bcast, job, at_root);
  EXPECT_EQ(verdicts[0].status, Status::invalid_argument);
  EXPECT_NE(std::string(verdicts[0].text()).find("read-only"), std::string::npos);
  EXPECT_EQ(verdicts[1].status, Status::peer_failed);
  set_rules(ranks, "* : abs=1e-3 same_bits=on when=always");
  for (const Verdict& verdict : ranks.run(Collective::bcast, job, at_root))
    EXPECT_EQ(verdict.fallback, Fallback::arguments);
  EXPECT_EQ(std::memcmp(mapped, job.inputs[0].slice().data, job.bytes()), 0);
  munmap(mapped, job.bytes());
}

TEST(Communicator, DifferentPoliciesAreAnErrorOnEveryRank) {
  Ranks ranks(3, "abs:1e-3");
  ranks.comms[1] =
      std::make_unique<Communicator>(ranks.hub.transport(1), *ranks.places[1], parse_policy("abs:1e-2"));
  Job job(Collective::allreduce, 3, 100000, DType::f32, Pattern::smooth, 1);
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
    EXPECT_EQ(verdict.status, Status::rank_mismatch);
}

TEST(Communicator, ATypeThatOneRankCannotCompressSendsAllToPlain) {
  Ranks ranks(3, "abs:1e-3");
  Job job(Collective::bcast, 3, 100000, DType::f32, Pattern::smooth, 1);
  for (const Verdict& verdict : ranks.run(Collective::bcast, job, [](int rank, CollectiveCall&request) {
         if (rank != 1) return;
         request.data = {};
         request.type = {};
       }))
    EXPECT_EQ(verdict.fallback, Fallback::type);
}

TEST(Communicator, ANullBufferIsAnErrorOnEveryRank) {
  Ranks ranks(3, "abs:1e-3");
  Job job(Collective::allreduce, 3, 100000, DType::f32, Pattern::smooth, 1);
  const auto verdicts = ranks.run(Collective::allreduce, job, [](int rank, CollectiveCall& request) {
    if (rank == 1) request.data.in.data = nullptr;
  });
  EXPECT_EQ(verdicts[0].status, Status::peer_failed);
  EXPECT_EQ(verdicts[1].status, Status::invalid_argument);
  EXPECT_EQ(verdicts[2].status, Status::peer_failed);
}

// A place without any memory.
class NoPlace final : public Place {
 public:
  Buffer scratch(std::size_t) override { throw Error(Status::out_of_memory, "as the test wants it"); }
  void reserve(std::size_t, std::size_t) override {
    throw Error(Status::out_of_memory, "as the test wants it");
  }

 private:
  void recycle(std::byte*, std::size_t) noexcept override {}
};

TEST(Communicator, ARankWithoutMemorySendsAllToPlain) {
  Ranks ranks(3, "abs:1e-3");
  ranks.places[2] = std::make_unique<NoPlace>();
  ranks.comms[2] =
      std::make_unique<Communicator>(ranks.hub.transport(2), *ranks.places[2], parse_policy("abs:1e-3"));
  Job job(Collective::allreduce, 3, 100000, DType::f32, Pattern::smooth, 1);
  const Job untouched = job;
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
    EXPECT_EQ(verdict.fallback, Fallback::memory);
  EXPECT_TRUE(job.outputs == untouched.outputs);
}

// Memory is the only resource that a rank can lack after the agreement, so all memory is reserved before it.
TEST(Communicator, ACallLivesOnWhatItReserved) {
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    const std::pair<const char*, std::size_t> cases[] = {{"abs:1e-3,segments=3", 20011},
                                                         {"abs:1e-3,reduction=values", 20011},
                                                         {"lossless,codec=raw,segments=2", 20011},
                                                         {"abs:1e-3,min_bytes=0,when=always", 2011}};
    for (const auto& [how, values] : cases) {
      const std::string policy = how + std::string(",nodes=on,algorithm=") + algorithm->name;
      const Collective collective = algorithm->collective;
      for (int turn = 4; turn <= 21; ++turn) {
        const int P = turn / 2;
        const bool on_nodes = turn % 2 == 1;  // two nodes, and in place
        SCOPED_TRACE(testing::Message()
                     << policy << " " << name_of(collective) << " P " << P << " " << on_nodes);
        Ranks ranks(P, policy);
        std::vector<int> node_of;
        for (int r = 0; r < P; ++r) node_of.push_back(on_nodes ? r % 2 : 0);
        for (int r = 0; r < P; ++r) {
          const auto i = static_cast<std::size_t>(r);
          ranks.places[i] = std::make_unique<StrictPlace>();
          ranks.comms[i] = std::make_unique<Communicator>(
              ranks.hub.transport(r), *ranks.places[i], parse_policy(policy), "", Observer{}, Nodes(node_of));
        }
        const std::size_t equal = values / static_cast<std::size_t>(P) * static_cast<std::size_t>(P);
        Job job(collective, P, on_nodes ? equal : values, DType::f32, Pattern::smooth, 1, Reduction::sum,
                P / 2, on_nodes);
        for (const Verdict& verdict : ranks.run(collective, job)) {
          ASSERT_EQ(verdict.fallback, Fallback::none);
          ASSERT_EQ(verdict.status, Status::ok);
        }
      }
    }
  }
}

TEST(Communicator, ManyCallsInARowKeepTheirMessagesApart) {
  Ranks ranks(3, "abs:1e-3,min_bytes=0,segments=3,when=always");
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Collective collective = all_collectives[i % std::size(all_collectives)];
    Job job(collective, 3, 300 + i, DType::f64, Pattern::smooth, i);
    for (const Verdict& verdict : ranks.run(collective, job)) ASSERT_EQ(verdict.status, Status::ok);
    for (int r = 0; r < 3; ++r) ASSERT_EQ(job.check(r, 1e-3, 0), "");
  }
}

TEST(Communicator, TheSteadyStateAllocatesNothing) {
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    for (const char* how : {"abs:1e-3,segments=4", "abs:1e-3,reduction=values"}) {
      const std::string policy = how + std::string(",when=always,algorithm=") + algorithm->name;
      const Collective collective = algorithm->collective;
      SCOPED_TRACE(testing::Message() << policy << " " << name_of(collective));
      Ranks ranks(3, policy, {});
      Job job(collective, 3, 100000, DType::f32, Pattern::smooth, 1);
      auto call = [&] {
        Task<Verdict> tasks[] = {
            ranks.comms[0]->run({collective, job.operands(0), job.bytes()}),
            ranks.comms[1]->run({collective, job.operands(1), job.bytes()}),
            ranks.comms[2]->run({collective, job.operands(2), job.bytes()}),
        };
        for (bool done = false; !done;) {
          done = true;
          for (auto& task : tasks) done &= task.done() || task.advance();
        }
        for (auto& task : tasks) EXPECT_EQ(task.result().status, Status::ok);
      };
      for (int i = 0; i < 3; ++i) call();
      const std::size_t before = allocations.asked;
      for (int i = 0; i < 5; ++i) call();
      EXPECT_EQ(allocations.asked - before, 0u);
    }
  }
}

class NoPlainCall final : public FallbackCall {
 public:
  void issue() override {}
  bool ready() override { return true; }
};

TEST(Communicator, CallsInFlightAllocateNothingInTheSteadyState) {
  Ranks ranks(2, "abs:1e-3,segments=2,when=always", {});
  Job jobs[] = {{Collective::allreduce, 2, 50000, DType::f32, Pattern::smooth, 1},
                {Collective::allgather, 2, 50000, DType::f32, Pattern::smooth, 2}};
  InFlight flights[2];
  NoPlainCall plain;
  auto calls = [&] {
    std::optional<CallInFlight> open[2][2];
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t i = 0; i < 2; ++i) {
        const Collective collective = i == 0 ? Collective::allreduce : Collective::allgather;
        open[r][i].emplace(*ranks.comms[r],
                           CollectiveCall{collective, jobs[i].operands(static_cast<int>(r)), jobs[i].bytes()},
                           plain);
        flights[r].start(*open[r][i]);
      }
    while (flights[0].size() + flights[1].size() > 0)
      for (InFlight& flight : flights) flight.progress();
  };
  for (int i = 0; i < 3; ++i) calls();
  const std::size_t before = allocations.asked;
  for (int i = 0; i < 5; ++i) calls();
  EXPECT_EQ(allocations.asked - before, 0u);
}

TEST(Recorder, LivesWithoutMemory) {
  allocations.until_failure = 0;
  Recorder recorder;
  const CallTag tag = recorder.open({});
  tag.add(Phase::encode, 0, 1, 2, 3);
  recorder.close(tag);
  allocations.until_failure = Allocations::never;
  recorder.for_each([](const Event&) { FAIL(); });
  EXPECT_EQ(recorder.lost(), 1u);
}

TEST(CallTable, LivesWithoutMemory) {
  CallTable calls;
  allocations.until_failure = 0;
  ++calls.count(Call{.collective = Collective::allreduce}.key(), 10).sum.compressed_calls;
  allocations.until_failure = Allocations::never;
  EXPECT_EQ(calls.rows().size(), 0u);
  EXPECT_EQ(calls.rest().sum.calls, 1u);
  calls.count(Call{.collective = Collective::allreduce}.key(), 10);
  EXPECT_EQ(calls.rows().size(), 1u);
  EXPECT_EQ(calls.total().message_bytes, 20u);
}

}  // namespace
}  // namespace taut::test

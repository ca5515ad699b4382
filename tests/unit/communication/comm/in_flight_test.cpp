// Several calls in flight at the same time: mixtures of all kinds, completed in any order. Calls of plain MPI
// among them have the same order on every rank.
//   TEST_SEED=4711 TEST_COUNT=1 comm_test --gtest_filter='InFlight.RandomMixtures'    one again
#include "communication/comm/in_flight.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/draw_job.hpp"
#include "support/in_flight.hpp"

namespace taut::test {
namespace {

// A mixture of calls, the same on all ranks.
struct Mixture {
  Mixture(int P, const std::string& policy, std::uint64_t seed, int slow = -1)
      : ranks(P, policy, {.seed = seed, .random_order = true, .slow = slow}),
        flights(ranks.comms.size()),
        issued(ranks.comms.size()),
        calls(ranks.comms.size()) {}

  void add(Collective collective, std::size_t count, DType type, Pattern pattern, std::uint64_t seed,
           Reduction op = Reduction::sum) {
    add(collective, Job(collective, ranks.hub.size(), count, type, pattern, seed, op));
  }
  void add(Collective collective, Job job) {
    jobs.push_back(std::make_unique<Job>(std::move(job)));
    for (std::size_t r = 0; r < calls.size(); ++r) {
      const int rank = static_cast<int>(r);
      calls[r].push_back(std::make_unique<OneCall>(
          *ranks.comms[r], CollectiveCall{collective, jobs.back()->operands(rank), jobs.back()->bytes()},
          ranks.hub.transport(rank), issued[r], jobs.size()));
    }
  }

  // Runs `program(rank)` on each rank.
  template <class Program>
  void run(Program program) {
    std::vector<Task<>> tasks;
    for (int r = 0; r < ranks.hub.size(); ++r) tasks.push_back(program(r));
    ranks.hub.run(tasks);
    for (Task<>& task : tasks) task.result();
  }

  OneCall& at(int rank, std::size_t call) { return *calls[static_cast<std::size_t>(rank)][call]; }
  InFlight& flight(int rank) { return flights[static_cast<std::size_t>(rank)]; }
  Completion wait(int rank, std::size_t call) { return {flight(rank), at(rank, call).call}; }

  Ranks ranks;
  std::vector<InFlight> flights;
  std::vector<int> issued;
  std::vector<std::vector<std::unique_ptr<OneCall>>> calls;  // by rank
  std::vector<std::unique_ptr<Job>> jobs;
};

// Starts all calls, then waits for them in a different order on each rank.
Task<> start_all_then_wait(Mixture& mixture, int rank, std::uint64_t seed) {
  std::vector<std::size_t> order(mixture.jobs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank));
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < order.size(); ++i) mixture.flight(rank).start(mixture.at(rank, i).call);
  for (const std::size_t i : order) co_await mixture.wait(rank, i);
}

// Starts calls and waits for them at random, with some blocking calls; the same calls on every rank.
Task<> as_it_comes(Mixture& mixture, int rank, std::uint64_t seed, std::vector<Verdict>& verdicts,
                   const std::vector<bool>& blocking) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank));
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < mixture.jobs.size(); ++i) {
    if (blocking[i]) {
      Communicator& comm = *mixture.ranks.comms[static_cast<std::size_t>(rank)];
      Blocking call(mixture.flight(rank), comm.run(mixture.at(rank, i).request));
      verdicts[i] = co_await call;
      continue;
    }
    mixture.flight(rank).start(mixture.at(rank, i).call);
    open.push_back(i);
    while (!open.empty() && random() % 3 == 0) {
      std::swap(open[random() % open.size()], open.back());
      co_await mixture.wait(rank, open.back());
      open.pop_back();
    }
  }
  std::shuffle(open.begin(), open.end(), random);
  for (const std::size_t i : open) co_await mixture.wait(rank, i);
}

void expect_results(Mixture& mixture, std::size_t i, double bound, const std::vector<Verdict>& verdicts) {
  const Job& job = *mixture.jobs[i];
  const int P = mixture.ranks.hub.size();
  for (const Verdict& verdict : verdicts) {
    ASSERT_EQ(verdict.status, Status::ok) << describe(verdict.status);
    ASSERT_EQ(verdict.fallback, verdicts[0].fallback);
  }
  if (verdicts[0].fallback != Fallback::none) return;
  for (int r = 0; r < P; ++r) ASSERT_EQ(job.check(r, bound, 2 * P), "");
  ASSERT_TRUE(job.same_bits());
}

TEST(InFlight, RandomMixtures) {
  std::uint64_t plain = 0, compressed = 0;
  const std::uint64_t count = for_each_seed(400, [&](std::uint64_t seed) {
    Draw draw(seed);
    const int P = 1 + draw.pick(9);
    const double bound = draw.choose({1e-3, 1e-6});
    const std::string kind = draw.one_in(3) ? "snap:" : "abs:";
    Mixture mixture(P,
                    kind + (bound == 1e-3 ? "1e-3" : "1e-6") + ",min_bytes=" +
                        (draw.one_in(3) ? "2000" : "0") + ",segments=" + std::to_string(1 + draw.pick(3)),
                    seed);
    std::vector<bool> blocking;
    constexpr DType types[] = {DType::f32, DType::f64};
    for (std::size_t i = 0, n = 1 + draw.pick(12u); i < n; ++i) {
      const DrawnJob drawn(draw, P, all_collectives, types, 20000);
      mixture.add(drawn.collective, drawn.job(P, draw.one_in(8) ? 0 : drawn.count, seed * 100 + i));
      blocking.push_back(draw.one_in(6));
    }
    std::vector<std::vector<Verdict>> verdicts(static_cast<std::size_t>(P),
                                               std::vector<Verdict>(blocking.size()));
    mixture.run([&](int rank) {
      return as_it_comes(mixture, rank, seed, verdicts[static_cast<std::size_t>(rank)], blocking);
    });
    for (std::size_t i = 0; i < blocking.size(); ++i) {
      std::vector<Verdict> of_call;
      for (int r = 0; r < P; ++r)
        of_call.push_back(blocking[i] ? verdicts[static_cast<std::size_t>(r)][i]
                                      : mixture.at(r, i).call.verdict());
      expect_results(mixture, i, bound, of_call);
      for (int r = 0; r < P && !blocking[i]; ++r) {
        OneCall& call = mixture.at(r, i);
        ASSERT_EQ(call.plain.issued(), of_call[0].fallback != Fallback::none);
        ASSERT_TRUE(!call.plain.issued() || call.plain.same_everywhere());
      }
      (of_call[0].fallback != Fallback::none ? plain : compressed) += 1;
    }
  });
  if (count < 100) return;
  EXPECT_GT(plain, count / 4);
  EXPECT_GT(compressed, 2 * count);
}

// Rank 0 waits for the last call first, rank 1 for the first one, and so on.
TEST(InFlight, WhoWaitsForOneDrivesThemAll) {
  Mixture mixture(2, "abs:1e-3", 1);
  for (std::uint64_t i = 0; i < 4; ++i)
    mixture.add(Collective::allreduce, 50000, DType::f32, Pattern::smooth, i);
  mixture.run([&](int rank) -> Task<> {
    for (std::size_t i = 0; i < 4; ++i) mixture.flight(rank).start(mixture.at(rank, i).call);
    for (std::size_t i = 0; i < 4; ++i) co_await mixture.wait(rank, rank == 0 ? 3 - i : i);
  });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(mixture.jobs[i]->check(0, 1e-3, 0), "");
}

// Calls of plain MPI wait until every earlier call is decided; compressed calls wait for no other call.
TEST(InFlight, PlainCallsKeepTheOrderOfTheCalls) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const int P = 2 + static_cast<int>(seed % 5);
    Mixture mixture(P, "abs:1e-6", seed);
    for (std::uint64_t i = 0; i < 9; ++i)  // three kinds: calls follow an earlier one that gains nothing
      mixture.add(Collective::allreduce, 20000 + 1000 * i, DType::f32,
                  i % 3 == 0 ? Pattern::sparse : Pattern::wild, i, static_cast<Reduction>(1 + i / 3));
    mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, seed); });
    for (std::size_t i = 0; i < 9; ++i) {
      for (int r = 0; r < P; ++r) {
        EXPECT_EQ(mixture.at(r, i).call.verdict().fallback, i % 3 == 0 ? Fallback::none : Fallback::no_gain);
        EXPECT_EQ(mixture.at(r, i).plain.issued(), i % 3 != 0);
        if (i % 3 != 0) {
          EXPECT_TRUE(mixture.at(r, i).plain.same_everywhere());
        }
      }
    }
  }
}

// ---- Comparison with plain MPI

std::vector<Verdict> verdicts_of(Mixture& mixture, std::size_t call) {
  std::vector<Verdict> all;
  for (int r = 0; r < mixture.ranks.hub.size(); ++r) {
    OneCall& one = mixture.at(r, call);
    all.push_back(one.call.verdict());
    EXPECT_EQ(one.plain.issued(), all[0].fallback != Fallback::none);
    EXPECT_TRUE(!one.plain.issued() || one.plain.same_everywhere());
  }
  return all;
}

// Each rank measures other times and sees the calls complete in another order.
TEST(InFlight, RanksDecideAlikeWhateverTheyHaveSeenCompleted) {
  for (std::uint64_t seed = 1; seed <= 15 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const int P = 2 + static_cast<int>(seed % 5);
    constexpr std::size_t n = 60;
    Mixture mixture(P, "abs:1e-4", seed, static_cast<int>(seed) % P);
    std::vector<bool> blocking;
    for (std::uint64_t i = 0; i < n; ++i) {
      mixture.add(i % 11 == 0 ? Collective::bcast : Collective::allreduce, 20000, DType::f32,
                  i % 17 == 16 ? Pattern::wild : Pattern::smooth, i);
      blocking.push_back(seed % 3 == 0 && i % 7 == 0);
    }
    std::vector<std::vector<Verdict>> verdicts(static_cast<std::size_t>(P), std::vector<Verdict>(n));
    mixture.run([&](int rank) {
      return as_it_comes(mixture, rank, seed, verdicts[static_cast<std::size_t>(rank)], blocking);
    });
    for (std::size_t i = 0; i < n; ++i) {
      if (!blocking[i]) expect_results(mixture, i, 1e-4, verdicts_of(mixture, i));
    }
  }
}

// In loopback the substitutes of plain calls are much faster than compressed calls.
TEST(InFlight, CallsGoPlainWherePlainMpiIsFaster) {
  constexpr std::size_t n = 100;
  Mixture mixture(3, "abs:1e-4,when=profitable", 7);
  for (std::uint64_t i = 0; i < n; ++i)
    mixture.add(Collective::allreduce, 100000, DType::f32, Pattern::smooth, 1);
  mixture.run([&](int rank) -> Task<> {
    for (std::size_t i = 0; i < n; ++i) {
      mixture.flight(rank).start(mixture.at(rank, i).call);
      co_await mixture.wait(rank, i);
    }
  });
  std::map<Fallback, int> count;
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<Verdict> verdicts = verdicts_of(mixture, i);
    for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.fallback, verdicts[0].fallback);
    ++count[verdicts[0].fallback];
  }
  EXPECT_EQ(count[Fallback::trial], OverlapTuner::trial_calls);
  EXPECT_LE(count[Fallback::none], 4 + 3);
  EXPECT_GE(count[Fallback::slower], 90);
}

TEST(InFlight, CallsThatNeedNotPayAreNotCompared) {
  Mixture mixture(2, "abs:1e-4,when=always", 8);
  constexpr std::size_t n = 30;
  for (std::uint64_t i = 0; i < n; ++i)
    mixture.add(Collective::allreduce, 20000, DType::f32, Pattern::smooth, 1);
  mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 8); });
  for (std::size_t i = 0; i < n; ++i)
    for (const Verdict& verdict : verdicts_of(mixture, i)) EXPECT_EQ(verdict.fallback, Fallback::none);
}

// The calls of a period do not wait for an opening call that ends with an error.
TEST(InFlight, AMismatchInTheFirstCallOfAPeriodHoldsUpNoOther) {
  Mixture mixture(4, "abs:1e-3", 9);
  for (std::uint64_t i = 0; i < 5; ++i)
    mixture.add(Collective::allreduce, 30000, DType::f32, Pattern::smooth, i);
  CollectiveCall changed = mixture.at(2, 0).request;
  changed.mean = true;
  mixture.calls[2][0] = std::make_unique<OneCall>(*mixture.ranks.comms[2], changed,
                                                  mixture.ranks.hub.transport(2), mixture.issued[2], 1);
  mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 9); });
  for (std::size_t i = 0; i < 4; ++i)
    for (int r = 0; r < 4; ++r)
      EXPECT_EQ(mixture.at(r, i).call.verdict().status, i == 0 ? Status::rank_mismatch : Status::ok);
}

// Starts more calls than there are lanes: the later calls wait for the earlier ones.
TEST(InFlight, MoreCallsThanLanes) {
  for (const int P : {2, 3}) {
    Mixture mixture(P, "abs:1e-3,min_bytes=0,codec=planes,segments=2", 3);
    constexpr std::size_t n = 300;
    for (std::uint64_t i = 0; i < n; ++i)
      mixture.add(Collective::allreduce, 100 + i, DType::f32, Pattern::smooth, i);
    mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 3); });
    for (std::size_t i = 0; i < n; ++i)
      for (int r = 0; r < P; ++r) {
        ASSERT_EQ(mixture.at(r, i).call.verdict().status, Status::ok);
        ASSERT_EQ(mixture.jobs[i]->check(r, 1e-3, 0), "");
      }
  }
}

// A bound relative to the range needs a codec for each call: more codecs than the cache holds.
TEST(InFlight, CodecsOutliveTheirPlaceInTheCache) {
  Mixture mixture(3, "rel:1e-4,codec=planes,min_bytes=0", 4);
  constexpr std::size_t n = 80;
  for (std::uint64_t i = 0; i < n; ++i)
    mixture.add(Collective::allgather, 3000 + i, DType::f64, Pattern::noisy, i);
  mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 4); });
  for (std::size_t i = 0; i < n; ++i)
    for (int r = 0; r < 3; ++r) {
      ASSERT_EQ(mixture.at(r, i).call.verdict().status, Status::ok);
      ASSERT_EQ(mixture.jobs[i]->check(r, 1e-4 * 40, 0), "");
    }
}

// ---- Failures of one call among others

TEST(InFlight, AMismatchIsAnErrorOfThatCallAlone) {
  Mixture mixture(4, "abs:1e-3,codec=planes", 5);
  for (std::uint64_t i = 0; i < 5; ++i)
    mixture.add(Collective::allreduce, 30000, DType::f32, Pattern::smooth, i);
  OneCall& other = mixture.at(2, 1);
  CollectiveCall changed = other.request;
  changed.op = Reduction::max;
  mixture.calls[2][1] = std::make_unique<OneCall>(*mixture.ranks.comms[2], changed,
                                                  mixture.ranks.hub.transport(2), mixture.issued[2], 2);
  mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 5); });
  for (std::size_t i = 0; i < 5; ++i)
    for (int r = 0; r < 4; ++r)
      EXPECT_EQ(mixture.at(r, i).call.verdict().status, i == 1 ? Status::rank_mismatch : Status::ok);
}

TEST(InFlight, AnUnusableBufferIsAnErrorOfThatCallAlone) {
  Mixture mixture(3, "abs:1e-3,codec=planes", 6);
  for (std::uint64_t i = 0; i < 3; ++i)
    mixture.add(Collective::allreduce, 30000, DType::f32, Pattern::smooth, i);
  CollectiveCall changed = mixture.at(1, 1).request;
  changed.data.in.data = nullptr;
  mixture.calls[1][1] = std::make_unique<OneCall>(*mixture.ranks.comms[1], changed,
                                                  mixture.ranks.hub.transport(1), mixture.issued[1], 2);
  mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, 6); });
  for (std::size_t i = 0; i < 3; ++i)
    for (int r = 0; r < 3; ++r)
      EXPECT_EQ(mixture.at(r, i).call.verdict().status, i != 1   ? Status::ok
                                                        : r == 1 ? Status::invalid_argument
                                                                 : Status::peer_failed);
}

// A frame damaged in transfer gives an error in its call and no hang; the other calls are unaffected.
TEST(InFlight, ADamagedFrameIsAnErrorOfThatCallAlone) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const int P = 2 + static_cast<int>(seed % 4);
    Mixture mixture(P, "abs:1e-3,codec=planes,checksum=on,segments=2", seed);
    for (std::uint64_t i = 0; i < 4; ++i)
      mixture.add(Collective::allreduce, 40000, DType::f32, Pattern::smooth, i);
    constexpr Lane first_of_call_2 = 2 * 128;
    int damaged = 0;
    mixture.ranks.hub.set_damage([&](const LoopbackHub::Record& record, std::vector<std::byte>& bytes) {
      const bool target = record.lane == first_of_call_2 && record.from == 0 && damaged == 0;
      if (target) bytes[bytes.size() / 2] ^= std::byte{0x10};
      damaged += target;
    });
    mixture.run([&](int rank) { return start_all_then_wait(mixture, rank, seed); });
    EXPECT_EQ(damaged, 1);
    for (std::size_t i = 0; i < 4; ++i) {
      int failures = 0;
      for (int r = 0; r < P; ++r) failures += mixture.at(r, i).call.verdict().status != Status::ok;
      EXPECT_EQ(failures > 0, i == 2);
      for (int r = 0; r < P && i != 2; ++r) EXPECT_EQ(mixture.jobs[i]->check(r, 1e-3, 0), "");
    }
  }
}

}  // namespace
}  // namespace taut::test

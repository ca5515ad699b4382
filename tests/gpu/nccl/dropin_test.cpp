// Tests of the drop-in where ranks differ or calls fail. The tests in dropin/ make the usual calls.
#include <atomic>
#include <cmath>

#include "compressor/base/options.hpp"
#include "gpu/nccl/dropin_ranks.hpp"

namespace taut::test {
namespace dropin_test {

constexpr std::size_t n = 6000;

int all_reduce(const NcclRank& me, const OnGpu<float>& x) {
  return taut_dropin_ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclSum, me.comm, me.stream);
}

constexpr const char* policy = "abs:1e-3,codec=planes,when=always,min_bytes=1";

TEST(NcclDropin, ServesInTheOrderOfTheStream) {
  DropinRanks ranks(3, policy);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(n, 1));
    for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(all_reduce(me, x), 0);
    me.finish();
    EXPECT_NEAR(x.peek(n)[n - 1], 27, 0.02);
    EXPECT_EQ(dropin::find_calls(me.comm)->report()->calls.total().compressed_calls, 3u);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Unless calls may be in flight, a call is complete when it returns, and its stream waits for nothing.
TEST(NcclDropin, CallsAreCompleteWhenTheyReturn) {
  if (options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is 1";
  DropinRanks ranks(3, policy);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(n, 1));
    for (int turn = 1; turn <= 3; ++turn) {
      EXPECT_EQ(all_reduce(me, x), 0);
      EXPECT_EQ(cudaStreamQuery(me.stream), cudaSuccess);
      EXPECT_EQ(dropin::find_calls(me.comm)->report()->calls.total().compressed_calls,
                static_cast<std::uint64_t>(turn));
      EXPECT_NEAR(x.peek(n)[n - 1], std::pow(3, turn), 0.02);
    }
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A failed call returns the error: the program would go on with its results.
TEST(NcclDropin, AnAwaitedCallReturnsItsFailure) {
  if (options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is 1";
  fake_nccl::set_patience(0.3);
  DropinRanks ranks(2, policy);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, OnGpu<float>(n)), 0); });
  fake_nccl::fail_at(2);
  std::atomic<int> failed{0};
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(n, 1));
    const int code = all_reduce(me, x);
    int error = 0;
    EXPECT_EQ(taut_dropin_ncclCommGetAsyncError(me.comm, &error), 0);
    EXPECT_EQ(code != 0, error != 0);
    failed += code != 0;
    EXPECT_EQ(taut_dropin_ncclCommAbort(me.comm), 0);
    me.comm = nullptr;
    me.finish();
  });
  EXPECT_GT(failed, 0);
  fake_nccl::fail_at(0);
  fake_nccl::take_report();
  fake_nccl::set_patience(20);
}

// With calls in flight, the host waits for nothing from the second call on: one thread drives both ranks.
TEST(NcclDropin, TheHostDoesNotWait) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  DropinRanks ranks(2, policy);
  const OnGpu<float> x(std::vector<float>(n, 1)), y(std::vector<float>(n, 2));
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, me.rank == 0 ? x : y), 0); });
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(all_reduce(ranks[0], x), 0);
    EXPECT_EQ(all_reduce(ranks[1], y), 0);
  }
  ranks[0].finish();
  ranks[1].finish();
  EXPECT_NEAR(x.peek(n)[3], 12, 0.02);
  EXPECT_EQ(x.peek(n), y.peek(n));
}

TEST(NcclDropin, DifferentRulesLeaveAllToNccl) {
  NcclThreads ranks(3);
  ranks.run([&](NcclRank& me) {
    const std::string own = me.rank == 2 ? "abs:1e-2" : "abs:1e-3";
    EXPECT_EQ(dropin::start_serving(std::span(&me.comm, 1), own), nccl::success);
    const OnGpu<float> x(std::vector<float>(n, 1));
    EXPECT_EQ(all_reduce(me, x), 0);
    me.finish();
    EXPECT_EQ(x.peek(n)[0], 3);
    dropin::release(me.comm);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Ranks without rules do not take part in the agreement. The others find that out.
TEST(NcclDropin, RanksWithoutRulesAreFound) {
  if (options().handshake > 2) GTEST_SKIP() << "TAUT_HANDSHAKE is not 1";
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    if (me.rank == 1) return;
    EXPECT_EQ(dropin::start_serving(std::span(&me.comm, 1), policy), nccl::internal_error);
    const OnGpu<float> x(1);
    EXPECT_EQ(all_reduce(me, x), nccl::internal_error);
    int error = 0;
    EXPECT_EQ(taut_dropin_ncclCommGetAsyncError(me.comm, &error), 0);
    EXPECT_EQ(error, nccl::internal_error);
    EXPECT_EQ(taut_dropin_ncclCommAbort(me.comm), 0);
    me.comm = nullptr;
    stand_in_finish();
  });
  fake_nccl::take_report();
}

// A rank fails: its streams wait until the program aborts the communicator.
TEST(NcclDropin, AFailureIsAnErrorOfTheCommunicator) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  fake_nccl::set_patience(0.3);
  for (const unsigned long at : {1ul, 4ul, 9ul}) {
    DropinRanks ranks(2, policy);
    std::vector<std::unique_ptr<OnGpu<float>>> x;
    for (int r = 0; r < 2; ++r) x.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(n, 1)));
    const auto mine = [&](const NcclRank& me) -> const OnGpu<float>& {
      return *x[static_cast<std::size_t>(me.rank)];
    };
    ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, mine(me)), 0); });
    fake_nccl::fail_at(at);
    std::atomic<int> errors{0};
    ranks.run([&](NcclRank& me) {
      EXPECT_EQ(all_reduce(me, mine(me)), 0);
      dropin::find_calls(me.comm)->drain();
      int error = 0;
      EXPECT_EQ(taut_dropin_ncclCommGetAsyncError(me.comm, &error), 0);
      errors += error != 0;
      if (error != 0) {
        EXPECT_NE(all_reduce(me, mine(me)), 0);
      }
      EXPECT_EQ(taut_dropin_ncclCommAbort(me.comm), 0);
      me.comm = nullptr;
      me.finish();
    });
    EXPECT_GT(errors, 0) << at;
    fake_nccl::fail_at(0);
    fake_nccl::take_report();
  }
  fake_nccl::set_patience(20);
}

// A program that aborts while a rank is missing does not hang.
TEST(NcclDropin, AnAbortEndsACallThatWaits) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  DropinRanks ranks(2, policy);
  const OnGpu<float> x(std::vector<float>(n, 1)), y(std::vector<float>(n, 1));
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, me.rank == 0 ? x : y), 0); });
  EXPECT_EQ(all_reduce(ranks[0], x), 0);
  for (NcclRank* const me : {&ranks[0], &ranks[1]}) {
    EXPECT_EQ(taut_dropin_ncclCommAbort(me->comm), 0);
    me->comm = nullptr;
    me->finish();
  }
  fake_nccl::take_report();
}

// A revoked communicator makes no calls any more. A call that waits for a missing rank ends.
TEST(NcclDropin, AnAbortByRevokingEndsACallThatWaits) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  DropinRanks ranks(2, policy);
  const OnGpu<float> x(std::vector<float>(n, 1)), y(std::vector<float>(n, 1));
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, me.rank == 0 ? x : y), 0); });
  EXPECT_EQ(all_reduce(ranks[0], x), 0);
  for (NcclRank* const me : {&ranks[0], &ranks[1]}) {
    EXPECT_EQ(taut_dropin_ncclCommRevoke(me->comm, 0), 0);
    EXPECT_EQ(dropin::find_calls(me->comm), nullptr);
    me->finish();
    EXPECT_EQ(all_reduce(*me, x), ncclRemoteError) << "NCCL refuses the call";
  }
  fake_nccl::take_report();
}

// A rank is missing, and the other one shrinks the communicator.
TEST(NcclDropin, AnAbortByShrinkingEndsACallThatWaits) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  DropinRanks ranks(2, policy);
  const OnGpu<float> x(std::vector<float>(n, 1)), y(std::vector<float>(n, 1));
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, me.rank == 0 ? x : y), 0); });
  EXPECT_EQ(all_reduce(ranks[0], x), 0);
  int excluded = 1;
  ncclComm_t rest = nullptr;
  EXPECT_EQ(taut_dropin_ncclCommShrink(ranks[0].comm, &excluded, 1, &rest, nullptr, NCCL_SHRINK_ABORT), 0);
  ranks[0].finish();
  EXPECT_EQ(taut_dropin_ncclCommDestroy(rest), 0);
  fake_nccl::take_report();
}

// A rank that never makes a call: the others' calls fail after TAUT_NCCL_TIMEOUT.
TEST(NcclDropin, MissingRanksEndACall) {
  if (options().nccl_timeout > 2) GTEST_SKIP() << "TAUT_NCCL_TIMEOUT is not 1";
  DropinRanks ranks(2, policy);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(all_reduce(me, OnGpu<float>(n)), 0); });
  ranks.run([&](NcclRank& me) {
    if (me.rank == 1) return;
    const OnGpu<float> x(std::vector<float>(n, 1));
    EXPECT_EQ(all_reduce(me, x), nccl::internal_error);
    int error = 0;
    EXPECT_EQ(taut_dropin_ncclCommGetAsyncError(me.comm, &error), 0);
    EXPECT_EQ(error, nccl::internal_error);
    EXPECT_EQ(taut_dropin_ncclCommAbort(me.comm), 0);
    me.comm = nullptr;
    stand_in_finish();
  });
  EXPECT_EQ(fake_nccl::take_report(), "") << "the call ended before the deadlock was found";
}

}  // namespace dropin_test
}  // namespace taut::test

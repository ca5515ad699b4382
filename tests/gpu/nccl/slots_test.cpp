// Tests policies with `slots=`: each call settles itself, and measured times choose between slots and exact
// sizes.
#include "communication/nccl/slot_trial.hpp"
#include "gpu/nccl/capacity.hpp"
#include "gpu/nccl/dropin_ranks.hpp"

namespace taut::test {
namespace slots_test {

using nccl::SlotTrial;

// Makes a call, and expects the results of the host when it has returned.
void run_in_slots(const Trial& trial) {
  SCOPED_TRACE(text_of(trial));
  NcclRanks ranks(trial.P, trial.whole_policy());
  NcclJob job(trial);
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
    EXPECT_EQ(stats_of(me).capacity_calls, trial.P > 1 ? 1u : 0u);
  });
  expect_outputs_of_host(trial, job);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclSlots, CallsAreCompleteWhenTheyReturn) {
  unsigned turn = 0;
  for (const Collective collective : served)
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const char* const slots : {"1", "3", "40"}) {
        ++turn;
        constexpr std::size_t counts[] = {1, 7, 840, 1009, 9240};
        const int P = 1 + static_cast<int>(turn % 7);
        run_in_slots(
            as_nccl_allows({.collective = collective,
                            .policy = std::string("abs:1e-2,codec=planes,predictor=delta,slots=") + slots,
                            .P = P,
                            .count = static_cast<std::size_t>(P) * counts[turn % 5],
                            .type = type,
                            .pattern = turn % 4 == 0   ? Pattern::wild
                                       : turn % 4 == 1 ? Pattern::noisy
                                                       : Pattern::smooth,
                            .root = static_cast<int>(turn) % P,
                            .in_place = turn % 3 == 0}));
      }
}

// A capacity that the program has stated comes first, and its calls are settled by the program.
TEST(NcclSlots, TheProgramMaySettle) {
  NcclRanks ranks(2, "abs:1e-3,codec=planes,predictor=delta,slots=1,when=always,min_bytes=1", 40);
  ranks.run([&](NcclRank& me) {
    std::vector<float> noise(9000);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<float>(i * 7919 % 1000);
    const OnGpu<float> x(noise);
    std::size_t repeated = 0;
    EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), x.data(), 9000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, &repeated, me.stream), 0);
    EXPECT_GT(repeated, 0u);
    EXPECT_NEAR(x.peek(9000)[17], 2 * noise[17], 2e-3);
  });
}

// Values that kernels cannot access, on one rank only: that rank works on copies.
TEST(NcclSlots, AnyMemoryOfAProgram) {
  for (const bool in_place : {false, true}) {
    DropinRanks ranks(3, "abs:1e-3,codec=planes,predictor=delta,slots=2,when=always,min_bytes=1");
    ranks.run([&](NcclRank& me) {
      constexpr std::size_t n = 3000;
      const OnGpu<float> x(std::vector<float>(n + 1, static_cast<float>(me.rank))), y(n + 1);
      void *in = nullptr, *out = nullptr;
      EXPECT_EQ(cudaHostAlloc(&in, n * sizeof(float), cudaHostAllocDefault), cudaSuccess);
      EXPECT_EQ(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocDefault), cudaSuccess);
      std::fill_n(static_cast<float*>(in), n, static_cast<float>(me.rank));
      const bool on_host = me.rank == 1;
      const void* const from = on_host ? in : x.data();
      void* const elsewhere = on_host ? out : static_cast<void*>(y.data());
      void* const to = in_place ? const_cast<void*>(from) : elsewhere;
      EXPECT_EQ(dropin_functions.all_reduce(from, to, n, ncclFloat32, ncclSum, me.comm, me.stream), 0);
      finish_calls(me);
      me.finish();
      const auto sums = on_host ? std::vector<float>(static_cast<float*>(to), static_cast<float*>(to) + n)
                                : (in_place ? x : y).peek(n);
      for (const float sum : sums) EXPECT_NEAR(sum, 3, 3e-3);
      // Gathered in place, from memory of the host on that rank: its own block stays as it is.
      auto* const own = static_cast<float*>(on_host ? out : y.data()) + 1000 * me.rank;
      if (on_host) std::fill_n(own, 1000, 0.1F);
      EXPECT_EQ(dropin_functions.all_gather(own, own - 1000 * me.rank, 1000, ncclFloat32, me.comm, me.stream),
                0);
      finish_calls(me);
      me.finish();
      if (on_host) {
        EXPECT_EQ(own[7], 0.1F);
      } else {
        EXPECT_NEAR(y.peek(n)[1007], 0.1, 1e-3);
      }
      cudaFreeHost(in);
      cudaFreeHost(out);
    });
    EXPECT_EQ(fake_nccl::take_report(), "");
  }
}

// A call that returned before is damaged in flight. The later one, on copies of its buffers, tells so on all
// ranks, and has its result.
TEST(NcclSlots, AnEarlierFailureTakesNoResult) {
  constexpr std::size_t n = 3000;
  constexpr int mismatch = static_cast<int>(Status::frame_mismatch);
  NcclRanks ranks(2, "block:8,slots=2,when=always,min_bytes=1");
  const OnGpu<float> x[] = {OnGpu<float>(std::vector<float>(n, 1)), OnGpu<float>(std::vector<float>(n, 2))};
  const OnGpu<float> apart[] = {OnGpu<float>(std::vector<float>(n, 1), 1),
                                OnGpu<float>(std::vector<float>(n, 2), 1)};
  const OnGpu<float> residuals[] = {OnGpu<float>(std::vector<float>(n)), OnGpu<float>(std::vector<float>(n))};
  fake_nccl::damage_message(1);
  for (const int r : {0, 1})
    EXPECT_EQ(TAUT_Nccl_AllReduce_with_residual(x[r].data(), x[r].data(), n, ncclFloat32, ncclSum,
                                                residuals[r].data(), ranks[r].comm, ranks[r].stream),
              0);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float>& own = apart[me.rank];
    EXPECT_EQ(TAUT_Nccl_AllReduce(own.data(), own.data(), n, ncclFloat32, ncclSum, me.comm, me.stream),
              mismatch);
    EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("earlier call"), std::string::npos)
        << TAUT_Nccl_last_error();
    EXPECT_NEAR(own.peek(n)[n - 1], 3, 0.05);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), mismatch);
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
  });
  fake_nccl::damage_message(0);
}

// A call without its peer fails. The program, which was never told to settle, has nothing to settle then.
TEST(NcclSlots, CallsThatFailLeaveNothingToSettle) {
  testing::internal::CaptureStderr();
  {
    NcclRanks ranks(2, "abs:1e-3,codec=planes,predictor=delta,slots=2,when=always,min_bytes=1");
    const OnGpu<float> x(std::vector<float>(9000, 1));
    fake_nccl::set_patience(0.3);
    EXPECT_NE(
        TAUT_Nccl_AllReduce(x.data(), x.data(), 9000, ncclFloat32, ncclSum, ranks[0].comm, ranks[0].stream),
        0);
    stand_in_finish();
    fake_nccl::set_patience(20);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  fake_nccl::take_report();
}

TEST(NcclSlots, TheDropInCountsWhatItServes) {
  DropinRanks ranks(2, "abs:1e-3,codec=planes,predictor=delta,slots=4,when=always,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(6000, 1));
    for (int turn = 1; turn <= 3; ++turn) {
      EXPECT_EQ(
          dropin_functions.all_reduce(x.data(), x.data(), 6000, ncclFloat32, ncclSum, me.comm, me.stream), 0);
      finish_calls(me);
      me.finish();
      EXPECT_NEAR(x.peek(6000)[5999], std::pow(2, turn), 0.02);
    }
    EXPECT_EQ(dropin::find_calls(me.comm)->report()->calls.total().compressed_calls, 0u)
        << "exact sizes alone";
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Times choose: the calls of all ranks agree, whatever they choose, and results are within the bound.
TEST(NcclSlots, AreTriedWhereCallsHaveToPay) {
  NcclRanks ranks(3, "abs:1e-3,slots=4,when=profitable,min_bytes=1");
  std::array<std::uint64_t, 3> in_slots{};
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(8000, 1)), all(24000);
    for (std::uint32_t turn = 0; turn < 3 * SlotTrial::first_exact; ++turn) {
      EXPECT_EQ(TAUT_Nccl_AllGather(x.data(), all.data(), 8000, ncclFloat32, me.comm, me.stream), 0)
          << TAUT_Nccl_last_error();
      me.finish();
      EXPECT_NEAR(all.peek(24000)[23999], 1, 1e-3);
      const std::uint64_t so_far = stats_of(me).capacity_calls;
      EXPECT_EQ(so_far > 0, turn >= SlotTrial::first_exact);
      in_slots[static_cast<std::size_t>(me.rank)] = so_far;
    }
  });
  EXPECT_EQ(in_slots[1], in_slots[0]);
  EXPECT_EQ(in_slots[2], in_slots[0]);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// The model expects no gain for a short allreduce: slots are not tried.
TEST(NcclSlots, AreNotTriedWhereTheModelExpectsALoss) {
  NcclRanks ranks(3, "abs:1e-3,slots=4,when=profitable,min_bytes=1");
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(800, 1)), sum(800);
    for (std::uint32_t turn = 0; turn < 2 * SlotTrial::first_exact; ++turn)
      EXPECT_EQ(TAUT_Nccl_AllReduce(x.data(), sum.data(), 800, ncclFloat32, ncclSum, me.comm, me.stream), 0);
    me.finish();
    EXPECT_EQ(stats_of(me).capacity_calls, 0u);
  });
}

// ---- The trial itself

// Makes calls by the trial, of these times in seconds. Returns how many were in slots.
int calls_in_slots(SlotTrial& trial, int calls, double exact, double slots) {
  int in_slots = 0;
  for (int i = 0; i < calls; ++i) {
    if (trial.next()) {
      ++in_slots;
      trial.update(trial.own());
      trial.record_slots(slots, 1000);
    } else if (trial.is_timed()) {
      trial.record_exact(exact, 1000);
    }
  }
  return in_slots;
}

TEST(SlotTrial, KeepsTheFasterWay) {
  SlotTrial faster, slower;
  EXPECT_EQ(calls_in_slots(faster, SlotTrial::first_exact, 3, 1), 0);
  EXPECT_EQ(calls_in_slots(faster, 1000, 3, 1), 1000 - 3 * static_cast<int>(SlotTrial::timed_exact));
  EXPECT_EQ(calls_in_slots(slower, SlotTrial::first_exact, 1, 3), 0);
  EXPECT_LE(calls_in_slots(slower, 3000, 1, 3), 3000 / 50);
}

TEST(SlotTrial, FollowsAChange) {
  SlotTrial trial;
  calls_in_slots(trial, 500, 3, 1);
  EXPECT_LT(calls_in_slots(trial, 3000, 1, 3), 2000);  // until the next comparison
  EXPECT_GT(calls_in_slots(trial, 9000, 3, 1), 4000);
}

// One call of a trial takes long, because something else disturbs it: it does not decide.
TEST(SlotTrial, OneDisturbedCallEndsNoTrial) {
  for (int disturbed = 0; disturbed < 4; ++disturbed) {
    SlotTrial trial;
    calls_in_slots(trial, SlotTrial::first_exact, 3, 1);
    for (int i = 0; i < 4; ++i) calls_in_slots(trial, 1, 3, i == disturbed ? 100 : 1);
    EXPECT_EQ(calls_in_slots(trial, 50, 3, 1), 50) << disturbed;
  }
}

// The time of the call that ends a lost trial is none of the next trial, which would be lost by it.
TEST(SlotTrial, BeginsAComparisonWithNewTimes) {
  SlotTrial trial;
  calls_in_slots(trial, 30, 1.5, 10);
  EXPECT_GT(calls_in_slots(trial, 1200, 1.5, 1), 100);
}

}  // namespace slots_test
}  // namespace taut::test

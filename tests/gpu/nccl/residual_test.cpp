// Tests sums with a residual: what frames leave out comes with later calls, on all ranks alike.
#include "gpu/nccl/residual.hpp"

#include <atomic>

#include "compressor/base/options.hpp"

namespace taut::test {
namespace residual_test {

TEST(NcclResidual, MeansOverTheCallsConverge) {
  for (const int P : {2, 3, 4})
    for (const bool mean : {false, true}) {
      const Way way{.policy = "block:4", .P = P, .mean = mean, .in_place = mean == (P == 3)};
      expect_convergence<float>(way, 0.2);
      expect_convergence<f16>(way, 0.2);
      expect_convergence<bf16>(way, 0.2);
    }
}

TEST(NcclResidual, ScatteredSumsConverge) {
  for (const int P : {2, 4})
    for (const bool mean : {false, true})
      for (const bool in_place : {false, true}) {
        const Way way{
            .policy = "block:6", .P = P, .count = 212, .scatter = true, .mean = mean, .in_place = in_place};
        expect_convergence<float>(way, 0.05);
        expect_convergence<bf16>(way, 0.05);
      }
}

// Sums of halves are rounded after the residual is added: what they cannot represent comes later, too.
TEST(NcclResidual, SmallPartsOfHalvesAreNotLost) {
  const auto value = [](int rank, std::size_t) { return rank == 0 ? 512.0 : 0.5; };
  const Way way{.P = 4, .count = 130};
  Series<bf16> kept(way, value), dropped(way, value);
  kept.run(40);
  kept.expect_nothing_lost(1e-4);
  EXPECT_LE(kept.error(), 0.4);
  dropped.run(2, false);
  EXPECT_GE(dropped.error(), 1.4);
}

// Counts that the ranks cannot share, or that some get nothing of.
TEST(NcclResidual, AnyCountIsServed) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 7u, 127u, 1009u, 4099u})
    for (const int P : {1, 2, 3, 4})
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(testing::Message() << count << " values on " << P << (in_place ? " in place" : ""));
        Series<float> series({.policy = "block:6", .P = P, .count = count, .in_place = in_place}, gradient);
        series.run(3);
        series.expect_nothing_lost(rounding_of<float>);
        series.expect_equal_bits();
      }
}

// Values at the end of float16's range: residuals make no infinity. A sum that exceeds it is one, as NCCL's.
TEST(NcclResidual, OverflowIsThatOfTheSum) {
  const auto value = [](int rank, std::size_t i) {
    return rank > 0 ? 0.0 : i % 3 == 0 ? 65504.0 : i % 3 == 1 ? 40000.0 : 300.0;
  };
  Series<f16> series({.policy = "block:4", .P = 3, .count = 192}, value);
  series.run(30);
  series.expect_finite_residuals();
  series.expect_equal_bits();
  for (std::size_t i = 0; i < 192; ++i) {
    EXPECT_LE(std::fabs(series.total(i)), 30 * 65504.0);
    if (i % 3 != 0) {
      EXPECT_NEAR(series.total(i) / 30, series.exact(i), 700) << i;
    }
  }
  for (const int rank : {1, 2})
    for (std::size_t i = 1; i < 192; i += 3) series.set(rank, i, 40000);
  series.run(1);
  series.expect_finite_residuals();
  for (std::size_t i = 0; i < 192; ++i) EXPECT_EQ(std::isinf(series.total(i)), i % 3 == 1) << "value " << i;
}

// Two ranks whose operands, with what earlier frames left out, may exceed float16's range: results are
// numbers or infinities, alike on all ranks, and nothing of an infinity is left behind.
TEST(NcclResidual, OperandsMayExceedTheRange) {
  Series<f16> series({.policy = "block:4", .P = 2, .count = 192}, [](int rank, std::size_t i) {
    return (rank == 0 ? 40000.0 : 25000.0) - static_cast<double>(i % 7) * 100;
  });
  series.run(30);
  series.expect_equal_bits();
  series.expect_finite_residuals();
  for (std::size_t i = 0; i < 192; ++i) EXPECT_GE(series.total(i), 30 * 55000.0) << i;
  for (const int rank : {0, 1})
    for (std::size_t i = 0; i < 192; ++i) series.set(rank, i, gradient(rank, i));
  series.run(2);
  series.expect_finite_residuals();
  for (const f16 x : series.results(1)) EXPECT_TRUE(std::isfinite(static_cast<float>(x)));
}

TEST(NcclResidual, SpecialValuesPass) {
  expect_special_values_pass<float>("block:8");
  expect_special_values_pass<f16>("block:8");
  expect_special_values_pass<bf16>("block:8");
}

// One thread makes the calls of both ranks: one that waited would hang.
TEST(NcclResidual, TheHostWaitsForNothing) {
  Series<float> series({.P = 2, .count = 9000}, gradient);
  series.run(1);
  const unsigned long waits = stand_in_waits(), to_host = stand_in_copied(stand_in_to_host),
                      launches = stand_in_launches();
  for (int turn = 0; turn < 3; ++turn)
    for (int r = 0; r < 2; ++r) EXPECT_EQ(series.call(series.ranks()[r]), 0);
  EXPECT_EQ(stand_in_waits(), waits);
  EXPECT_EQ(stand_in_copied(stand_in_to_host), to_host);
  stand_in_finish();
  // Before encoding a sum with the residual, behind it a decoder and a difference; both on either side of
  // what capacity mode launches without a residual: two encoders, two decoders, each with a note of its
  // failures, and a sum of all ranks.
  EXPECT_EQ(stand_in_launches() - launches, 3u * 2 * 11);
  series.expect_equal_bits();
  EXPECT_EQ(stats_of(series.ranks()[0]).capacity_calls, 4u);
}

// Two series on one communicator, each on a stream of its own, whose calls are in flight together.
TEST(NcclResidual, StreamsMayChange) {
  const Way way{.P = 2, .count = 9000};
  Series<float> series(way, gradient), other(way, gradient), wanted(way, gradient);
  wanted.run(3);
  for (int turn = 0; turn < 3; ++turn)
    for (int r = 0; r < 2; ++r) {
      const NcclRank& me = series.ranks()[r];
      EXPECT_EQ(series.call(me), 0);
      EXPECT_EQ(other.call({r, me.comm, other.ranks()[r].stream}), 0);
    }
  stand_in_finish();
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(series.results(r), wanted.results(r));
    EXPECT_EQ(other.results(r), wanted.results(r));
    EXPECT_EQ(series.residual(r), wanted.residual(r));
    EXPECT_EQ(other.residual(r), wanted.residual(r));
  }
}

// Calls that the policy leaves to NCCL are exact, and leave residuals as they are.
TEST(NcclResidual, OfCallsLeftToNcclStaysAsItIs) {
  for (const char* const policy : {"off", "block:8,min_bytes=1MiB"}) {
    NcclRanks ranks(3, policy);
    ranks.run([](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(300, 1.0F / 3)), residual(std::vector<float>(300, 7));
      EXPECT_EQ(TAUT_Nccl_AllReduce_with_residual(x.data(), x.data(), 300, ncclFloat32, ncclSum,
                                                  residual.data(), me.comm, me.stream),
                0);
      me.finish();
      EXPECT_EQ(x.peek(300), std::vector<float>(300, 1.0F / 3 + 1.0F / 3 + 1.0F / 3));
      EXPECT_EQ(residual.peek(300), std::vector<float>(300, 7));
    });
  }
}

// Calls of one rank on values of any type, for arguments that are refused before anything is sent.
class Mistakes {
 public:
  explicit Mistakes(const std::string& policy = "block:8")
      : ranks_(2, Way{.policy = policy}.whole_policy()) {}

  // Expects the status, and an error text with these words.
  void expect(Status status, const std::string& words, int type, int op, void* residual) {
    EXPECT_EQ(TAUT_Nccl_AllReduce_with_residual(values_.data(), values_.data(), 100, type, op, residual,
                                                ranks_[0].comm, ranks_[0].stream),
              static_cast<int>(status));
    EXPECT_NE(std::string(TAUT_Nccl_last_error()).find(words), std::string::npos) << TAUT_Nccl_last_error();
  }
  void* residual() const { return residual_.data(); }
  void* values() const { return values_.data(); }

 private:
  NcclRanks ranks_;
  OnGpu<double> values_{std::vector<double>(100)}, residual_{std::vector<double>(101)};
};

TEST(NcclResidual, MistakesAreTold) {
  const Status wrong = Status::invalid_argument;
  Mistakes call;
  alignas(16) float here[100] = {};
  call.expect(wrong, "residual is NULL", ncclFloat32, ncclSum, nullptr);
  call.expect(wrong, "residual is not memory of a GPU", ncclFloat32, ncclSum, here);
  call.expect(wrong, "residual is not aligned", ncclFloat32, ncclSum,
              static_cast<std::byte*>(call.residual()) + 2);
  call.expect(wrong, "residual is not aligned", ncclFloat64, ncclSum,
              static_cast<float*>(call.residual()) + 1);
  call.expect(wrong, "op of a call", ncclFloat32, ncclMax, call.residual());
  call.expect(Status::invalid_type, "datatype", ncclInt32, ncclSum, call.residual());
  const Status unfit = Status::invalid_policy;
  call.expect(unfit, "frames of a fixed size for f64", ncclFloat64, ncclSum, call.residual());
  for (const char* const policy : {"abs:1e-3", "rel:1e-3", "lossless"})
    Mistakes(policy).expect(unfit, "rate:8", ncclFloat32, ncclAvg, call.residual());
}

TEST(NcclResidual, MemoryOfAnotherGpuOrOfTheValuesIsRefused) {
  Mistakes call;
  const OnGpu<float> elsewhere(100, 0, 1);
  call.expect(Status::invalid_argument, "residual is on another GPU", ncclFloat32, ncclSum, elsewhere.data());
  call.expect(Status::invalid_argument, "residual overlaps", ncclFloat32, ncclSum, call.values());
}

// Frames of one rank are of another type: no rank decodes what it gets, and settling says so, once.
TEST(NcclResidual, AFrameThatIsNotDecodedFailsTheSettle) {
  NcclRanks ranks(2, Way{}.whole_policy());
  ranks.run([](NcclRank& me) {
    const OnGpu<std::uint16_t> x(std::vector<std::uint16_t>(640, 0x3C00));
    const OnGpu<float> residual(std::vector<float>(640));
    const auto call = [&](int type) {
      return TAUT_Nccl_AllReduce_with_residual(x.data(), x.data(), 640, type, ncclSum, residual.data(),
                                               me.comm, me.stream);
    };
    const int mismatch = static_cast<int>(Status::frame_mismatch);
    const auto settle = [&] { return TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream); };
    EXPECT_EQ(call(me.rank == 0 ? ncclFloat16 : ncclBfloat16), 0);
    const int next = call(ncclFloat16);  // knows of the failure, or not yet
    EXPECT_TRUE(next == 0 || next == mismatch);
    EXPECT_EQ(settle(), mismatch);
    EXPECT_EQ(call(ncclFloat16), 0);
    EXPECT_EQ(settle(), 0);
  });
}

// Memory ends at any allocation: the call is an error, or succeeds if it needs no more.
TEST(NcclResidual, WithoutMemoryACallEndsWithAnError) {
  unsigned long missed = 1;
  for (unsigned long n = 1; missed > 0 && n < 100; ++n) {
    Series<float> series({.P = 3, .count = 900}, gradient);
    std::atomic<int> errors{0};
    stand_in_no_memory_at(n);
    fake_nccl::set_patience(0.2);
    series.ranks().run([&](NcclRank& me) {
      errors += series.call(me) != 0;
      stand_in_finish();
    });
    missed = stand_in_no_memory_at(0);
    EXPECT_TRUE(errors == 0 || missed > 0);
    fake_nccl::set_patience(20);
    fake_nccl::take_report();
  }
  EXPECT_EQ(missed, 0u);
}

// By nodes of as many GPUs as ctest sets in TAUT_RANKS_PER_NODE (CMakeLists.txt); skipped without.
TEST(NcclByNodesResidual, ConvergesToo) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  for (int N = 1; N <= 3; ++N)
    for (const std::size_t count : {1u, 97u, 840u})
      for (const bool in_place : {false, true}) {
        Way way{.policy = "block:6,nodes=on", .P = N * L, .count = count, .in_place = in_place};
        Series<float> sums(way, gradient);
        sums.run(4);
        sums.expect_nothing_lost(1e-6);
        sums.expect_equal_bits();
        way.count = static_cast<std::size_t>(N * L) * 61;
        way.scatter = true;
        Series<float> scattered(way, gradient);
        scattered.run(10);
        EXPECT_LE(scattered.error(), 0.05 * way.P / 10);
        stand_in_finish();
        EXPECT_EQ(TAUT_Cuda_release(), 0);
      }
}

}  // namespace residual_test
}  // namespace taut::test

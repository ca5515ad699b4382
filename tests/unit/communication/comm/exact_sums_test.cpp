// Sums without loss of values that are integers times a power of two: they travel as frames, and every result
// is the exact sum, which plain MPI gives as well. All other sums are left to plain MPI.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

constexpr Collective sums[] = {Collective::allreduce, Collective::reduce, Collective::reduce_scatter,
                               Collective::scan, Collective::exscan};

// Sets the values of all ranks to integers below `most` times `unit`, with runs of 0 and of equal values.
void set_multiples(Job& job, double unit, double most, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  for (Values& values : job.inputs)
    for (std::size_t i = 0; i < values.numbers(); ++i) {
      const double integer = std::floor((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * most);
      values.set(i, i / 50 % 3 == 0 ? 0 : i / 50 % 7 == 1 ? most * unit : integer * unit);
    }
}

bool is_exact(const Job& job, int rank) {
  const Range range = job.defined(rank);
  const Values& out = job.outputs[static_cast<std::size_t>(rank)];
  const std::size_t parts = components_of(out.type());
  for (std::size_t i = range.first * parts; i < (range.first + range.count) * parts; ++i) {
    const auto want = static_cast<double>(job.exact(rank, i).value);
    if (out.at(i) != want || std::signbit(out.at(i)) != std::signbit(want)) return false;
  }
  return true;
}

// Runs the call on all ranks, and returns the fallback that all of them have.
Fallback fallback_of(Ranks& ranks, Collective collective, Job& job) {
  const auto verdicts = ranks.run(collective, job);
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.status, Status::ok);
    EXPECT_EQ(verdict.fallback, verdicts[0].fallback);
  }
  return verdicts[0].fallback;
}

void expect_exact(const std::string& policy, Collective collective, DType type, int P, double unit,
                  double most) {
  SCOPED_TRACE(testing::Message() << policy << " " << name_of(collective) << " " << name_of(type) << " P "
                                  << P << " unit " << unit << " below " << most);
  Job job(collective, P, 20000, type, Pattern::steps, 3);
  set_multiples(job, unit, most);
  Ranks ranks(P, policy);
  ASSERT_EQ(fallback_of(ranks, collective, job), Fallback::none);
  for (int r = 0; r < P; ++r) EXPECT_TRUE(is_exact(job, r)) << r;
}

TEST(ExactSums, AreExactByEveryAlgorithm) {
  for (const Collective collective : sums)
    for (const AlgorithmInfo* algorithm : registered_algorithms()) {
      if (algorithm->collective != collective) continue;
      for (const char* more : {"", ",reduction=values", ",segments=3,same_bits=on"}) {
        const std::string policy = std::string("lossless,algorithm=") + algorithm->name + more;
        expect_exact(policy, collective, DType::f32, 3, 1, 255);
        expect_exact(policy, collective, DType::f64, 4, 0x1p-7, 0x1p30);
      }
    }
}

// The greatest integers whose sums are values, the greatest that frames hold, and units of all sizes.
TEST(ExactSums, AreExactUpToTheLimits) {
  for (const Collective collective : sums)
    for (const char* policy : {"lossless", "lossless,bits=exact,checksum=on", "lossless,on=input"}) {
      expect_exact(policy, collective, DType::f32, 4, 1, 4194303);
      expect_exact(policy, collective, DType::c64, 7, 0x1p-100, 2396745);
      expect_exact(policy, collective, DType::f64, 2, 1, 0x1p43 - 1);
      expect_exact(policy, collective, DType::f64, 5, 0x1p-900, 0x1p43 - 1);
      expect_exact(policy, collective, DType::c128, 3, 0x1p700, 1000);
    }
  expect_exact("lossless,nodes=on", Collective::allreduce, DType::f64, 4, 1, 1000);
}

// Units of the ranks differ, and the lowest counts.
TEST(ExactSums, AgreeOnTheUnit) {
  Job job(Collective::allreduce, 3, 20000, DType::f32, Pattern::steps, 3);
  set_multiples(job, 1, 200);
  job.inputs[1].set(777, 0.125);
  for (std::size_t i = 0; i < job.count(); ++i) job.inputs[2].set(i, 0);
  Ranks ranks(3, "lossless");
  EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::none);
  for (int r = 0; r < 3; ++r) EXPECT_TRUE(is_exact(job, r)) << r;
}

TEST(ExactSums, AreLeftToPlainMpiIfOneValueOfOneRankDoesNotFit) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const DType type : {DType::f32, DType::f64}) {
    const double greatest = type == DType::f32 ? 0x1p22 : 0x1p43;
    for (const double other : {-0.0, infinity, -infinity, std::nan(""), 0.1, 1e-40, greatest, -greatest}) {
      Job job(Collective::allreduce, 3, 20000, type, Pattern::steps, 3);
      set_multiples(job, 1, 200);
      job.inputs[2].set(13131, other);
      Ranks ranks(3, "lossless");
      EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::unsupported)
          << name_of(type) << other;
    }
  }
}

// Each rank's values fit, and the sum of all may need rounding.
TEST(ExactSums, AreLeftToPlainMpiIfTheSumMayNeedRounding) {
  Job job(Collective::allreduce, 5, 20000, DType::f32, Pattern::steps, 3);
  set_multiples(job, 1, 4194303);
  Ranks ranks(5, "lossless");
  EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::unsupported);
  job.inputs[0].set(0, 0.5);
  for (Values& values : job.inputs)
    for (std::size_t i = 1; i < values.count(); ++i) values.set(i, 4194303);
  EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::unsupported);
}

// A call that cannot be served costs the agreement that it costs for any values.
TEST(ExactSums, OfOtherValuesCostOneRoundOfAgreement) {
  Job job(Collective::allreduce, 2, 100000, DType::f32, Pattern::noisy, 3);
  Ranks ranks(2, "lossless");
  EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::unsupported);
  EXPECT_EQ(ranks.hub.transport(0).traffic().messages, 1u);
}

TEST(ExactSums, TakeFewBytes) {
  Job job(Collective::allreduce, 2, 100000, DType::f64, Pattern::steps, 3);
  set_multiples(job, 1, 255);
  Ranks ranks(2, "lossless");
  EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::none);
  EXPECT_GT(ranks.statistics(0).ratio(), 5);
}

TEST(ExactSums, HaveAHistoryToo) {
  Ranks ranks(2, "lossless,when=always,history=auto");
  Job job(Collective::allreduce, 2, 60000, DType::f64, Pattern::steps, 3);
  for (int call = 0; call < 4; ++call) {
    set_multiples(job, 0.5, 3000, 5);
    for (Values& values : job.inputs) values.set(static_cast<std::size_t>(100 * call), 1.5 * call);
    EXPECT_EQ(fallback_of(ranks, Collective::allreduce, job), Fallback::none);
    for (int r = 0; r < 2; ++r) EXPECT_TRUE(is_exact(job, r)) << call;
  }
}

}  // namespace
}  // namespace taut::test

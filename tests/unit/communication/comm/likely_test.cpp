// Tests of on=likely: the distribution of errors against the stated one (docs/error-model.md).
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

constexpr double E = 1e-3;

struct Spread {
  double within = 0;  // share of the results whose error is at most E
  double worst = 0;   // error, in E
};

// Returns the distribution of errors in the sum of P ranks' values.
Spread spread_of_sum(Job& job, const std::string& policy) {
  Ranks ranks(static_cast<int>(job.inputs.size()), policy);
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job)) {
    EXPECT_EQ(verdict.fallback, Fallback::none);
    EXPECT_EQ(verdict.status, Status::ok);
  }
  EXPECT_TRUE(job.same_bits());
  Spread spread;
  for (std::size_t i = 0; i < job.count(); ++i) {
    double exact = 0;
    for (const Values& input : job.inputs) exact += input.at(i);
    const double error = std::abs(job.outputs[0].at(i) - exact) / E;
    spread.within += error <= 1 ? 1 : 0;
    spread.worst = std::max(spread.worst, error);
  }
  spread.within /= static_cast<double>(job.count());
  return spread;
}

Job noisy(int P) { return {Collective::allreduce, P, 200000, DType::f64, Pattern::noisy, 11}; }

TEST(Likely, NinetyFivePercentOfASumAreWithinTheBound) {
  for (const int P : {2, 3, 4, 8, 17})
    for (const char* how : {"frames", "values"}) {
      SCOPED_TRACE(testing::Message() << P << " ranks by " << how);
      Job job = noisy(P);
      const Spread spread =
          spread_of_sum(job, std::string("abs:1e-3,on=likely,codec=planes,algorithm=ring,reduction=") + how);
      EXPECT_GE(spread.within, 0.953);
      EXPECT_LE(spread.within, 0.975);  // else bits are wasted
      EXPECT_LE(spread.worst, 0.867 * std::sqrt(P));
    }
}

TEST(Likely, NotOfWhatIsTheSameOnAllRanks) {
  Job job = noisy(4);
  for (Values& input : job.inputs) std::memcpy(input.slice().data, job.inputs[0].slice().data, job.bytes());
  const Spread spread = spread_of_sum(job, "abs:1e-3,on=likely,codec=planes");
  EXPECT_NEAR(spread.within, 0.577, 0.02);
  EXPECT_LE(spread.worst, 0.867 * 2);
}

// Tests C-Coll's claim for e = E/P, on=result: 2/3 sqrt(P) e with 95.44 %. The claim needs normal errors.
TEST(Likely, TwoThirdsOfTheRootWouldNeedNormalErrors) {
  Job job = noisy(16);
  Ranks ranks(16, "abs:1e-3,codec=planes");
  ranks.run(Collective::allreduce, job);
  double within = 0;
  for (std::size_t i = 0; i < job.count(); ++i) {
    double exact = 0;
    for (const Values& input : job.inputs) exact += input.at(i);
    within += std::abs(job.outputs[0].at(i) - exact) <= 2.0 / 3 * 4 * (E / 16) ? 1 : 0;
  }
  EXPECT_NEAR(within / static_cast<double>(job.count()), 0.755, 0.02);
}
}  // namespace
}  // namespace taut::test

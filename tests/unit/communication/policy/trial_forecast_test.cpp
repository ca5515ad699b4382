// Tests of the forecast of trials, whose numbers follow from the rules of the tuners.
#include "communication/policy/tuning/trial_forecast.hpp"

#include <gtest/gtest.h>

#include "communication/policy/tuning/overlap_tuner.hpp"

namespace taut {
namespace trial_forecast_test {

SteadyCalls calls(double number) {
  return {.calls = number, .plain_seconds = 10e-3, .coded_seconds = 1e-3, .predicted_seconds = 10e-3};
}

TEST(TrialForecast, CallsThatMayOverlapAreTriedAfterTheFirstPeriod) {
  SteadyCalls kind = calls(OverlapTuner::first_length);
  kind.overlap = true;
  EXPECT_EQ(plain_trials(kind), 0);
  kind.calls = 40;
  EXPECT_EQ(plain_trials(kind), OverlapTuner::trial_calls);
}

TEST(TrialForecast, BlockingCallsAreTriedAtTheSecondCallAndOnceTheTrialCostsLittle) {
  EXPECT_EQ(plain_trials(calls(1)), 0);
  EXPECT_EQ(plain_trials(calls(40)), 1);
  EXPECT_EQ(plain_trials(calls(200)), 1);
}

TEST(TrialForecast, TheShareOfManyCallsIsThatOfTheFirst) {
  const double few = plain_trials(calls(4096)), many = plain_trials(calls(4096e3));
  EXPECT_GT(few, 1);
  EXPECT_LT(few, 0.05 * 4096);
  EXPECT_DOUBLE_EQ(many, 1000 * few);
}

TEST(TrialForecast, SlowerCallsHaveNoTrials) {
  SteadyCalls kind = calls(1000);
  kind.coded_seconds = 20e-3;
  EXPECT_EQ(plain_trials(kind), 0);
  EXPECT_EQ(plain_trials(calls(0)), 0);
}

}  // namespace trial_forecast_test
}  // namespace taut

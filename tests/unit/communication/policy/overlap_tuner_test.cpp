#include "communication/policy/tuning/overlap_tuner.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace overlap_tuner_test {

constexpr std::size_t bytes = std::size_t{1} << 20;

// Simulated calls of one kind on one rank: seconds per byte of plain and compressed calls.
struct Simulation {
  double plain, coded;
  OverlapTuner tuner = {};
  double seconds = 0;
  int plain_calls = 0, agreements = 0;

  void run(int calls) {
    for (int i = 0; i < calls; ++i) one();
  }
  void one() {
    const PeriodPosition place = tuner.next();
    const Fallback why = place.opens() ? place.period->decide(Fallback::none, tuner.own()) : place.fallback();
    const double pace = why == Fallback::none ? coded : plain;
    (why == Fallback::none ? tuner.coded_times() : tuner.plain_times()).note(pace * bytes, bytes);
    seconds += pace;
    plain_calls += why != Fallback::none;
    agreements += place.opens() || why == Fallback::none;
  }
};

TEST(OverlapTuner, TheFirstPeriodTriesBoth) {
  Simulation calls{.plain = 1e-10, .coded = 3e-10};
  calls.run(OverlapTuner::first_length);
  EXPECT_EQ(calls.plain_calls, 0);
  calls.run(OverlapTuner::trial_calls);
  EXPECT_EQ(calls.plain_calls, OverlapTuner::trial_calls);
}

TEST(OverlapTuner, WherePlainMpiIsFasterTrialsAndAgreementsAreFew) {
  Simulation calls{.plain = 1e-10, .coded = 3e-10};
  calls.run(1000);
  EXPECT_LE(calls.seconds, 1.03 * 1000 * 1e-10);
  EXPECT_LE(calls.agreements, 20);
}

TEST(OverlapTuner, WhereCompressedCallsAreFasterTrialsAreFew) {
  Simulation calls{.plain = 8e-9, .coded = 1e-9};
  calls.run(1000);
  EXPECT_LE(calls.seconds, 1.03 * 1000 * 1e-9);
}

// Times that are measured at different moments do not compare if the load of the machine has changed.
TEST(OverlapTuner, OldTimesDoNotChangeTheWay) {
  Simulation calls{.plain = 1e-10, .coded = 8e-10};
  calls.run(4 + 3 + 16 + 3 - 5);
  calls.plain = 20e-10;
  calls.run(5);  // the last calls of the second period are disturbed
  calls.plain = 1e-10;
  calls.agreements = 0;
  calls.run(64 + 3 + 256);
  EXPECT_EQ(calls.agreements, 2 + OverlapTuner::trial_calls);
}

TEST(OverlapTuner, FollowsALinkThatChanges) {
  Simulation calls{.plain = 1e-10, .coded = 3e-10};
  calls.run(1000);
  calls.plain = 9e-10;
  calls.run(2000);
  calls.plain_calls = 0;
  calls.run(1000);
  EXPECT_LE(calls.plain_calls, OverlapTuner::trial_calls);
}

// A period without measured times is compressed, and tries plain MPI.
TEST(OverlapTuner, WithoutTimesCallsAreCompressed) {
  OverlapTuner tuner;
  std::vector<PeriodPosition> places;
  for (int i = 0; i < 7; ++i) places.push_back(tuner.next());
  ASSERT_TRUE(places[0].opens());
  EXPECT_EQ(places[0].period->decide(Fallback::none, {.coded = 1}), Fallback::none);
  for (std::size_t i = 1; i < places.size(); ++i) {
    EXPECT_FALSE(places[i].opens());
    EXPECT_EQ(places[i].fallback(), i < 4 ? Fallback::none : Fallback::trial);
  }
  EXPECT_TRUE(tuner.next().opens());
}

TEST(OverlapTuner, CallsFollowOneThatGainsNothing) {
  OverlapTuner tuner;
  const PeriodPosition first = tuner.next(), second = tuner.next();
  EXPECT_EQ(first.period->decide(Fallback::no_gain, {}), Fallback::no_gain);
  EXPECT_EQ(second.fallback(), Fallback::no_gain);
}

// The obstacle of a single call says nothing about the calls after it.
TEST(OverlapTuner, CallsDoNotFollowAnObstacleOfOne) {
  for (const Fallback why : {Fallback::type, Fallback::memory, Fallback::device}) {
    OverlapTuner tuner;
    const PeriodPosition first = tuner.next(), second = tuner.next();
    EXPECT_EQ(first.period->decide(why, {}), why);
    EXPECT_EQ(second.fallback(), Fallback::none);
  }
}

}  // namespace overlap_tuner_test
}  // namespace taut

// Promise: a series whose calls are slower with a history soon goes without, one that gains keeps it, and all
// ranks decide alike.
#include <gtest/gtest.h>

#include "communication/policy/tuning/history_trials.hpp"

namespace taut::test {
namespace history_trials_test {

constexpr std::size_t bytes = 1 << 20;

// Series on several ranks, whose calls take given times without a history and with one.
struct Sequence {
  explicit Sequence(std::size_t ranks) : trials(ranks) {}

  // Makes a call. Returns true if it refers to an earlier one.
  bool call(double alone, double referring, std::size_t period = 1, bool rooted = false) {
    bool against = false;
    HistoryTimes agreed{rooted ? 0.0F : 1e30F, rooted ? 0.0F : 1e30F};
    const auto merge = [&](float& all, float one) {
      all = rooted ? std::max(all, one) : std::min(all, one > 0 ? one : 1e30F);
    };
    for (HistoryTrials& rank : trials) {
      against |= rank.next({});
      merge(agreed.without_history, rank.own().without_history);
      merge(agreed.with_history, rank.own().with_history);
    }
    if (agreed.without_history == 1e30F) agreed.without_history = 0;
    if (agreed.with_history == 1e30F) agreed.with_history = 0;
    bool with = calls++ > 0 && !against;  // the first call has no earlier one
    if (with) {
      std::size_t votes = 0;
      for (HistoryTrials& rank : trials) votes += rank.keeps_history(agreed);
      EXPECT_TRUE(votes == 0 || votes == trials.size());
      with = votes > 0;
    }
    const bool refers = with && states >= period;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const double slower = 1 + 0.01 * static_cast<double>(i);  // ranks measure different times
      if (refers)
        trials[i].record_with(slower * referring, bytes, {});
      else if (with)
        trials[i].record_without_state(period);
      else
        trials[i].record_without(slower * alone, bytes, {});
    }
    states = with ? states + 1 : 0;
    seconds += refers ? referring : alone;
    return refers;
  }

  int referring_among(int n, double alone, double referring, std::size_t period = 1, bool rooted = false) {
    int found = 0;
    for (int i = 0; i < n; ++i) found += call(alone, referring, period, rooted);
    return found;
  }

  std::vector<HistoryTrials> trials;
  std::size_t states = 0;
  int calls = 0;
  double seconds = 0;
};

TEST(HistoryTrials, ASeriesThatLosesGoesWithoutAfterAFewCalls) {
  for (const std::size_t ranks : {1U, 2U, 5U}) {
    for (const bool rooted : {false, true}) {
      Sequence series(ranks);
      EXPECT_LE(series.referring_among(10, 0.9e-3, 1.1e-3, 1, rooted), 3);
      EXPECT_EQ(series.referring_among(50, 0.9e-3, 1.1e-3, 1, rooted), 0);
    }
  }
}

// The first call with a history also allocates memory, and any call may be disturbed.
TEST(HistoryTrials, OneSlowCallDecidesNothing) {
  Sequence series(3);
  while (!series.call(3e-3, 100e-3)) {
  }
  EXPECT_EQ(series.referring_among(50, 3e-3, 1e-3), 50);
}

TEST(HistoryTrials, LossesStayAFewPerCent) {
  for (const double factor : {1.02, 1.3, 2.0, 4.4, 30.0}) {
    Sequence series(2);
    constexpr int calls = 5000;
    series.referring_among(calls, 1e-3, factor * 1e-3);
    EXPECT_LT(series.seconds, calls * 1e-3 * 1.03) << factor;
  }
}

TEST(HistoryTrials, ASeriesThatGainsKeepsItsHistory) {
  for (const double factor : {1.05, 2.0, 10.0, 58.0}) {
    for (const std::size_t period : {1U, 4U, 36U}) {
      Sequence series(3);
      constexpr int calls = 5000;
      const int referring = series.referring_among(calls, factor * 1e-3, 1e-3, period);
      EXPECT_GE(referring, calls * 9 / 10) << factor << " " << period;
      EXPECT_LT(series.seconds, calls * 1e-3 * (period == 36 ? 2 : 1.05) + 80 * factor * 1e-3) << factor;
    }
  }
}

// A series follows the link: on a faster one, coding counts for more, and on a slower one the bytes.
TEST(HistoryTrials, ASeriesFollowsItsTimes) {
  Sequence series(2);
  series.referring_among(100, 3e-3, 1e-3);
  EXPECT_LE(series.referring_among(300, 0.5e-3, 0.8e-3), 210);
  EXPECT_EQ(series.referring_among(50, 0.5e-3, 0.8e-3), 0);
  EXPECT_GT(series.referring_among(3000, 3e-3, 1e-3), 1500);
}

// Calls that leave states, to which no later call refers, cost as well.
TEST(HistoryTrials, StatesThatNoCallRefersToAreNotLeftForLong) {
  HistoryTrials trials;
  int left = 0;
  for (int call = 0; call < 1000; ++call) {
    if (trials.next({}))
      trials.record_without(1e-3, bytes, {});
    else if (++left; trials.keeps_history({}))
      trials.record_without_state(1);
  }
  EXPECT_LT(left, 50);
}

// Values that do not compress alone are served with a history at once: the tuner compares with plain MPI.
TEST(HistoryTrials, CallsThatDoNotCompressAloneAreNotTimed) {
  HistoryTrials trials;
  EXPECT_TRUE(trials.next({}));
  trials.record_no_gain(false);
  for (int call = 0; call < 3000; ++call) {
    EXPECT_FALSE(trials.next({})) << call;
    EXPECT_TRUE(trials.keeps_history(trials.own()));
    trials.record_with(1e-3, bytes, {});
  }
}

// A call with a history that is not compressed, because it gains too little on some rank.
TEST(HistoryTrials, ADeclinedCallWithAHistoryLeavesComparisonsAlone) {
  for (const bool with_history : {true, false}) {
    Sequence series(1);
    EXPECT_EQ(series.referring_among(20, 2e-3, 1e-3), 16);
    series.trials[0].record_no_gain(with_history);
    const int referring = series.referring_among(300, 2e-3, 1e-3);
    EXPECT_EQ(referring < 300, with_history) << "compared anew from time to time";
  }
}

// Another coding has other times.
TEST(HistoryTrials, AnotherCodingIsComparedAnew) {
  Sequence series(1);
  series.referring_among(20, 1e-3, 2e-3);
  EXPECT_TRUE(series.trials[0].next({}));
  EXPECT_GT(series.trials[0].own().without_history, 0);
  EXPECT_TRUE(series.trials[0].next({.codec = MeasuredChoice::Codec::fast}));
  EXPECT_EQ(series.trials[0].own().without_history, 0);
}

}  // namespace history_trials_test
}  // namespace taut::test

#include "communication/policy/tuning/autotuner.hpp"

#include <gtest/gtest.h>

#include <random>

namespace taut {
namespace route_trials_test {

const Route ring{find_algorithm(Collective::allreduce, "ring")},
    two_shot{find_algorithm(Collective::allreduce, "two_shot")},
    ring_by_nodes{find_algorithm(Collective::allreduce, "ring"), true};

// Simulated calls whose time depends on the algorithm, plus or minus `noise`.
class Calls {
 public:
  explicit Calls(double noise) : noise_(noise) {}

  void run(double by_ring, double by_two_shot, double by_nodes, int n) {
    for (int i = 0; i < n; ++i) {
      const Route taken = trials.next().algorithm != nullptr ? trials.next() : ring;
      const Timing timing{.coded = usual_.median(), .tried = trials.tried_times().median()};
      if (trials.update(taken, timing, usual_.calls(), all_)) usual_ = trials.tried_times();
      double time = taken == ring ? by_ring : taken == two_shot ? by_two_shot : by_nodes;
      time *= 1 + noise_ * std::uniform_real_distribution<double>(-1, 1)(random_);
      seconds += time;
      if (trials.is_tried(taken)) trials.tried_times().note(time, 1);
      if (trials.is_usual(taken)) usual_.note(time, 1);
    }
  }
  RouteTrials trials;
  double seconds = 0;

 private:
  double noise_;
  const Route all_[3] = {ring_by_nodes, ring, two_shot};
  RecentTimes usual_;
  std::mt19937_64 random_{3};
};

TEST(RouteTrials, TheFastestBecomesTheUsualOne) {
  for (const double noise : {0.0, 0.2}) {
    Calls calls(noise);
    calls.run(1.4, 1, 3, 2000);
    EXPECT_TRUE(calls.trials.is_usual(two_shot));
    EXPECT_LE(calls.seconds, 1.06 * 2000);
  }
}

TEST(RouteTrials, WhereTheFirstIsTheFastestTrialsCostLittle) {
  Calls calls(0.1);
  calls.run(1, 3, 3, 2000);
  EXPECT_TRUE(calls.trials.is_usual(ring));
  EXPECT_LE(calls.seconds, 1.03 * 2000);
}

TEST(RouteTrials, FollowsALinkThatChanges) {
  Calls calls(0.1);
  calls.run(1, 2, 2, 500);
  calls.run(2, 2, 1, 3000);
  EXPECT_TRUE(calls.trials.is_usual(ring_by_nodes));
}

TEST(RouteTrials, WithoutAnotherNoneIsTried) {
  RouteTrials trials;
  for (int i = 0; i < 100; ++i) trials.update(ring, {.coded = 1}, RecentTimes::capacity, std::span(&ring, 1));
  EXPECT_EQ(trials.next(), ring);
}

}  // namespace route_trials_test
}  // namespace taut

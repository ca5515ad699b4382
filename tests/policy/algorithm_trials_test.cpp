#include "policy/algorithm_trials.hpp"

#include <gtest/gtest.h>

#include <random>

namespace taut {
namespace {

const AlgorithmInfo *const ring = find_algorithm(Collective::allreduce, "ring"),
                           *const two_shot = find_algorithm(Collective::allreduce, "two_shot"),
                           *const doubling = find_algorithm(Collective::allreduce, "recursive_doubling");

// Calls that take their time by algorithm, give or take `noise`.
class Calls {
 public:
  explicit Calls(double noise) : noise_(noise) {}

  void run(double by_ring, double by_two_shot, double by_doubling, int n) {
    for (int i = 0; i < n; ++i) {
      const AlgorithmInfo* const taken = trials.next() != nullptr ? trials.next() : ring;
      const Pace pace{.coded = usual_.typical(), .other = trials.tried_calls().typical()};
      if (trials.learn(taken, pace, usual_.calls(), all_)) usual_ = trials.tried_calls();
      double time = taken == ring ? by_ring : taken == two_shot ? by_two_shot : by_doubling;
      time *= 1 + noise_ * std::uniform_real_distribution<double>(-1, 1)(random_);
      seconds += time;
      if (trials.is_tried(taken)) trials.tried_calls().note(time, 1);
      if (trials.is_usual(taken)) usual_.note(time, 1);
    }
  }
  AlgorithmTrials trials;
  double seconds = 0;

 private:
  double noise_;
  const AlgorithmInfo* const all_[3] = {doubling, ring, two_shot};
  Recent usual_;
  std::mt19937_64 random_{3};
};

TEST(AlgorithmTrials, TheFastestBecomesTheUsualOne) {
  for (const double noise : {0.0, 0.2}) {
    Calls calls(noise);
    calls.run(1.4, 1, 3, 2000);
    EXPECT_TRUE(calls.trials.is_usual(two_shot));
    EXPECT_LE(calls.seconds, 1.05 * 2000);
  }
}

TEST(AlgorithmTrials, WhereTheFirstIsTheFastestTrialsCostLittle) {
  Calls calls(0.1);
  calls.run(1, 3, 3, 2000);
  EXPECT_TRUE(calls.trials.is_usual(ring));
  EXPECT_LE(calls.seconds, 1.03 * 2000);
}

TEST(AlgorithmTrials, FollowsALinkThatChanges) {
  Calls calls(0.1);
  calls.run(1, 2, 2, 500);
  calls.run(2, 2, 1, 3000);
  EXPECT_TRUE(calls.trials.is_usual(doubling));
}

TEST(AlgorithmTrials, WithoutAnotherNoneIsTried) {
  AlgorithmTrials trials;
  for (int i = 0; i < 100; ++i) trials.learn(ring, {.coded = 1}, Recent::most, std::span(&ring, 1));
  EXPECT_EQ(trials.next(), ring);
}

}  // namespace
}  // namespace taut

#include "communication/policy/tuning/autotuner.hpp"

#include <gtest/gtest.h>

#include <random>

namespace taut {
namespace autotuner_test {

constexpr std::size_t bytes = std::size_t{1} << 20;

// A simulation of calls of one kind, with given times of compressed calls, plain calls and samples.
struct World {
  double plain, coded;   // seconds for a byte
  double wait, ratio;    // the link's share of `coded`; bytes of values / bytes of frames
  double agreement = 0;  // in units of `plain`
  double noise = 0;      // noise of all times
  bool gains = true;     // else the agreement finds no gain
};

struct Tally {
  double seconds = 0;  // seconds for a byte, over all calls
  int plain = 0, coded = 0;
  int agreements = 0;   // with samples
  int comparisons = 0;  // agreements on times alone
};

class Calls {
 public:
  void run(const World& world, int calls) {
    for (int i = 0; i < calls; ++i) one(world);
  }
  Tally tally;
  Autotuner autotuner;

 private:
  double noisy(double seconds, double noise) {
    return seconds * (1 + noise * std::uniform_real_distribution<double>(-1, 1)(random_));
  }
  void one(const World& w) {
    Fallback course = autotuner.next();
    if (course == Fallback::none && autotuner.is_trying_plain()) {
      ++tally.comparisons;
      course = autotuner.continue_trial(autotuner.own());
    }
    if (course == Fallback::none) {
      ++tally.agreements;
      tally.seconds += w.agreement * w.plain;
      if (!w.gains) {
        autotuner.update({.fallback = Fallback::no_gain, .timing = autotuner.own()});
        autotuner.record(Outcome::declined, w.agreement * w.plain * bytes, bytes);
        course = Fallback::no_gain;
      } else {
        course = autotuner.update({.timing = autotuner.own()});
      }
    }
    const double seconds = noisy(course == Fallback::none ? w.coded : w.plain, w.noise);
    tally.seconds += seconds;
    ++(course == Fallback::none ? tally.coded : tally.plain);
    if (course == Fallback::none)
      autotuner.record(Outcome::compressed, seconds * bytes, bytes, {}, seconds * w.wait * w.ratio * bytes);
    else if (autotuner.needs_time())
      autotuner.record(Outcome::plain, seconds * bytes, bytes);
  }
  std::mt19937_64 random_{7};
};

// Whatever a plain call is predicted to take.
TEST(Autotuner, TheSecondCallIsPlain) {
  for (const double ratio : {1.0, 100.0}) {
    Calls calls;
    calls.run({.plain = 1e-9, .coded = 5e-9, .wait = 0.9, .ratio = ratio}, 2);
    EXPECT_EQ(calls.tally.plain, 1);
  }
}

// Routes of a communicator with several ranks a node, whose calls take these times; plain MPI takes 1.
struct RouteTimes {
  double flat, by_nodes;
};

// Serves calls whose first route is by nodes. Returns how many went each way: plain, flat, by nodes.
std::array<int, 3> served(const RouteTimes& times, int calls) {
  const AlgorithmInfo* const ring = find_algorithm(Collective::allreduce, "ring");
  const Route by_nodes{ring, true}, flat{ring, false};
  Autotuner tuner;
  std::array<int, 3> ways{};
  for (int i = 0; i < calls; ++i) {
    Fallback why = tuner.next();
    if (why == Fallback::none && tuner.is_trying_plain()) why = tuner.continue_trial(tuner.own());
    const Route route = tuner.route().algorithm != nullptr ? tuner.route() : by_nodes;
    const Route others[] = {route == flat ? by_nodes : flat, route};
    if (why == Fallback::none) why = tuner.update({.timing = tuner.own(), .route = route, .others = others});
    ++ways[why != Fallback::none ? 0 : route == flat ? 1 : 2];
    if (why != Fallback::none)
      tuner.record(Outcome::plain, 1, 1);
    else
      tuner.record(Outcome::compressed, route == flat ? times.flat : times.by_nodes, 1, route, 1);
  }
  return ways;
}

TEST(Autotuner, AFewCallsInARowThatTryAHistoryAreLeftOut) {
  Autotuner autotuner;
  int left_out = 0;
  for (int i = 0; i < 20; ++i) left_out += autotuner.skips_record(true);
  EXPECT_EQ(left_out, 8);
  EXPECT_FALSE(autotuner.skips_record(false));
  EXPECT_TRUE(autotuner.skips_record(true));
}

TEST(Autotuner, TheFastestOfThreeWaysIsKnownAfterTenCalls) {
  for (const double best : {0.3, 0.9})
    for (const double other : {0.95, 1.5, 4.0}) {
      EXPECT_GE(served({.flat = best, .by_nodes = other}, 100)[1], 80) << best << " " << other;
      EXPECT_GE(served({.flat = other, .by_nodes = best}, 100)[2], 80) << best << " " << other;
    }
  for (const double slow : {1.1, 1.5, 3.0}) EXPECT_GE(served({slow, slow}, 100)[0], 80) << slow;
}

// One way is far slower than plain MPI, the other one a little.
TEST(Autotuner, BothWaysAreTriedAgainAfterPlainMpiHasWon) {
  const std::array<int, 3> ways = served({.flat = 4.7, .by_nodes = 1.2}, 2000);
  EXPECT_GE(ways[1], 4);
  EXPECT_GE(ways[2], 6);
  EXPECT_LE(ways[1], 40);
}

TEST(Autotuner, WhatGainsNothingIsLeftAlone) {
  Calls calls;
  calls.run({.plain = 1e-9, .coded = 5e-9, .wait = 0.5, .ratio = 1, .agreement = 0.5, .gains = false}, 10000);
  EXPECT_EQ(calls.tally.coded, 0);
  EXPECT_LE(calls.tally.agreements, 9 + 10000 / 256);
  EXPECT_LE(calls.tally.seconds, 1.003 * 10000 * 1e-9);
}

// Shared memory: coding is five times slower than copying.
TEST(Autotuner, WhereMpiIsFasterTrialsCostLittle) {
  for (const double noise : {0.0, 0.3}) {
    Calls calls;
    calls.run({.plain = 1e-10, .coded = 5e-10, .wait = 0.1, .ratio = 4, .agreement = 0.2, .noise = noise},
              10000);
    EXPECT_LE(calls.tally.coded, 10 + 10000 / 256);
    EXPECT_LE(calls.tally.seconds, 1.025 * 10000 * 1e-10);
  }
}

// Small messages in shared memory: a sample or a coded call takes as long as tens of plain ones.
TEST(Autotuner, TheMoreATrialCostsTheLaterItIsRepeated) {
  for (const bool gains : {true, false}) {
    Calls calls;
    const World world{.plain = 1e-10,
                      .coded = 3e-9,
                      .wait = 0.1,
                      .ratio = 4,
                      .agreement = gains ? 5.0 : 100,
                      .gains = gains};
    calls.run(world, 1000);
    EXPECT_LE(calls.tally.seconds, 1.6 * 1000 * world.plain);
    calls.run(world, 99000);
    EXPECT_LE(calls.tally.seconds, 1.015 * 100000 * world.plain);
    calls.run(world, 900000);
    EXPECT_LE(calls.tally.seconds, 1.006 * 1000000 * world.plain);
  }
}

// Trials of plain MPI sample nothing, after the call that begins the first one.
TEST(Autotuner, ATrialTakesThreeCallsAndTwoComparisons) {
  const World close{.plain = 1.1e-9, .coded = 1e-9, .wait = 0.3, .ratio = 3};
  Calls calls;
  calls.run(close, 4);  // a compressed call, then the trial
  EXPECT_EQ(calls.tally.plain, 3);
  EXPECT_EQ(calls.tally.agreements, 2);
  EXPECT_EQ(calls.tally.comparisons, 1);
  calls.run(close, 1);
  EXPECT_EQ(calls.tally.coded, 2);
  EXPECT_EQ(calls.tally.comparisons, 2);
  while (calls.tally.plain == 3) calls.run(close, 1);  // until the next trial
  const int samples = calls.tally.agreements;
  calls.run(close, 2);
  EXPECT_EQ(calls.tally.plain, 6);
  EXPECT_EQ(calls.tally.agreements, samples);
  EXPECT_EQ(calls.tally.comparisons, 3);
}

TEST(Autotuner, ATrialEndsWithItsFirstCallIfMpiIsClearlySlower) {
  Calls calls;
  calls.run({.plain = 1.4e-9, .coded = 1e-9, .wait = 0.3, .ratio = 3}, 10);
  EXPECT_EQ(calls.tally.plain, 1);
  EXPECT_EQ(calls.tally.comparisons, 1);
}

// A slow link: a plain call takes as long as seven compressed ones.
TEST(Autotuner, WhereFramesAreFarAheadMpiIsTriedSeldom) {
  Calls calls;
  const World world{.plain = 8e-9, .coded = 1.2e-9, .wait = 0.8, .ratio = 8, .noise = 0.3};
  calls.run(world, 120);
  EXPECT_EQ(calls.tally.plain, 1);  // the second call
  calls.run(world, 9880);
  EXPECT_LE(calls.tally.seconds, 1.03 * 10000 * world.coded);
}

// Shared memory: ranks wait for each other's encoding, which looks like a slow link. The first plain calls,
// for which MPI allocates memory, are slow.
TEST(Autotuner, APredictionThatIsFarTooLongIsCorrected) {
  Calls calls;
  const World warm{.plain = 0.5e-9, .coded = 1e-9, .wait = 0.45, .ratio = 25, .noise = 0.3};
  World cold = warm;
  cold.plain = 3e-9;
  while (calls.tally.plain < 2) calls.run(cold, 1);
  calls.tally = {};
  calls.run(warm, 1000);
  EXPECT_LE(calls.tally.coded, 250);
}

// Times that scatter more than they differ cost a part of that difference.
TEST(Autotuner, WhereOneIsALittleAheadItIsUsed) {
  for (const double noise : {0.0, 0.2}) {
    Calls frames, mpi;
    frames.run({.plain = 1.2e-9, .coded = 1e-9, .wait = 0.3, .ratio = 3, .noise = noise}, 10000);
    EXPECT_GT(frames.tally.coded, 9600);
    EXPECT_LE(frames.tally.seconds, 1.01 * 10000 * 1e-9);
    mpi.run({.plain = 1e-9, .coded = 1.2e-9, .wait = 0.3, .ratio = 3, .noise = noise}, 10000);
    EXPECT_GT(mpi.tally.plain, noise > 0 ? 9000 : 9700);
    EXPECT_LE(mpi.tally.seconds, 1.025 * 10000 * 1e-9);
  }
}

TEST(Autotuner, ACallThatWasDisturbedDoesNotCount) {
  Calls calls;
  const World quiet{.plain = 1.3e-9, .coded = 1e-9, .wait = 0.3, .ratio = 3};
  World disturbed = quiet;
  disturbed.coded = 20e-9;
  calls.run(quiet, 100);
  calls.tally = {};
  calls.run(disturbed, 1);
  calls.run(quiet, 100);
  EXPECT_LE(calls.tally.plain, 8);
}

TEST(Autotuner, FollowsALinkThatChanges) {
  const World fast{.plain = 1e-10, .coded = 5e-10, .wait = 0.1, .ratio = 8};
  const World slow{.plain = 8e-9, .coded = 1.5e-9, .wait = 0.8, .ratio = 8};
  Calls calls;
  calls.run(fast, 1000);
  calls.tally = {};
  calls.run(slow, 1000);
  EXPECT_LE(calls.tally.plain, 2 * static_cast<int>(Autotuner::max_backoff));
  calls.tally = {};
  calls.run(fast, 1000);
  EXPECT_LE(calls.tally.coded, 60);
}

}  // namespace autotuner_test
}  // namespace taut

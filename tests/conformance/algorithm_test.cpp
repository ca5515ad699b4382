// Tests of every registered algorithm, on loopback with random schedules.
#include <gtest/gtest.h>

#include <map>

#include "support/cost.hpp"
#include "support/damage.hpp"
#include "support/group.hpp"
#include "support/honest.hpp"
#include "support/places.hpp"
#include "support/subjects.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace algorithm_test {

constexpr double codec_bound = 1e-3;
// Returns the error that one coding of the jobs' values at a rate stays below, for each rank in a partial
// sum.
constexpr double error_at(Bound rate) { return rate.value < 16 ? 0.1 : 0.03; }

struct Case {
  const AlgorithmInfo* algorithm;
  const CodecInfo* codec;
  Bound bound;
  Arithmetic how;

  bool at_a_rate() const { return bound.kind == Bound::Kind::rate; }
};

// Returns an absolute bound, or none: only under these kinds has the result a bound.
Bound bound_for(const CodecInfo& codec) {
  return codec.serves(DType::f32, Bound::Kind::absolute) ? Bound(codec_bound) : Bound();
}

// Returns a rate that the codec has: 16 bits, or 8 by a codec of few rates.
Bound rate_for(const CodecInfo& codec) {
  const Bound usual{Bound::Kind::rate, 16};
  return can_be_made(codec, DType::f32, {.bound = usual}) ? usual : Bound(Bound::Kind::rate, 8);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    for (const CodecInfo* codec : registered_codecs()) {
      for (const Bound bound : {bound_for(*codec), rate_for(*codec)}) {
        if (!codec->serves(DType::f32, bound.kind)) continue;
        all.push_back({algorithm, codec, bound, Arithmetic::values});
        if (reduces(algorithm->collective) && algorithm->may_add_frames() &&
            codec->make({.bound = bound})->contract().adds_frames)
          all.push_back({algorithm, codec, bound, Arithmetic::frames});
      }
    }
  }
  return all;
}

std::string name_of_case(const Case& c) {
  return std::string(name_of(c.algorithm->collective)) + "_" + c.algorithm->name + "_" + c.codec->name +
         (c.at_a_rate() ? "_rate_" : "_") + name_of(c.how);
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }
std::string name_of_test(const testing::TestParamInfo<Case>& test) { return name_of_case(test.param); }

class AlgorithmConformance : public testing::TestWithParam<Case> {
 protected:
  const AlgorithmInfo& algorithm = *GetParam().algorithm;
  const Arithmetic how = GetParam().how;
  const std::unique_ptr<Codec> codec = GetParam().codec->make({.bound = GetParam().bound, .checksum = true});
  const bool exact = codec->contract().bound.exact();

  double allowed(int P) const {
    const double once = GetParam().at_a_rate() ? error_at(GetParam().bound) * P : exact ? 0 : codec_bound;
    return once * algorithm.growth(P, how);
  }
  bool same_bits(const Job& job) const {
    const bool promised = !algorithm.recodes || codec->contract().idempotent;
    return !promised || job.same_bits();
  }
  int roundings(int P) const { return how == Arithmetic::values ? 2 * P : 0; }
};

using Counts = std::vector<std::size_t>;
Counts awkward_counts(int P) {
  const auto p = static_cast<std::size_t>(P);
  return {0, 1, p - 1, p, p + 1, 1003};
}

// ---- Results

constexpr DType reals[] = {DType::f32, DType::f64,  DType::f16, DType::f64,
                           DType::c64, DType::bf16, DType::f32, DType::c128};

TEST_P(AlgorithmConformance, ResultBoundAndSameBits) {
  std::uint64_t seed = 1;
  for (int P = 1; P <= 17; ++P) {
    for (const std::size_t count : awkward_counts(P)) {
      for (const int segments : {1, 3}) {
        const DType type = reals[++seed % std::size(reals)];
        if (!GetParam().codec->serves(type, codec->contract().bound.kind) || !is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << "P " << P << " count " << count << " segments " << segments << " seed " << seed);
        Job job(algorithm.collective, P, count, type, Pattern::noisy, seed, Reduction::sum, P / 2,
                seed % 4 == 1);
        LoopbackHub hub(P, {.seed = seed, .random_order = true});
        for (const CallCounters& counters : run_algorithm(hub, algorithm, *codec, how, segments, job))
          ASSERT_EQ(counters.status, Status::ok) << describe(counters.status);
        for (int r = 0; r < P; ++r) ASSERT_EQ(job.check(r, allowed(P), roundings(P)), "");
        ASSERT_TRUE(same_bits(job) && job.inputs_stayed());
      }
    }
  }
}

class BoundedAlgorithm : public AlgorithmConformance {};
class AddingAlgorithm : public AlgorithmConformance {};

// The declared growth of the error is not vacuous: if all errors have one sign, some result comes near it.
TEST_P(BoundedAlgorithm, BoundIsAttainedWithin10x) {
  double worst = 0;
  for (const int P : {2, 3, 4, 8}) {
    Job job(algorithm.collective, P, 4096 * static_cast<std::size_t>(P), DType::f64, Pattern::noisy, 5);
    LoopbackHub hub(P);
    run_algorithm(hub, algorithm, *codec, how, 1, job);
    for (int r = 0; r < P; ++r) ASSERT_EQ(job.check(r, allowed(P), roundings(P), &worst), "");
  }
  EXPECT_GT(worst, 0.1);
  EXPECT_LE(worst, 1.0001);
}

// Returns the sums over the first `ranks` ranks, by an allreduce of frames.
Values summed(const Codec& codec, int ranks, std::size_t count, DType type, Pattern pattern,
              std::uint64_t seed) {
  const AlgorithmInfo& reference = *find_algorithm(Collective::allreduce, "recursive_doubling");
  Job whole(Collective::allreduce, ranks, count, type, pattern, seed);
  LoopbackHub hub(ranks);
  run_algorithm(hub, reference, codec, Arithmetic::frames, 1, whole);
  return std::move(whole.outputs[0]);
}

// A sum by frames depends neither on the algorithm nor on how it cuts the message into segments. A prefix is
// the sum of an allreduce over its ranks.
TEST_P(AddingAlgorithm, SameBitsByAnyAlgorithmAndSegments) {
  std::uint64_t seed = 0;
  for (const Pattern pattern : {Pattern::noisy, Pattern::sparse, Pattern::wild}) {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::c64}) {
      if (!GetParam().codec->serves(type, codec->contract().bound.kind)) continue;
      const int P = 2 + static_cast<int>(++seed % 4);
      if (!is_sampled()) continue;
      std::map<std::size_t, Values> sums;  // by the number of ranks
      for (const int segments : {1, 2, 7}) {
        Job job(algorithm.collective, P, 20011, type, pattern, seed);
        LoopbackHub hub(P);
        run_algorithm(hub, algorithm, *codec, how, segments, job);
        for (int r = 0; r < P; ++r) {
          const auto rank = static_cast<std::size_t>(r);
          const Range range = job.defined(r);
          const std::size_t addends = job.addends(r);
          if (addends > 0 && !sums.contains(addends))
            sums[addends] = summed(*codec, static_cast<int>(addends), 20011, type, pattern, seed);
          const std::size_t parts = components_of(type);
          for (std::size_t i = range.first * parts; i < (range.first + range.count) * parts; ++i)
            ASSERT_EQ(job.outputs[rank].at(i), sums[addends].at(i))
                << "P " << P << " segments " << segments << " seed " << seed << " value " << i;
        }
      }
    }
  }
}

class PrefixAlgorithm : public AlgorithmConformance {
 protected:
  std::vector<Values> results(const AlgorithmInfo& by, int P, Reduction op) const {
    Job job(by.collective, P, 5003, DType::f64, Pattern::noisy, 7, op);
    LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(P), .random_order = true});
    run_algorithm(hub, by, *codec, how, 2, job);
    return std::move(job.outputs);
  }
};

// The bits of a prefix depend on the values of its ranks alone, and not on the number of ranks behind them.
TEST_P(PrefixAlgorithm, SameBitsForAnyNumberOfRanksBehind) {
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
    if (how == Arithmetic::frames && op != Reduction::sum) continue;
    const std::vector<Values> all = results(algorithm, 11, op);
    for (std::size_t P = 1; P < all.size(); ++P) {
      const std::vector<Values> some = results(algorithm, static_cast<int>(P), op);
      for (std::size_t r = 0; r < P; ++r) ASSERT_TRUE(some[r] == all[r]) << "rank " << r << " of " << P;
    }
  }
}

TEST_P(PrefixAlgorithm, ExclusivePrefixesAreTheInclusiveOnesOfTheRankBefore) {
  const AlgorithmInfo* const inclusive = find_algorithm(Collective::scan, algorithm.name);
  const AlgorithmInfo* const exclusive = find_algorithm(Collective::exscan, algorithm.name);
  ASSERT_TRUE(inclusive != nullptr && exclusive != nullptr);
  EXPECT_EQ(inclusive->growth(7, how), exclusive->growth(7, how));
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
    if (how == Arithmetic::frames && op != Reduction::sum) continue;
    const std::vector<Values> to = results(*inclusive, 7, op), before = results(*exclusive, 7, op);
    for (std::size_t r = 1; r < 7; ++r) ASSERT_TRUE(before[r] == to[r - 1]) << "rank " << r;
  }
}

class ComparingAlgorithm : public AlgorithmConformance {};

// The result is within the bound of one encoding if the codec is idempotent, else within the bound of a sum.
TEST_P(ComparingAlgorithm, MinimaAndMaximaStayWithinTheirBound) {
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    for (int P = 1; P <= 9; ++P) {
      Job job(algorithm.collective, P, 1003, DType::f32, Pattern::noisy, static_cast<std::uint64_t>(P), op);
      LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(P), .random_order = true});
      run_algorithm(hub, algorithm, *codec, how, 1, job);
      for (int r = 0; r < P; ++r) {
        const double once = exact ? 0 : codec_bound;
        ASSERT_EQ(job.check(r, codec->contract().idempotent ? once : allowed(P), 0), "");
      }
      ASSERT_TRUE(same_bits(job));
    }
  }
}

// ---- Declared cost

TEST_P(AlgorithmConformance, CostIsAsDeclared) {
  for (int P = 1; P <= 17; ++P) {
    for (const int segments : {1, 3}) {
      SCOPED_TRACE(testing::Message() << "P " << P << " segments " << segments);
      const auto parts = static_cast<std::size_t>(algorithm.parts(P));
      const std::size_t count = 12 * parts * static_cast<std::size_t>(P);
      Job job(algorithm.collective, P, count, DType::f32, Pattern::smooth, 1);
      LoopbackHub hub(P, {.record = true});
      const Measured m = measure(hub, run_algorithm(hub, algorithm, *codec, how, segments, job));
      const Cost declared = algorithm.cost(P);
      if (segments == 1) {
        EXPECT_EQ(m.cost.steps, declared.steps);
      }
      EXPECT_EQ(m.cost.messages, segments * declared.messages);
      EXPECT_EQ(m.cost.messages_a_rank, segments * declared.messages_a_rank);
      EXPECT_EQ(m.cost.encodes, segments * declared.encodes);
      EXPECT_EQ(m.cost.combines, segments * declared.combines);
      EXPECT_EQ(m.cost.decodes, segments * declared.decodes);
      if (codec->contract().fixed_size) {
        const auto frames = static_cast<std::size_t>(declared.frames * segments);
        EXPECT_EQ(m.bytes,
                  frames * codec->max_bytes(DType::f32, count / parts / static_cast<std::size_t>(segments)));
      }
    }
  }
}

// Some segments have no values, and ranks may keep their values in the memory of the result.
TEST_P(AlgorithmConformance, CostIsAsDeclaredForFewValues) {
  constexpr int segments = 5;
  for (const int P : {1, 2, 3, 6}) {
    for (const std::size_t count : {0, 1, 2, P - 1, P, 4 * P, 7 * P}) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(testing::Message() << "P " << P << " count " << count << " in place " << in_place);
        Job job(algorithm.collective, P, count, DType::f32, Pattern::smooth, 1, Reduction::sum, P / 2,
                in_place);
        std::vector<std::size_t> kept;
        for (int r = 0; r < P; ++r)
          if (has_input_in_result(algorithm.collective, job.operands(r), r, P))
            kept.push_back(job.owned(r).count);
        LoopbackHub hub(P);
        const Cost cost = cost_of(run_algorithm(hub, algorithm, *codec, how, segments, job));
        const Cost declared = algorithm.cost(P);
        EXPECT_EQ(cost.messages, segments * declared.messages);
        EXPECT_EQ(cost.encodes, segments * declared.encodes);
        EXPECT_EQ(cost.combines, segments * declared.combines);
        EXPECT_EQ(cost.decodes, segments * declared.decodes - saved_decodings(declared, P, segments, kept));
      }
    }
  }
}

// ---- Failures

TEST_P(AlgorithmConformance, DamagedMessagesAreReportedAndNobodyHangs) {
  for (const int P : {2, 3, 5}) {
    for (const Damage& damage : damages) {
      for (int victim = 0; victim < algorithm.cost(P).messages; ++victim) {
        if (!is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << "P " << P << " message " << victim << " " << damage.name);
        Job job(algorithm.collective, P, 600, DType::f32, Pattern::noisy, 3);
        LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(victim) + 1, .random_order = true});
        int n = 0;
        hub.set_damage([&](const LoopbackHub::Record&, Message& bytes) {
          if (n++ == victim) damage.apply(bytes);
        });
        expect_honest(job, run_algorithm(hub, algorithm, *codec, how, 1, job), allowed(P), roundings(P));
      }
    }
  }
}

TEST_P(AlgorithmConformance, FailedAllocationsAreReportedAndNobodyHangs) {
  constexpr int P = 5;
  const DType type = GetParam().codec->serves(DType::f64, GetParam().bound.kind) ? DType::f64 : DType::f32;
  for (int victim = 0; victim < P; ++victim) {
    for (int fails_at = 0;; ++fails_at) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " request " << fails_at);
      Job job(algorithm.collective, P, 600, type, Pattern::noisy, 3);
      std::vector<std::unique_ptr<ShortPlace>> places;
      for (int r = 0; r < P; ++r) places.push_back(std::make_unique<ShortPlace>(r == victim ? fails_at : -1));
      auto place_of = [&](int r) -> Place& { return *places[static_cast<std::size_t>(r)]; };
      LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(fails_at) + 1, .random_order = true});
      const auto ledgers = run_algorithm(hub, algorithm, *codec, how, 1, job, place_of);
      if (places[static_cast<std::size_t>(victim)]->requests <= fails_at) break;
      EXPECT_EQ(ledgers[static_cast<std::size_t>(victim)].status, Status::out_of_memory);
      expect_honest(job, ledgers, allowed(P), roundings(P));
    }
  }
}

// Runs one thread for each rank: for the thread sanitizer, and for schedules that no seed makes.
TEST_P(AlgorithmConformance, RunsWithOneThreadARank) {
  constexpr int P = 4;
  Job job(algorithm.collective, P, 5000, DType::f32, Pattern::noisy, 9);
  LoopbackHub hub(P);
  std::vector<CallCounters> ledgers(P);
  std::vector<HostPlace> places(P);
  std::vector<Task<>> tasks;
  for (std::size_t r = 0; r < P; ++r) {
    const Team team(hub.transport(static_cast<int>(r)), *codec, places[r], ledgers[r], how, 0);
    tasks.push_back(pipelined(algorithm, team, job.operands(static_cast<int>(r)), 3));
  }
  hub.run_threads(tasks);
  for (Task<>& task : tasks) task.result();
  for (int r = 0; r < P; ++r) EXPECT_EQ(job.check(r, allowed(P), roundings(P)), "");
  EXPECT_TRUE(same_bits(job));
}

std::vector<Case> cases_where(bool (*wanted)(const Case&)) {
  std::vector<Case> some = cases();
  std::erase_if(some, [wanted](const Case& c) { return !wanted(c); });
  return some;
}
bool has_a_bound(const Case& c) {
  return !c.at_a_rate() && !c.codec->make({.bound = c.bound})->contract().bound.exact();
}
bool adds_frames(const Case& c) { return c.how == Arithmetic::frames; }
bool makes_prefixes(const Case& c) { return computes_prefixes(c.algorithm->collective); }
bool compares(const Case& c) { return reduces(c.algorithm->collective) && c.how == Arithmetic::values; }

INSTANTIATE_TEST_SUITE_P(All, AlgorithmConformance, testing::ValuesIn(cases()), name_of_test);
INSTANTIATE_TEST_SUITE_P(All, BoundedAlgorithm, testing::ValuesIn(cases_where(has_a_bound)), name_of_test);
INSTANTIATE_TEST_SUITE_P(All, AddingAlgorithm, testing::ValuesIn(cases_where(adds_frames)), name_of_test);
INSTANTIATE_TEST_SUITE_P(All, PrefixAlgorithm, testing::ValuesIn(cases_where(makes_prefixes)), name_of_test);
INSTANTIATE_TEST_SUITE_P(All, ComparingAlgorithm, testing::ValuesIn(cases_where(compares)), name_of_test);

}  // namespace algorithm_test
}  // namespace taut::test

// Random jobs, and the seeds of random tests.
#pragma once

#include <gtest/gtest.h>

#include "support/draw.hpp"
#include "support/group.hpp"
#include "support/test_size.hpp"

namespace taut::test {

// A collective call that a random test makes.
struct DrawnJob {
  // Draws a collective and a type of these, and up to `most` values, in most cases few.
  DrawnJob(Draw& draw, int P, std::span<const Collective> collectives, std::span<const DType> types,
           std::size_t most)
      : collective(draw.one_of(collectives)),
        type(draw.one_of(types)),
        pattern(static_cast<Pattern>(draw.pick(5))),
        count(draw.pick(draw.one_in(2) ? most : most / 40 + 1)),
        op(draw_operator(draw, collective, type)),
        root(draw.pick(P)),
        mean(draw_mean(draw, collective, type, op)),
        in_place(collective == Collective::bcast || draw.one_in(3)) {}

  Job job(int P, std::size_t values, std::uint64_t seed) const {
    return {collective, P, values, type, pattern, seed, op, root, in_place};
  }

  Collective collective;
  DType type;
  Pattern pattern;
  std::size_t count;
  Reduction op;
  int root;
  bool mean, in_place;
};

inline std::ostream& operator<<(std::ostream& out, const DrawnJob& job) {
  return out << name_of(job.collective) << " of " << name_of(job.type) << " "
             << (job.mean ? "mean" : name_of(job.op)) << " count " << job.count << " pattern "
             << static_cast<int>(job.pattern) << " root " << job.root << (job.in_place ? " in place" : "");
}

// Calls test(seed) for `count` seeds from 1 on, or those of the sample, or for TEST_COUNT seeds from
// TEST_SEED on, until a test fails: its trace names the variables that repeat it. Returns the number of
// seeds.
template <class Test>
std::uint64_t for_each_seed(std::uint64_t count, Test test) {
  const std::uint64_t part = sampled_part(count);
  const std::uint64_t first = number_from_environment("TEST_SEED", 1 + sample_number() * part);
  count = number_from_environment("TEST_COUNT", part);
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed << " TEST_COUNT=1");
    test(seed);
  }
  return count;
}

}  // namespace taut::test

// Bounds relative to the range of the values of all ranks.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Returns the range of the values of all ranks.
double range_of_all(Job& job, std::optional<double> fill) {
  ValueRange range;
  for (int r = 0; r < static_cast<int>(job.inputs.size()); ++r) {
    const ConstSlice own = job.operands(r).in;
    if (own.data != nullptr) range.merge(range_of(own, fill));
  }
  return range.greatest - range.least;
}

void expect_within(Ranks& ranks, Collective collective, Job& job, double bound) {
  for (const Verdict& verdict : ranks.run(collective, job)) {
    ASSERT_EQ(verdict.fallback, Fallback::none);
    ASSERT_EQ(verdict.status, Status::ok);
  }
  for (int r = 0; r < static_cast<int>(job.inputs.size()); ++r) EXPECT_EQ(job.check(r, bound, 0), "");
  EXPECT_TRUE(job.same_bits());
}

TEST(RelativeBounds, FollowTheRangeOfAllRanks) {
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather, Collective::reduce}) {
    for (const int P : {2, 3, 7}) {
      SCOPED_TRACE(testing::Message() << name_of(collective) << " P " << P);
      Job job(collective, P, 50000, DType::f32, Pattern::smooth, 3);
      for (int r = 0; r < P; ++r) {  // each rank's range differs from the others' and from that of all values
        Values& values = job.inputs[static_cast<std::size_t>(r)];
        values.set(part_range(job.count(), static_cast<std::size_t>(r), job.inputs.size()).first, 1000.0 * r);
      }
      const double range = range_of_all(job, {});
      Ranks relative(P, "rel:1e-4");
      expect_within(relative, collective, job, 1e-4 * range);
      Ranks noise(P, "psnr:80");
      expect_within(noise, collective, job, 1e-4 * range);
    }
  }
}

TEST(RelativeBounds, OneRanksValuesServeWhatOnlyItSends) {
  for (const Collective collective : {Collective::bcast, Collective::scatter}) {
    Job job(collective, 3, 60000, DType::f64, Pattern::smooth, 3, Reduction::sum, 1);
    const ValueRange sent = range_of(std::as_const(job.inputs[1]).slice(), {});
    const double range = sent.greatest - sent.least;
    Ranks ranks(3, "rel:1e-4");
    expect_within(ranks, collective, job, 1e-4 * range);
  }
}

TEST(RelativeBounds, FillsDoNotCount) {
  Job job(Collective::allgather, 3, 60000, DType::f32, Pattern::smooth, 3);
  for (Values& values : job.inputs)
    for (std::size_t i = 1000; i < 2000; ++i) values.set(i, 1e20);
  const double range = range_of_all(job, 1e20);
  ASSERT_LT(range, 100);
  Ranks ranks(3, "rel:1e-3,fill=1e20");
  expect_within(ranks, Collective::allgather, job, 1e-3 * range);
}

// A constant has no range: nothing may be lost, and nothing is.
TEST(RelativeBounds, ConstantsArriveAsTheyAre) {
  Job job(Collective::allgather, 3, 60000, DType::f32, Pattern::smooth, 3);
  for (Values& values : job.inputs)
    for (std::size_t i = 0; i < values.count(); ++i) values.set(i, 0.1);
  Ranks ranks(3, "rel:1e-3");
  for (const Verdict& verdict : ranks.run(Collective::allgather, job)) EXPECT_EQ(verdict.status, Status::ok);
  if (ranks.statistics(0).compressed_calls > 0) {
    for (int r = 0; r < 3; ++r) EXPECT_EQ(job.check(r, 0, 0), "");
  }
}

// The agreement takes two rounds, and an error still reaches every rank.
TEST(RelativeBounds, MismatchesAreFound) {
  Ranks ranks(3, "rel:1e-3");
  Job job(Collective::allreduce, 3, 60000, DType::f32, Pattern::smooth, 3);
  for (const Verdict& verdict : ranks.run(Collective::allreduce, job, [](int rank, CollectiveCall&request) {
         if (rank == 1) request.op = Reduction::max;
       }))
    EXPECT_EQ(verdict.status, Status::rank_mismatch);
}

}  // namespace
}  // namespace taut::test

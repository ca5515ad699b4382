// Tests of sum=wide: the bits of a sum follow from the operands and the order of the ranks alone.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64};

// Returns value i of the sum over the ranks, as its definition says.
template <class T, class Wide>
T summed(const Job& job, std::size_t i, bool mean) {
  const auto value = [&](const Values& of_rank) {
    return static_cast<Wide>(static_cast<const T*>(of_rank.slice().data)[i]);
  };
  Wide sum = value(job.inputs[0]);
  for (std::size_t r = 1; r < job.inputs.size(); ++r) sum += value(job.inputs[r]);
  return static_cast<T>(mean ? sum / static_cast<Wide>(job.inputs.size()) : sum);
}

template <class T, class Wide>
void expect_sums(const Job& job, bool mean) {
  for (std::size_t r = 0; r < job.outputs.size(); ++r) {
    const Range defined = job.defined(static_cast<int>(r));
    const std::size_t parts = components_of(job.inputs[0].type());
    const T* const found = static_cast<const T*>(job.outputs[r].slice().data);
    for (std::size_t i = defined.first * parts; i < (defined.first + defined.count) * parts; ++i) {
      const T want = summed<T, Wide>(job, i, mean);
      ASSERT_EQ(std::memcmp(&found[i], &want, sizeof want), 0) << "rank " << r << " value " << i;
    }
  }
}

void expect_sums(const Job& job, bool mean = false) {
  switch (job.inputs[0].type()) {
    case DType::f16: return expect_sums<f16, float>(job, mean);
    case DType::bf16: return expect_sums<bf16, float>(job, mean);
    case DType::f64: return expect_sums<double, double>(job, mean);
    default: return expect_sums<float, double>(job, mean);
  }
}

void expect_served(const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.fallback, Fallback::none);
    EXPECT_EQ(verdict.status, Status::ok);
  }
}

TEST(WideSums, OfAllTypesOnAnyNumberOfRanksInAnySegments) {
  std::uint64_t seed = 1;
  for (const int P : {2, 3, 4, 8, 9, 17})
    for (const char* segments : {"1", "3"})
      for (const DType type : types) {
        const Collective collective = ++seed % 2 == 0 ? Collective::allreduce : Collective::reduce_scatter;
        SCOPED_TRACE(testing::Message() << P << " ranks, " << name_of(type) << ", segments " << segments);
        Job job(collective, P, 1009, type, Pattern::noisy, seed, Reduction::sum, 0, seed % 3 == 0);
        Ranks ranks(P, std::string("lossless,sum=wide,min_bytes=0,segments=") + segments);
        expect_served(ranks.run(collective, job));
        expect_sums(job);
      }
}

TEST(WideSums, DoNotDependOnNodes) {
  Job job(Collective::allreduce, 6, 5000, DType::f32, Pattern::noisy, 7);
  Ranks ranks(6, "lossless,sum=wide,min_bytes=0", {.seed = 1, .random_order = true},
              Nodes(std::vector<int>{0, 1, 0, 1, 0, 1}));
  expect_served(ranks.run(Collective::allreduce, job));
  expect_sums(job);
}

TEST(WideSums, OfValuesThatDoNotCompress) {
  Job job(Collective::allreduce, 3, 5000, DType::f32, Pattern::wild, 3);
  Ranks ranks(3, "lossless,sum=wide,min_bytes=0");
  for (int i = 0; i < 4; ++i) expect_served(ranks.run(Collective::allreduce, job));
  EXPECT_TRUE(job.same_bits());
}

TEST(WideSums, MeansAreRoundedOnce) {
  for (const DType type : types) {
    Job job(Collective::allreduce, 3, 1009, type, Pattern::noisy, 5);
    Ranks ranks(3, "lossless,sum=wide,min_bytes=0");
    expect_served(ranks.run(Collective::allreduce, job, [](int, CollectiveCall& call) { call.mean = true; }));
    expect_sums(job, true);
  }
}

TEST(WideSums, AreLeftToPlainMpiInCallsWithoutSuchAnAlgorithm) {
  for (const Collective collective : {Collective::reduce, Collective::scan, Collective::exscan}) {
    Job job(collective, 3, 1000, DType::f32, Pattern::noisy, 2);
    Ranks ranks(3, "lossless,sum=wide,min_bytes=0");
    for (const Verdict& verdict : ranks.run(collective, job))
      EXPECT_EQ(verdict.fallback, Fallback::unsupported);
  }
}

TEST(WideSums, MinimaAndMovedValuesGoAsUnderLossless) {
  Job job(Collective::bcast, 3, 30000, DType::f32, Pattern::steps, 2);
  Ranks ranks(3, "lossless,sum=wide,min_bytes=0");
  expect_served(ranks.run(Collective::bcast, job));
  EXPECT_TRUE(job.same_bits());
}

}  // namespace
}  // namespace taut::test

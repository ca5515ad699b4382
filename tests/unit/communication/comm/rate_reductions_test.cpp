// Tests of reductions at a fixed rate in communicators: they need the name of the codec.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

class RateReductions : public testing::TestWithParam<Collective> {
 protected:
  void SetUp() override {
    if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  }
  static void expect_plain(Ranks& ranks, Job& job, Fallback plain) {
    for (const Verdict& verdict : ranks.run(GetParam(), job)) {
      EXPECT_EQ(verdict.fallback, plain);
      EXPECT_EQ(verdict.status, Status::ok);
    }
  }
};

TEST_P(RateReductions, TheFormOfBlocksNamesItsCodec) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::c64}) {
    const bool coded = type == DType::f32 || type == DType::f16 || type == DType::bf16;
    Job job(GetParam(), 3, 30000, type, Pattern::smooth, 3);
    Ranks ranks(3, "block:8,min_bytes=0");
    expect_plain(ranks, job, coded ? Fallback::none : Fallback::unsupported);
    EXPECT_TRUE(job.same_bits());
  }
}

TEST_P(RateReductions, AreServedByNameOnly) {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::c64, DType::i32}) {
    const bool coded = type == DType::f32 || type == DType::f64;
    Job job(GetParam(), 3, 30000, type, Pattern::smooth, 3);
    Ranks named(3, "rate:12,codec=zfp,min_bytes=0"), unnamed(3, "rate:12,min_bytes=0");
    expect_plain(named, job,
                 coded                ? Fallback::none
                 : type == DType::i32 ? Fallback::type
                                      : Fallback::unsupported);
    expect_plain(unnamed, job, type == DType::i32 ? Fallback::type : Fallback::unsupported);
    EXPECT_TRUE(job.same_bits());
  }
}

// A rate below 7 bits stores boxes of such values whole, one above codes them.
TEST_P(RateReductions, ValuesThatAreNotFiniteStaySo) {
  for (const char* const policy : {"rate:4,codec=zfp,min_bytes=0", "rate:16,codec=zfp,min_bytes=0",
                                   "block:8,min_bytes=0", "block:4,min_bytes=0"}) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Job job(GetParam(), 3, 9000, DType::f32, Pattern::noisy, 3);
    const auto set = [&](std::size_t rank, std::size_t i, double x) { job.inputs[rank].set(i, x); };
    for (std::size_t i = 0; i < 9000; i += 100) {
      set(0, i, std::numeric_limits<double>::quiet_NaN());
      set(0, i + 1, infinity);
      set(0, i + 2, -infinity);
      set(0, i + 3, infinity), set(1, i + 3, -infinity);
    }
    Ranks ranks(3, policy);
    expect_plain(ranks, job, Fallback::none);
    EXPECT_TRUE(job.same_bits());
    for (int r = 0; r < 3; ++r) {
      const Range range = job.defined(r);
      const bool both = job.addends(r) > 1;
      const Values& out = job.outputs[static_cast<std::size_t>(r)];
      for (std::size_t i = range.first; i < range.first + range.count; ++i) {
        const double y = out.at(i);
        const std::size_t kind = i % 100;
        if (kind == 0 || (kind == 3 && both)) {
          ASSERT_TRUE(std::isnan(y)) << i;
        } else if (kind <= 3) {
          ASSERT_EQ(y, kind == 2 ? -infinity : infinity) << i;
        } else {
          ASSERT_TRUE(std::isfinite(y)) << i;
        }
      }
    }
  }
}

std::vector<Collective> reductions() {
  std::vector<Collective> some(std::begin(all_collectives), std::end(all_collectives));
  std::erase_if(some, [](Collective collective) { return !reduces(collective); });
  return some;
}

INSTANTIATE_TEST_SUITE_P(All, RateReductions, testing::ValuesIn(reductions()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace taut::test

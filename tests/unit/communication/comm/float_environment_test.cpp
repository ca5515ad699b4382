// Calls give correct results under any floating-point environment of the program, and leave it unchanged.
#include <gtest/gtest.h>

#include <cfenv>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Floating-point exceptions that end this program.
class Traps {
 public:
  Traps() {
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  }
  ~Traps() { fedisableexcept(FE_ALL_EXCEPT); }
};

constexpr const char* policies[] = {
    "abs:1e-3",  "abs:1e-3,reduction=values", "rel:1e-3,fill=1e20", "psnr:60", "pwrel:1e-3", "lossless",
    "snap:1e-3", "abs:1e-3,codec=szx"};

Job job_with_specials(Collective collective, DType type) {
  Job job(collective, 3, 3000, type, Pattern::noisy, 1);
  for (Values& values : job.inputs)
    for (std::size_t i = 0; i < values.numbers(); i += 50) values.set(i, i % 100 == 0 ? NAN : INFINITY);
  return job;
}

TEST(FloatEnvironment, TrapsAreNotTriggered) {
  for (const std::string policy : policies) {
    for (const Collective collective : {Collective::allgather, Collective::alltoall, Collective::gather}) {
      for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
        SCOPED_TRACE(testing::Message() << policy << " " << name_of(collective) << " " << name_of(type));
        Ranks ranks(3, policy + ",min_bytes=0");
        Job job = job_with_specials(collective, type);
        const Traps traps;
        for (const Verdict& verdict : ranks.run(collective, job)) ASSERT_EQ(verdict.status, Status::ok);
      }
    }
  }
}

#if defined(__x86_64__)
TEST(FloatEnvironment, IsLeftAsItWas) {
  constexpr unsigned flush_and_zero = 0x8040, up = 0x4000, masked = 0x1F80;
  for (const std::string policy : policies) {
    for (const unsigned mode : {masked | flush_and_zero, masked | up}) {
      Ranks ranks(3, policy + ",min_bytes=0");
      Job job(Collective::allgather, 3, 3000, DType::f32, Pattern::noisy, 1);
      const unsigned before = __builtin_ia32_stmxcsr();
      __builtin_ia32_ldmxcsr(mode);
      const auto verdicts = ranks.run(Collective::allgather, job);
      constexpr unsigned flags = 0x3F;  // flags of past exceptions, which plain MPI raises as well
      const unsigned after = __builtin_ia32_stmxcsr() & ~flags;
      __builtin_ia32_ldmxcsr(before);
      EXPECT_EQ(after, mode) << policy;
      for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.status, Status::ok);
    }
  }
}
#endif

}  // namespace
}  // namespace taut::test

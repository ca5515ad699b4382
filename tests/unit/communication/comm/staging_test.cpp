// Values with gaps between them: gathered before a call, scattered after it.
#include "communication/comm/collective_call.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/ranks.hpp"

namespace taut::test {
namespace {

// Staging that copies a job's memory as if it had gaps.
class Copies final : public Staging {
 public:
  Copies(const Operands& there, Status fault) : there_(there), fault_(fault) {}

  std::array<Buffer, 2> pack(Place& place, Operands& data) const override {
    if (fault_ != Status::ok) throw Error(fault_, "this rank cannot");
    std::array<Buffer, 2> memory{place.scratch(there_.in.bytes()), place.scratch(there_.out.bytes())};
    std::memcpy(memory[0].data(), there_.in.data, there_.in.bytes());
    data = there_;
    data.in.data = memory[0].data();
    data.out.data = memory[1].data();
    return memory;
  }
  void unpack(const Operands& data) const override {
    std::memcpy(there_.out.data, data.out.data, data.out.bytes());
  }

 private:
  Operands there_;
  Status fault_;
};

std::vector<Verdict> run_staged(Ranks& ranks, Job& job, int bad_rank, Status fault) {
  return ranks.run(Collective::allgather, job, [&](int rank, CollectiveCall& request) {
    request.staging = std::make_shared<Copies>(request.data, rank == bad_rank ? fault : Status::ok);
    request.data.in.data = nullptr;
    request.data.out.data = nullptr;
  });
}

class StagedCalls : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int P = 3;
  Ranks ranks{P, GetParam()};
  Job job{Collective::allgather, P, 99999, DType::f32, Pattern::smooth, 1};
  const Job untouched = job;
};

TEST_P(StagedCalls, AreServed) {
  for (const Verdict& verdict : run_staged(ranks, job, -1, Status::ok)) {
    EXPECT_EQ(verdict.fallback, Fallback::none);
    EXPECT_EQ(verdict.status, Status::ok);
  }
  for (int r = 0; r < P; ++r) EXPECT_EQ(job.check(r, 1e-2, 0), "");
  EXPECT_TRUE(job.same_bits());
}

TEST_P(StagedCalls, WithoutMemoryOnOneRankAreAllPlain) {
  for (const Verdict& verdict : run_staged(ranks, job, 1, Status::out_of_memory))
    EXPECT_EQ(verdict.fallback, Fallback::memory);
  EXPECT_TRUE(job.outputs == untouched.outputs);
}

TEST_P(StagedCalls, FailOnEveryRankWhereOneCannotGather) {
  const auto verdicts = run_staged(ranks, job, 1, Status::transport_failed);
  for (std::size_t r = 0; r < verdicts.size(); ++r) {
    EXPECT_EQ(verdicts[r].fallback, Fallback::none);
    EXPECT_EQ(verdicts[r].status, r == 1 ? Status::transport_failed : Status::peer_failed);
  }
  EXPECT_TRUE(job.outputs == untouched.outputs);
}

INSTANTIATE_TEST_SUITE_P(All, StagedCalls, testing::Values("abs:1e-3", "rel:1e-5"));

TEST(StagedPlainCalls, GatherNothing) {
  for (const char* const policy : {"off", "abs:1e-3,min_bytes=1GiB"}) {
    Ranks ranks(2, policy);
    Job job(Collective::allgather, 2, 10000, DType::f32, Pattern::smooth, 1);
    for (const Verdict& verdict : run_staged(ranks, job, 0, Status::transport_failed))
      EXPECT_NE(verdict.fallback, Fallback::none);
  }
  Ranks ranks(2, "abs:1e-3,codec=szx");
  Job job(Collective::allgather, 2, 100000, DType::f16, Pattern::smooth, 1);  // szx does not code this type
  for (const Verdict& verdict : run_staged(ranks, job, 0, Status::transport_failed))
    EXPECT_EQ(verdict.fallback, Fallback::unsupported);
}

}  // namespace
}  // namespace taut::test

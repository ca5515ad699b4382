// Calls that are repeated many times: on the same inputs, which must not change, and on their own results, in
// which errors must not add up.
#include <gtest/gtest.h>

#include "support/ranks.hpp"

namespace taut::test {
namespace inputs_test {

constexpr int P = 3, repetitions = 1000;
constexpr std::size_t count = 96 * P;

// A bound of a policy, and what it promises of moved values.
struct Promised {
  const char* policy;
  double error = 0;       // for each value, or in parts of its range or magnitude
  bool of_range = false;  // E is relative to the range of all values
  bool of_value = false;  // E is relative to each value
  bool adds_up = false;   // errors of calls on their own results may add up

  double bound(double range, double value) const {
    return error * (of_range ? range : of_value ? std::abs(value) : 1);
  }
};

constexpr Promised promises[] = {
    {.policy = "abs:1e-2", .error = 1e-2},
    {.policy = "abs:1e-2,codec=szx", .error = 1e-2},
    {.policy = "snap:1e-2", .error = 1e-2},
    {.policy = "pwrel:1e-3", .error = 1e-3, .of_value = true},
    {.policy = "lossless"},
    {.policy = "rel:1e-3", .error = 1e-3, .of_range = true, .adds_up = true},
    {.policy = "psnr:60", .error = 1e-3, .of_range = true, .adds_up = true},
    {.policy = "abs:1e-2,codec=zfp", .error = 1e-2, .adds_up = true},
};
void PrintTo(const Promised& promised, std::ostream* out) { *out << promised.policy; }

bool can_be_served(const Promised& promised) {
  try {
    parse_policy(promised.policy);
    return true;
  } catch (const Error&) {  // a build without zfp
    return false;
  }
}

std::string policy_of(const Promised& promised, const char* options = "") {
  return std::string(promised.policy) + ",when=always,min_bytes=0" + options;
}

double range_of_inputs(const Job& job) {
  ValueRange range;
  for (const Values& values : job.inputs)
    for (std::size_t i = 0; i < values.numbers(); ++i) range.merge({values.at(i), values.at(i)});
  return range.greatest - range.least;
}

class Repeated : public testing::TestWithParam<Promised> {
 protected:
  void SetUp() override {
    if (!can_be_served(GetParam())) GTEST_SKIP() << "no codec serves this policy in this build";
  }

  // Makes the call. Returns false if some rank has failed, or left it to plain MPI.
  static bool run(Ranks& ranks, Collective collective, Job& job) {
    for (const Verdict& verdict : ranks.run(collective, job))
      if (verdict.status != Status::ok || verdict.fallback != Fallback::none) return false;
    return true;
  }

  // Returns the first value of the results that is further from the exact one than `calls` times the bound.
  static std::string off(const Job& job, double range, int calls) {
    for (int r = 0; r < P; ++r) {
      const Range defined = job.defined(r);
      for (std::size_t i = defined.first; i < defined.first + defined.count; ++i) {
        const auto exact = static_cast<double>(job.exact(r, i).value);
        const double got = job.outputs[static_cast<std::size_t>(r)].at(i);
        if (!(std::abs(got - exact) <= calls * GetParam().bound(range, exact)))
          return "rank " + std::to_string(r) + ", value " + std::to_string(i) + ": " + std::to_string(got) +
                 " instead of " + std::to_string(exact);
      }
    }
    return "";
  }
};

// In place, so that inputs are in memory that the call might write to.
TEST_P(Repeated, InputsStayAsTheyAre) {
  for (const Collective collective :
       {Collective::bcast, Collective::allgather, Collective::gather, Collective::scatter}) {
    SCOPED_TRACE(name_of(collective));
    Job job(collective, P, count, DType::f32, Pattern::noisy, 3, Reduction::sum, 1, true);
    const double range = range_of_inputs(job);
    Ranks ranks(P, policy_of(GetParam()));
    for (int i = 0; i < repetitions; ++i) {
      ASSERT_TRUE(run(ranks, collective, job));
      ASSERT_TRUE(job.inputs_stayed() && job.same_bits()) << "call " << i;
    }
    EXPECT_EQ(off(job, range, 1), "");
  }
}

// Under same_bits=on the owner has the values of the other ranks.
TEST_P(Repeated, OwnersHaveTheSameBitsOnRequest) {
  for (const Collective collective : {Collective::bcast, Collective::allgather}) {
    SCOPED_TRACE(name_of(collective));
    Job job(collective, P, count, DType::f32, Pattern::noisy, 3, Reduction::sum, 1, true);
    const double range = range_of_inputs(job);
    Ranks ranks(P, policy_of(GetParam(), ",same_bits=on"));
    ASSERT_TRUE(run(ranks, collective, job));
    EXPECT_TRUE(job.same_bits(true));
    EXPECT_EQ(job.inputs_stayed(), GetParam().error == 0);
    EXPECT_EQ(off(job, range, 1), "");
  }
}

// Each broadcast comes from another rank, which has received the values of the one before.
TEST_P(Repeated, BroadcastsOfWhatWasReceived) {
  Job job(Collective::bcast, P, count, DType::f32, Pattern::noisy, 3, Reduction::sum, 0, true);
  const double range = range_of_inputs(job);
  Ranks ranks(P, policy_of(GetParam()));
  for (int i = 0; i < repetitions; ++i) {
    const auto verdicts = run_all<Verdict>(ranks.hub, [&](int rank) {
      const Slice values = job.outputs[static_cast<std::size_t>(rank)].slice();
      Operands data{.in = {}, .out = values, .root = i % P};
      if (rank == data.root) data.in = ConstSlice(values);
      return ranks.comms[static_cast<std::size_t>(rank)]->run({Collective::bcast, data, job.bytes()});
    });
    for (const Verdict& verdict : verdicts) ASSERT_TRUE(verdict.good());
    const std::string wrong = off(job, range, GetParam().adds_up ? i + 1 : 1);
    ASSERT_EQ(wrong, "") << "call " << i;
  }
}

// A call in place reads the result of the one before. The exact result of a second exchange is the input of
// the first.
TEST_P(Repeated, ExchangesOfWhatWasReceived) {
  Job job(Collective::alltoall, P, count, DType::f32, Pattern::noisy, 3, Reduction::sum, 0, true);
  const double range = range_of_inputs(job);
  Ranks ranks(P, policy_of(GetParam()));
  for (int i = 0; i < repetitions; ++i) {
    ASSERT_TRUE(run(ranks, Collective::alltoall, job));
    ASSERT_TRUE(job.inputs_stayed()) << "call " << i;
    if (i % 2 != 0) continue;
    const std::string wrong = off(job, range, GetParam().adds_up ? i + 1 : 1);
    ASSERT_EQ(wrong, "") << "call " << i;
  }
}

TEST_P(Repeated, MinimaAndMaximaOfTheirOwnResults) {
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    SCOPED_TRACE(name_of(op));
    Job job(Collective::allreduce, P, count, DType::f32, Pattern::noisy, 3, op, 0, true);
    const double range = range_of_inputs(job);
    Ranks ranks(P, policy_of(GetParam()));
    for (int i = 0; i < repetitions; ++i) {
      ASSERT_TRUE(run(ranks, Collective::allreduce, job));
      const std::string wrong = off(job, range, GetParam().adds_up ? i + 1 : 1);
      ASSERT_EQ(wrong, "") << "call " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Repeated, testing::ValuesIn(promises));

}  // namespace inputs_test
}  // namespace taut::test

// Tests of codings that are chosen by measured speeds: measurement, agreement, and the results of calls.
#include "communication/comm/coding_speeds.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/ranks.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace coding_speeds_test {

TEST(CodingSpeeds, AreMeasuredOnTheValues) {
  HostPlace place;
  const Values values = make_values(DType::f32, 300'000, Pattern::smooth, 1);
  const std::unique_ptr<Codec> planes = find_codec("planes")->make({.bound = 1e-3});
  const CodingSpeeds known = measure_speeds(*planes, values.slice(), place);
  EXPECT_TRUE(known.known());
  EXPECT_GT(known.accumulate, 0);
  EXPECT_GT(known.ratio, 1);
  const std::unique_ptr<Codec> fast = find_codec(fast_codec)->make({.bound = 1e-3});
  const CodingSpeeds other = measure_speeds(*fast, values.slice(), place);
  EXPECT_TRUE(other.known());
  EXPECT_EQ(other.accumulate, 0);
  EXPECT_FALSE(measure_speeds(*planes, {}, place).known());
}

// Returns the length of the pieces on which codings of an allreduce are measured.
std::size_t piece_of(const char* text, std::size_t bytes) {
  const Policy policy = parse_policy(text);
  const Call call{.collective = Collective::allreduce, .type = DType::f32, .bytes = bytes, .ranks = 4};
  CandidateTable table;
  return speed_test_of(policy, call, make_plan(policy, call, policy.coding.bound, table)).values_a_piece;
}

TEST(CodingSpeeds, OfSeveralThreadsAreMeasuredOnFramesOfTheCall) {
  constexpr std::size_t MiB = std::size_t{1} << 20;
  EXPECT_EQ(piece_of("abs:1e-3,algorithm=ring,segments=1", 64 * MiB), 16384);
  EXPECT_EQ(piece_of("abs:1e-3,algorithm=ring,segments=1,threads=2", 64 * MiB), 65536);  // 8 chunks for each
  EXPECT_EQ(piece_of("abs:1e-3,algorithm=ring,segments=2,threads=8", 4 * MiB), MiB / 8);
  EXPECT_EQ(piece_of("abs:1e-3,algorithm=ring,segments=16,threads=8", MiB), 16384);
}

constexpr int P = 3;
constexpr double bound = 1e-3;

class MeasuredCodings : public testing::TestWithParam<Collective> {};

// The ranks measure different times, and still decide alike: otherwise a call would fail, or hang.
TEST_P(MeasuredCodings, AreTheSameOnAllRanksAndKeepTheBound) {
  Ranks ranks(P, "abs:1e-3,when=profitable");
  Job job(GetParam(), P, 360'000, DType::f32, Pattern::sparse, 7);
  std::vector<int> records;  // of agreements, by call
  ranks.hub.set_damage([&](const LoopbackHub::Record& record, std::vector<std::byte>&) {
    records.back() += record.bytes == sizeof(AgreementMessage);
  });
  // Until the speeds were measured, and two calls more. A rank that the system holds up for long takes its
  // sample for slow, and the call goes to plain MPI: such calls delay the measurement.
  constexpr int a_round = P * 2;  // ceil(log2 P) messages a rank
  const auto measured = [&] { return std::ranges::find(records, 2 * a_round); };
  bool in_trial = false;  // of plain MPI, which busy cores make look worth it
  while (records.size() < 100 && records.end() - measured() < 3) {
    records.push_back(0);
    const bool compares_times = in_trial;  // by an agreement more
    for (const Verdict& verdict : ranks.run(GetParam(), job)) {
      ASSERT_EQ(verdict.status, Status::ok);
      in_trial = verdict.plain_times != nullptr;
      if (in_trial) verdict.plain_times->note(1e6, job.bytes());  // plain MPI is slow
    }
    if (compares_times && records.back() > a_round) records.back() -= a_round;
  }
  // The measurement is due when measured times have shown the link.
  EXPECT_TRUE(std::ranges::count(records, 2 * a_round) == 1 || is_emulated());
  EXPECT_TRUE(std::ranges::all_of(records, [](int n) { return n % a_round == 0 && n <= 2 * a_round; }));
  for (int rank = 0; rank < P; ++rank) {
    const Values &all = job.outputs[static_cast<std::size_t>(rank)], &first = job.outputs[0];
    const Range defined = job.defined(rank);
    for (std::size_t i = defined.first; i < defined.first + defined.count; i += 97)
      ASSERT_NEAR(all.at(i), static_cast<double>(job.exact(rank, i).value), bound * 1.001)
          << rank << " " << i;
    if (GetParam() != Collective::allreduce) continue;
    EXPECT_EQ(std::memcmp(std::as_const(all).slice().data, std::as_const(first).slice().data, job.bytes()),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MeasuredCodings,
                         testing::Values(Collective::allreduce, Collective::allgather, Collective::bcast,
                                         Collective::reduce_scatter, Collective::alltoall));

}  // namespace coding_speeds_test
}  // namespace taut::test

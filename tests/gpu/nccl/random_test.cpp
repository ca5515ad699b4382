// Tests random sequences of calls on one communicator, and such sequences in which a call of NCCL or CUDA
// fails. TEST_COUNT: number of sequences; TEST_SEED: the first one.
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace {

// Runs a sequence. Returns the codes of the calls of each rank, the settle included; outputs are in `jobs`.
std::vector<std::vector<int>> run(const Sequence& sequence, std::vector<std::unique_ptr<NcclJob>>& jobs,
                                  const std::function<void()>& begin) {
  NcclRanks ranks(sequence.trials[0].P, sequence.trials[0].whole_policy(), sequence.ratio);
  begin();
  std::vector<std::vector<int>> codes(static_cast<std::size_t>(ranks.size()));
  ranks.run([&](NcclRank& me) {
    auto& own = codes[static_cast<std::size_t>(me.rank)];
    const auto failed = [&] { return std::ranges::any_of(own, [](int code) { return code != 0; }); };
    for (const auto& job : jobs)
      if (!failed()) own.push_back(job->call(me));
    if (!failed()) own.push_back(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream));
    if (failed()) stand_in_finish();
  });
  stand_in_at_call(0, nullptr, nullptr);
  fake_nccl::fail_at(0);
  return codes;
}

TEST(NcclRandom, SequencesGiveTheBitsOfTheHost) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1);
  const std::uint64_t count = number_from_environment("TEST_COUNT", 20);
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_COUNT=1 TEST_SEED=" << seed);
    stand_in_set_seed(seed);
    const Sequence sequence(seed);
    auto jobs = jobs_of(sequence);
    EXPECT_TRUE(all_good(run(sequence, jobs, [] {}))) << TAUT_Nccl_last_error();
    EXPECT_EQ(fake_nccl::take_report(), "");
    expect_results_of_host(sequence, jobs);
  }
}

// No rank hangs, and without an error the results are right.
TEST(NcclRandom, FailuresAreReported) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1);
  const std::uint64_t count = number_from_environment("TEST_COUNT", 12);
  std::uint64_t errors = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_COUNT=1 TEST_SEED=" << seed);
    stand_in_set_seed(seed);
    const Sequence sequence(seed);
    auto jobs = jobs_of(sequence);
    Draw draw(seed + 1000);
    const auto codes = run(sequence, jobs, [&] {
      fake_nccl::set_patience(0.5);
      if (draw.below(2) == 0)
        fake_nccl::fail_at(1 + draw.below(60));
      else
        stand_in_at_call(1 + draw.below(400), nullptr, nullptr);
    });
    fake_nccl::set_patience(20);
    fake_nccl::take_report();
    errors += !all_good(codes);
    for (std::size_t i = 0; i < jobs.size() && all_good(codes); ++i)
      if (!are_of_nccl(sequence.trials[i], *jobs[i])) expect_outputs_of_host(sequence.trials[i], *jobs[i]);
  }
  EXPECT_TRUE(errors > 0 || count < 10);
}

}  // namespace
}  // namespace taut::test

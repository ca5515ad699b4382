// Tests random sequences of calls on one communicator, and such sequences in which a call of NCCL or CUDA
// fails. TEST_COUNT: number of sequences; TEST_SEED: the first one.
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace random_test {

// Runs a sequence. Returns the codes of the calls of each rank, the settle included; outputs are in `jobs`.
std::vector<std::vector<int>> run(const Sequence& sequence, std::vector<std::unique_ptr<NcclJob>>& jobs,
                                  const std::function<void()>& begin) {
  NcclRanks ranks(sequence.trials[0].P, sequence.trials[0].whole_policy(), sequence.ratio);
  begin();
  std::vector<std::vector<int>> codes(static_cast<std::size_t>(ranks.size()));
  ranks.run([&](NcclRank& me) {
    auto& own = codes[static_cast<std::size_t>(me.rank)];
    const auto failed = [&] { return std::ranges::any_of(own, [](int code) { return code != 0; }); };
    for (std::size_t i = 0; i < jobs.size(); ++i)
      for (int k = 0; k < sequence.times[i] && !failed(); ++k) own.push_back(jobs[i]->call(me));
    if (!failed()) own.push_back(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream));
    if (!failed()) return;
    note_failure();
    stand_in_finish();
  });
  stand_in_at_call(0, nullptr, nullptr);
  fake_nccl::fail_at(0);
  return codes;
}

bool succeeds(const Sequence& sequence, std::uint64_t, std::vector<std::unique_ptr<NcclJob>>& jobs,
              const std::function<void()>& begin) {
  return all_good(run(sequence, jobs, begin));
}

TEST(NcclRandom, SequencesGiveTheBitsOfTheHost) { expect_bits_of_host(succeeds); }
TEST(NcclRandom, FailuresAreReported) { expect_failures_are_reported(succeeds); }

}  // namespace random_test
}  // namespace taut::test

// Tests random sequences of calls that an unchanged program makes, also in groups and among calls of NCCL,
// and such sequences in which a call of NCCL or CUDA fails. TEST_COUNT, TEST_SEED: as in random_test.cpp.
#include "gpu/nccl/dropin_ranks.hpp"
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace random_dropin_test {

// The way in which a program makes a sequence of calls.
struct Manner {
  Manner(std::uint64_t seed, std::size_t calls) {
    Draw draw(seed + 77);
    const int whole = draw.pick(3);  // all calls are in one group
    for (std::size_t i = 0; i < calls; ++i) {
      const bool alone = draw.one_in(2);
      begins.push_back(whole == 0 ? i == 0 : alone);
      ends.push_back(whole == 0 ? i + 1 == calls : alone);
      plain_after.push_back(draw.one_in(3));
      waits_after.push_back(draw.one_in(3) && whole != 0);
    }
  }
  std::vector<bool> begins, ends;              // of groups
  std::vector<bool> plain_after, waits_after;  // a call that NCCL serves; a wait of the host
};

// Makes the calls of a rank until one fails. Returns the first code that is not 0. `integer`: the rank's
// value for the calls that NCCL serves.
int make_calls(const NcclRank& me, const Sequence& sequence, const Manner& manner,
               const std::vector<std::unique_ptr<NcclJob>>& jobs, const OnGpu<int>& integer) {
  int code = 0;
  const auto note = [&](int result) { code = code != 0 ? code : result; };
  for (std::size_t i = 0; i < jobs.size() && code == 0; ++i) {
    if (manner.begins[i]) note(taut_dropin_ncclGroupStart());
    for (int k = 0; k < sequence.times[i]; ++k) note(jobs[i]->call(me, dropin_functions));
    if (manner.plain_after[i])
      note(taut_dropin_ncclAllReduce(integer.data(), integer.data(), 1, ncclInt32, ncclMax, me.comm,
                                     me.stream));
    if (manner.ends[i]) note(taut_dropin_ncclGroupEnd());
    if (manner.waits_after[i] && code == 0) finish_calls(me);
  }
  return code;
}

// Runs a sequence. Returns true if all calls succeeded on all ranks.
bool run(const Sequence& sequence, std::uint64_t seed, const std::vector<std::unique_ptr<NcclJob>>& jobs,
         const std::function<void()>& begin) {
  DropinRanks ranks(sequence.trials[0].P, sequence.trials[0].whole_policy());
  std::vector<std::unique_ptr<OnGpu<int>>> integers;
  for (int r = 0; r < ranks.size(); ++r)
    integers.push_back(std::make_unique<OnGpu<int>>(std::vector<int>(1, r)));
  const Manner manner(seed, jobs.size());
  begin();
  return succeed(ranks, [&](NcclRank& me) {
    return make_calls(me, sequence, manner, jobs, *integers[static_cast<std::size_t>(me.rank)]);
  });
}

TEST(NcclRandom, DropInSequencesGiveTheBitsOfTheHost) { expect_bits_of_host(run); }
TEST(NcclRandom, DropInFailuresAreReported) { expect_failures_are_reported(run); }

}  // namespace random_dropin_test
}  // namespace taut::test

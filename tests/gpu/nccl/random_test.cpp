// Tests random sequences of calls on one communicator, and such sequences in which a call of NCCL or CUDA
// fails. TEST_COUNT: number of sequences; TEST_SEED: the first one.
#include "gpu/nccl/calls.hpp"

namespace taut::test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  template <class T, std::size_t n>
  T of(const T (&all)[n]) {
    return all[below(n)];
  }

 private:
  std::mt19937_64 random_;
};

// A sequence of calls under one policy.
struct Sequence {
  explicit Sequence(std::uint64_t seed) {
    constexpr const char* codings[] = {"abs:1e-2,codec=planes", "abs:1e-3,codec=planes,predictor=delta",
                                       "snap:1e-2,codec=planes", "rel:1e-3,codec=planes",
                                       "abs:1e-2,codec=planes,segments=2"};
    constexpr double ratios[] = {0, 0, 1, 3, 30};
    constexpr DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
    constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::steps};
    constexpr Reduction operators[] = {Reduction::sum, Reduction::sum, Reduction::max};
    Draw draw(seed);
    const int P = 1 + static_cast<int>(draw.below(7));
    const std::string policy = draw.of(codings);
    ratio = draw.of(ratios);
    for (std::size_t i = 1 + draw.below(4); i > 0; --i) {
      trials.push_back(as_nccl_allows({.collective = draw.of(nccl_collectives),
                                       .policy = policy,
                                       .P = P,
                                       .count = 1 + draw.below(draw.below(4) == 0 ? 20000 : 600),
                                       .type = draw.of(types),
                                       .pattern = draw.of(patterns),
                                       .op = draw.of(operators),
                                       .root = static_cast<int>(draw.below(static_cast<std::size_t>(P))),
                                       .in_place = draw.below(2) == 0}));
      Trial& made = trials.back();
      made.mean = reduces(made.collective) && made.op == Reduction::sum && draw.below(4) == 0;
    }
  }

  std::vector<Trial> trials;
  double ratio;
};

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

std::vector<std::unique_ptr<NcclJob>> jobs_of(const Sequence& sequence) {
  std::vector<std::unique_ptr<NcclJob>> jobs;
  for (const Trial& trial : sequence.trials) jobs.push_back(std::make_unique<NcclJob>(trial));
  return jobs;
}

// True if the rest of the program may rely on the calls: all of them succeeded on all ranks.
bool all_good(const std::vector<std::vector<int>>& codes) {
  return std::ranges::all_of(
      codes, [](const auto& own) { return std::ranges::all_of(own, [](int code) { return code == 0; }); });
}

void expect_results_of_host(const Sequence& sequence, const std::vector<std::unique_ptr<NcclJob>>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) expect_outputs_of_host(sequence.trials[i], *jobs[i]);
}

// Returns true if the outputs are those of NCCL alone: a call that some rank cannot serve is left to NCCL.
bool are_of_nccl(const Trial& trial, NcclJob& job) {
  NcclRanks ranks(trial.P, "off");
  NcclJob plain(trial);
  ranks.run([&](NcclRank& me) { EXPECT_EQ(plain.call(me), 0); });
  return job.outputs() == plain.outputs();
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
  fake_nccl::set_patience(0.3);
  std::uint64_t errors = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_COUNT=1 TEST_SEED=" << seed);
    stand_in_set_seed(seed);
    const Sequence sequence(seed);
    auto jobs = jobs_of(sequence);
    Draw draw(seed + 1000);
    const auto codes = run(sequence, jobs, [&] {
      if (draw.below(2) == 0)
        fake_nccl::fail_at(1 + draw.below(60));
      else
        stand_in_at_call(1 + draw.below(400), nullptr, nullptr);
    });
    fake_nccl::take_report();
    errors += !all_good(codes);
    for (std::size_t i = 0; i < jobs.size() && all_good(codes); ++i)
      if (!are_of_nccl(sequence.trials[i], *jobs[i])) expect_outputs_of_host(sequence.trials[i], *jobs[i]);
  }
  fake_nccl::set_patience(20);
  EXPECT_TRUE(errors > 0 || count < 10);
}

}  // namespace
}  // namespace taut::test

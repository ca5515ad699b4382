// Random calls on loopback: no violation of the result's bound, no difference between ranks, nothing vacuous.
//   TEST_COUNT=10000 random_calls_test            more of them
//   TEST_SEED=4711 TEST_COUNT=1 random_calls_test  one again
#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace {

// Everything that one number decides.
struct Configuration {
  explicit Configuration(std::uint64_t number) : seed(number), random(number) {
    P = 1 + pick(pick(4) == 0 ? 17 : 6);
    collective = all_collectives[pick(std::size(all_collectives))];
    count = static_cast<std::size_t>(pick(20) == 0 ? pick(40000) : pick(2) == 0 ? pick(3000) : pick(40));
    type = pick(2) == 0 ? DType::f32 : DType::f64;
    pattern = static_cast<Pattern>(pick(5));
    op = reduces(collective) ? static_cast<Reduction>(1 + pick(3)) : Reduction::sum;
    root = pick(P);
    in_place = pick(3) == 0;
    bound = std::pow(10.0, pick(9) - 7) * (1 + pick(1000) * 0.009);
    on_input = pick(5) == 0;
    policy = pick(12) == 0 ? "lossless,codec=raw" : "abs:" + text(bound);
    if (policy[0] == 'l') bound = 0;
    if (on_input) policy += ",on=input";
    policy += std::string(",algorithm=") + choose("auto", "ring", "recursive_doubling", "halving_doubling",
                                                  "two_shot", "direct", "bruck", "chain", "scatter_allgather",
                                                  "cpr_p2p");
    policy += std::string(",reduction=") + choose("auto", "auto", "values");
    policy += ",segments=" + (pick(3) == 0 ? std::to_string(1 + pick(5)) : "auto");
    if (bound > 0) policy += std::string(",codec=") + choose("auto", "planes", "raw");
    if (pick(4) == 0) policy += ",checksum=on";
    if (pick(4) == 0) policy += ",predictor=none";
    policy += ",min_bytes=" + std::to_string(pick(4) == 0 ? pick(2000) : 0);
  }

  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  template <class... Names>
  const char* choose(Names... names) {
    const char* const all[] = {names...};
    return all[pick(sizeof...(names))];
  }
  static std::string text(double x) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", x);
    return buffer;
  }

  std::uint64_t seed;
  std::mt19937_64 random;
  int P, root;
  Collective collective;
  std::size_t count;
  DType type;
  Pattern pattern;
  Reduction op;
  bool in_place, on_input;
  double bound;
  std::string policy;
};

std::ostream& operator<<(std::ostream& out, const Configuration& c) {
  return out << "TEST_SEED=" << c.seed << " TEST_COUNT=1: " << name_of(c.collective) << " " << name_of(c.op)
             << " P " << c.P << " count " << c.count << " " << name_of(c.type) << " pattern "
             << static_cast<int>(c.pattern) << " root " << c.root << " in place " << c.in_place << " policy "
             << c.policy;
}

struct Tally {
  int compressed = 0, plain = 0;
  double worst = 0;  // greatest error over the promised bound
};

// What the policy promises for the result: on=input, a sum of P contributions, each within the bound; by
// values, an encoding at every inner node as well.
double promised(const Configuration& c) {
  const bool sums = reduces(c.collective) && c.op == Reduction::sum;
  return c.on_input && sums ? c.bound * (2 * c.P - 1) : c.bound;
}

void run_one(const Configuration& c, Tally& tally) {
  Job job(c.collective, c.P, c.count, c.type, c.pattern, c.seed, c.op, c.root, c.in_place);
  const Job untouched = job;
  LoopbackHub hub(c.P, {.seed = c.seed, .random_order = true});
  std::vector<std::unique_ptr<HostPlace>> places;
  std::vector<std::unique_ptr<Communicator>> comms;
  for (int r = 0; r < c.P; ++r) {
    places.push_back(std::make_unique<HostPlace>());
    comms.push_back(std::make_unique<Communicator>(hub.transport(r), *places.back(), parse_policy(c.policy)));
  }
  const auto verdicts = run_all<Verdict>(hub, [&](int rank) {
    return comms[static_cast<std::size_t>(rank)]->run({c.collective, job.operands(rank), job.bytes()});
  });
  for (const Verdict& verdict : verdicts) {
    ASSERT_EQ(verdict.plain, verdicts[0].plain);
    ASSERT_EQ(verdict.status, Status::ok) << describe(verdict.status);
  }
  if (verdicts[0].plain != Plain::no) {
    ++tally.plain;
    ASSERT_TRUE(job.outputs == untouched.outputs);
    return;
  }
  ++tally.compressed;
  // Sums of frames are rounded once, at the end; by values every rank rounds.
  const int roundings = c.policy.find("reduction=values") != std::string::npos || c.bound == 0 ||
                                c.policy.find("codec=raw") != std::string::npos ||
                                c.policy.find("cpr_p2p") != std::string::npos
                            ? 2 * c.P
                            : 0;
  for (int r = 0; r < c.P; ++r) ASSERT_EQ(job.check(r, promised(c), roundings, &tally.worst), "");
  ASSERT_TRUE(job.same_bits());
}

TEST(RandomCalls, ResultBoundAndSameBits) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1),
                      count = number_from_environment("TEST_COUNT", 10000);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Configuration c(seed);
    SCOPED_TRACE(testing::Message() << c);
    run_one(c, tally);
  }
  std::printf("seeds %llu..%llu: %d compressed, %d plain, worst error %.4f of the bound\n",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(first + count - 1),
              tally.compressed, tally.plain, tally.worst);
  if (count < 1000) return;
  EXPECT_GT(tally.compressed, static_cast<int>(count / 2));
  EXPECT_GT(tally.worst, 0.1);
}

}  // namespace
}  // namespace taut::test

// Counts what an allreduce with exact sizes asks of CUDA on each rank: kernels, copies, and waits of the
// host. Waits and copies must not grow with the number of ranks.
#include <cmath>

#include "communication/nccl/comm_state.hpp"
#include "compressor/base/options.hpp"
#include "gpu/nccl/calls.hpp"

namespace taut::test {
namespace host_waits_test {

// Counts of one rank, in the mean.
struct Counts {
  double waits = 0;         // of the transport, for messages
  double synchronised = 0;  // other waits for a stream
  double launches = 0, to_host = 0, to_device = 0;
};

Counts counts_so_far() {
  return {0, static_cast<double>(stand_in_waits()), static_cast<double>(stand_in_launches()),
          static_cast<double>(stand_in_copied(stand_in_to_host)),
          static_cast<double>(stand_in_copied(stand_in_to_device))};
}

// Ranks with an allreduce in place of each.
class Allreduces {
 public:
  Allreduces(int P, const std::string& policy) : ranks_(P) {
    for (int r = 0; r < P; ++r) {
      std::vector<float> x(count);
      for (std::size_t i = 0; i < count; ++i)
        x[i] = std::sin(0.01F * static_cast<float>(i) + static_cast<float>(r));
      values_.push_back(std::make_unique<OnGpu<float>>(x));
      states_.emplace_back();
    }
    ranks_.run([&](NcclRank& me) {
      state(me) = std::make_unique<nccl::CommState>(me.comm);
      state(me)->agree(&policy);
    });
  }
  ~Allreduces() { stand_in_finish(); }

  void run() {
    ranks_.run([&](NcclRank& me) {
      float* const x = values_[static_cast<std::size_t>(me.rank)]->data();
      EXPECT_TRUE(state(me)->serve(
          {Collective::allreduce, x, x, count, ncclFloat32, ncclSum, 0, me.comm, me.stream}));
    });
  }

  // Returns the counts of one allreduce of each rank.
  Counts counts() {
    const double P = ranks_.size();
    const Counts before = counts_so_far();
    const double waits_before = waits();
    run();
    const Counts after = counts_so_far();
    return {(waits() - waits_before) / P, (after.synchronised - before.synchronised) / P,
            (after.launches - before.launches) / P, (after.to_host - before.to_host) / P,
            (after.to_device - before.to_device) / P};
  }

 private:
  static constexpr std::size_t count = 40000;

  std::unique_ptr<nccl::CommState>& state(const NcclRank& me) {
    return states_[static_cast<std::size_t>(me.rank)];
  }
  double waits() const {
    std::uint64_t all = 0;
    for (const auto& state : states_) all += state->waits();
    return static_cast<double>(all);
  }

  NcclThreads ranks_;
  std::vector<std::unique_ptr<OnGpu<float>>> values_;
  std::vector<std::unique_ptr<nccl::CommState>> states_;
};

// Returns the counts of an allreduce by two-shot in one segment, once an earlier one has allocated memory.
Counts counts_of(int P, const std::string& policy) {
  Allreduces calls(P, policy + ",codec=planes,algorithm=two_shot,segments=1,when=always,min_bytes=1");
  calls.run();
  return calls.counts();
}

// Rounds: agreement, two for frames, end. Each is a wait and a copy of announcements to either side; those
// for frames wait once more. A sample of the values takes one more wait, and copies of pieces.
void expect_counts(int P, const std::string& bound, double rounds) {
  SCOPED_TRACE(bound + " on " + std::to_string(P) + " ranks");
  const Counts counts = counts_of(P, bound);
  EXPECT_LE(counts.waits, rounds + 2);
  EXPECT_LE(counts.synchronised, 1);
  EXPECT_LE(counts.to_host, rounds + 4);
  EXPECT_LE(counts.to_device, rounds);
  const double ranges = rounds - 4;
  EXPECT_LE(counts.launches, 6 + 2 * ranges);
}

TEST(NcclHostWaits, OfAnAllreduceAreSixForAnyNumberOfRanks) {
  for (const int P : {2, 3, 5, 8}) expect_counts(P, "abs:1e-3", 4);
}

TEST(NcclHostWaits, RelativeBoundsWaitOnceMore) {
  for (const int P : {2, 3, 5, 8}) expect_counts(P, "rel:1e-3", 5);
}

// In slots: for the call itself, and for what the ranks agree on when they settle.
TEST(NcclHostWaits, InSlotsAreTwo) {
  for (const int P : {2, 3, 5, 8}) {
    SCOPED_TRACE(P);
    const Counts counts = counts_of(P, "abs:1e-3,slots=1");
    EXPECT_LE(counts.waits, 2);
    EXPECT_EQ(counts.synchronised, 0);
    EXPECT_LE(counts.to_host, 1);
    EXPECT_LE(counts.launches, P < 8 ? 6 : 8);
  }
}

// By nodes, the sum on the node and its share are a round each, in which the host waits twice; kernels and
// copies of frames are those of one rank of each node. As many as ctest sets in TAUT_RANKS_PER_NODE.
TEST(NcclByNodesWaits, AreTwoRoundsMore) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  for (int N = 2; N <= 4; ++N) {
    SCOPED_TRACE(N);
    const double rounds = 4 + (L > 1 ? 2 : 0);
    const Counts counts = counts_of(N * L, "abs:1e-3,nodes=on");
    EXPECT_LE(counts.waits, 2 * rounds - 2);
    EXPECT_LE(counts.synchronised, 1);
    EXPECT_LE(counts.to_host, rounds + 4);
    EXPECT_LE(counts.to_device, rounds);
    EXPECT_LE(counts.launches, 5);
  }
}

// Frames that are shared on a node of 2 or 3 take one round too, as values do: their headers come with the
// announcements, so that nobody fetches them.
TEST(NcclByNodesWaits, OfSharedFramesAreNoMore) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  for (const char* const nodes : {"on", "frames"}) {
    SCOPED_TRACE(nodes);
    const double rounds = 4 + (L > 1 ? 2 : 0);
    const Counts counts = counts_of(2 * L, std::string("abs:1e-3,algorithm=halving_doubling,nodes=") + nodes);
    EXPECT_LE(counts.waits, 2 * rounds - 2);
    EXPECT_LE(counts.synchronised, 2);
    EXPECT_LE(counts.to_host, rounds + 4);
    EXPECT_LE(counts.to_device, rounds);
    EXPECT_LE(counts.launches, 5 + L / 4);
  }
}

}  // namespace host_waits_test
}  // namespace taut::test

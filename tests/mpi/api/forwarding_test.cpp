// Frames that are forwarded in packets, over MPI: ratios from 2 to 100 among the ranks or along the message.
#include <random>

#include "mpi/api/floats.hpp"
#include "mpi/api/gapped_blocks.hpp"
#include "mpi/api/modes.hpp"

namespace taut::test {
namespace forwarding_test {

constexpr double bound = 1e-3;

// Returns values that compress some 2 times if `noisy`, else some 100 times.
std::vector<float> values(std::size_t count, bool noisy, int salt) {
  std::vector<float> all(count, static_cast<float>(salt));
  std::mt19937 random(static_cast<unsigned>(salt));
  for (std::size_t i = 0; noisy && i < count; ++i)
    all[i] = static_cast<float>(random()) / static_cast<float>(std::mt19937::max()) * 30;
  return all;
}

class Forwarding : public testing::TestWithParam<std::tuple<int, Mode::Kind>> {
 protected:
  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  int run(Blocking blocking, Nonblocking nonblocking, Persistent persistent,
          const Arguments&... arguments) const {
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{std::get<1>(GetParam()), &request};
    return complete(mode, mode(blocking, nonblocking, persistent, arguments...), 2);
  }

  // Returns the messages of this rank for one call.
  double messages(const Comm& comm) const {
    const TAUT_Stats stats = comm.stats();
    return static_cast<double>(stats.sent_messages) / static_cast<double>(stats.compressed_calls);
  }
};

TEST_P(Forwarding, BroadcastsAlongAChain) {
  const Comm comm("abs:1e-3,algorithm=chain,segments=2,when=always,same_bits=off");
  const int P = comm.size(), root = P - 1;
  std::vector<float> want = values(300000, true, 1);
  const std::vector<float> smooth = values(700000, false, 2);
  want.insert(want.end(), smooth.begin(), smooth.end());
  std::vector<float> got = want;
  if (comm.rank() != root) std::fill(got.begin(), got.end(), untouched);
  ASSERT_EQ(run(TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init, got.data(), static_cast<MPI_Count>(got.size()),
                MPI_FLOAT, root, comm),
            MPI_SUCCESS);
  expect_alike(got, want, bound);
  if (P > 2 && comm.rank() != root - 1) {
    EXPECT_GT(messages(comm), 8) << "whole frames";
  }
}

TEST_P(Forwarding, GathersAlongARing) {
  const Comm world("abs:1e-3,algorithm=ring,segments=1,when=always");
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(world, world.rank() % 2, world.rank(), &half);
  const Comm part(half, 0);
  EXPECT_EQ(TAUT_Comm_set_policy(part, "abs:1e-3,algorithm=ring,segments=1,when=always"), MPI_SUCCESS);
  for (const Comm* comm : {&world, &part}) {
    const int P = comm->size(), me = comm->rank();
    // Counts: a large noisy block, an empty one, and large smooth ones.
    const GappedBlocks all(P, [](int i) { return i == 0 ? 400000 : i == 1 ? 0 : 300000 + i; });
    std::vector<float> want(all.extent, untouched), got;
    for (int i = 0; i < P; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const std::vector<float> block = values(static_cast<std::size_t>(all.counts[r]), i == 0, i);
      std::copy(block.begin(), block.end(), want.begin() + all.displacements[r]);
    }
    for (const bool in_place : {false, true}) {
      const auto mine = static_cast<std::size_t>(me);
      const std::vector<float> own = values(static_cast<std::size_t>(all.counts[mine]), me == 0, me);
      got.assign(all.extent, untouched);
      if (in_place) std::copy(own.begin(), own.end(), got.begin() + all.displacements[mine]);
      ASSERT_EQ(run(TAUT_Allgatherv, TAUT_Iallgatherv, TAUT_Allgatherv_init,
                    in_place ? MPI_IN_PLACE : static_cast<const void*>(own.data()), all.counts[mine],
                    MPI_FLOAT, got.data(), all.counts.data(), all.displacements.data(), MPI_FLOAT,
                    static_cast<MPI_Comm>(*comm)),
                MPI_SUCCESS);
      expect_alike(got, want, bound);
    }
    if (P > 2 && me < P - 1) {  // the last rank ends the way of the noisy block
      EXPECT_GT(messages(*comm), P + 4) << "whole frames";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Forwarding,
                         testing::Combine(testing::Values(0),
                                          testing::Values(Mode::blocking, Mode::nonblocking,
                                                          Mode::persistent)),
                         name_by_mode<Forwarding::ParamType>);

}  // namespace forwarding_test
}  // namespace taut::test

// Compares the neighbourhood collectives with those of plain MPI, on all kinds of topologies: the
// same blocks in the same order within the bound, and unchanged memory for MPI_PROC_NULL and between blocks.
#include "mpi/api/floats.hpp"
#include "mpi/api/gapped_blocks.hpp"
#include "mpi/api/modes.hpp"
#include "mpi/api/topologies.hpp"
#include "mpi/api/typed_blocks.hpp"

namespace taut::test {
namespace neighbours_test {

// Blocks for these ranks, of length(rank) values; the count for MPI_PROC_NULL does not matter.
GappedBlocks blocks_for(const std::vector<int>& ranks, const std::function<int(int)>& length) {
  return {static_cast<int>(ranks.size()), [&](int i) {
            const int rank = ranks[static_cast<std::size_t>(i)];
            return rank == MPI_PROC_NULL ? 7 : length(rank);
          }};
}

using Case = std::tuple<const char*, Mode::Kind>;

class NeighbourCalls : public testing::TestWithParam<Case> {
 protected:
  const char* const policy = std::get<0>(GetParam());
  const bool off = std::strcmp(policy, "off") == 0;
  const double bound = std::strchr(policy, ':') != nullptr ? 1e-3 : 0;

  // Makes the call of plain MPI, blocking or not: in grids with one or two ranks in a dimension, the order of
  // the blocks may differ in an MPI.
  template <class Blocking, class Nonblocking, class... Arguments>
  static void plain(Blocking blocking, Nonblocking nonblocking, const Arguments&... arguments) {
    if (std::get<1>(GetParam()) == Mode::blocking) {
      blocking(arguments...);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      nonblocking(arguments..., &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }

  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  int run(Blocking blocking, Nonblocking nonblocking, Persistent persistent,
          const Arguments&... arguments) const {
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{std::get<1>(GetParam()), &request};
    return complete(mode, mode(blocking, nonblocking, persistent, arguments...), 2);
  }

  // Runs check(topology, communicator with the policy) on each topology of the world and of its parts.
  void on_each(const std::function<void(const Topology&, const Comm&)>& check) const {
    const auto work = [&](const Topology& on) {
      const Comm comm(policy, on.comm);
      check(on, comm);
      const bool served =
          !off && std::strstr(policy, "min_bytes=0") != nullptr && comm.size() > 1 && on.name != "no edges";
      if (served) {
        EXPECT_GT(comm.stats().compressed_calls, 0u);
      }
    };
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, -rank_of(MPI_COMM_WORLD), &half);
    with_topologies(MPI_COMM_WORLD, work);
    with_topologies(half, work);
    MPI_Comm_free(&half);
  }
};

TEST_P(NeighbourCalls, Alltoall) {
  on_each([&](const Topology& on, const Comm& comm) {
    const int block = 6007;
    const auto in = wave(on.targets.size() * block + 1, comm.rank());
    std::vector<float> got(on.sources.size() * block + 1, untouched), want = got;
    plain(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, in.data(), block, MPI_FLOAT, want.data(), block,
          MPI_FLOAT, on.comm);
    ASSERT_EQ(run(TAUT_Neighbor_alltoall, TAUT_Ineighbor_alltoall, TAUT_Neighbor_alltoall_init, in.data(),
                  block, MPI_FLOAT, got.data(), block, MPI_FLOAT, comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
  });
}

TEST_P(NeighbourCalls, Alltoallv) {
  on_each([&](const Topology& on, const Comm& comm) {
    const int me = comm.rank();
    const auto length = [](int from, int to) {
      return (from + 2 * to) % 3 == 0 ? 0 : 3000 + 501 * from + 77 * to;
    };
    const GappedBlocks from = blocks_for(on.targets, [&](int to) { return length(me, to); }),
                       to = blocks_for(on.sources, [&](int source) { return length(source, me); });
    const auto in = wave(from.extent, me);
    std::vector<float> got(to.extent, untouched), want = got;
    plain(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, in.data(), from.int_counts.data(),
          from.int_displacements.data(), MPI_FLOAT, want.data(), to.int_counts.data(),
          to.int_displacements.data(), MPI_FLOAT, on.comm);
    ASSERT_EQ(run(TAUT_Neighbor_alltoallv, TAUT_Ineighbor_alltoallv, TAUT_Neighbor_alltoallv_init, in.data(),
                  from.counts.data(), from.displacements.data(), MPI_FLOAT, got.data(), to.counts.data(),
                  to.displacements.data(), MPI_FLOAT, comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
  });
}

TEST_P(NeighbourCalls, Allgather) {
  on_each([&](const Topology& on, const Comm& comm) {
    const int block = 6007;
    const auto in = wave(block, comm.rank());
    std::vector<float> got(on.sources.size() * block + 1, untouched), want = got;
    plain(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, in.data(), block, MPI_FLOAT, want.data(), block,
          MPI_FLOAT, on.comm);
    ASSERT_EQ(run(TAUT_Neighbor_allgather, TAUT_Ineighbor_allgather, TAUT_Neighbor_allgather_init, in.data(),
                  block, MPI_FLOAT, got.data(), block, MPI_FLOAT, comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
  });
}

TEST_P(NeighbourCalls, Allgatherv) {
  on_each([&](const Topology& on, const Comm& comm) {
    const auto length = [](int from) { return from % 3 == 2 ? 0 : 3000 + 501 * from; };
    const GappedBlocks to = blocks_for(on.sources, length);
    const auto in = wave(static_cast<std::size_t>(length(comm.rank())), comm.rank());
    std::vector<float> got(to.extent, untouched), want = got;
    plain(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, in.data(), static_cast<int>(in.size()),
          MPI_FLOAT, want.data(), to.int_counts.data(), to.int_displacements.data(), MPI_FLOAT, on.comm);
    ASSERT_EQ(run(TAUT_Neighbor_allgatherv, TAUT_Ineighbor_allgatherv, TAUT_Neighbor_allgatherv_init,
                  in.data(), static_cast<MPI_Count>(in.size()), MPI_FLOAT, got.data(), to.counts.data(),
                  to.displacements.data(), MPI_FLOAT, comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
  });
}

// Shapes of datatypes that differ from block to block.
TEST_P(NeighbourCalls, Alltoallw) {
  on_each([&](const Topology& on, const Comm& comm) {
    const int me = comm.rank();
    const auto length = [](int from, int to) {
      return (from + 2 * to) % 3 == 0 ? 0 : values_of_shapes * (200 + 51 * from + 7 * to);
    };
    const auto values = [&](const std::vector<int>& ranks, bool sends) {
      return [=](int i) {
        const int rank = ranks[static_cast<std::size_t>(i)];
        return rank == MPI_PROC_NULL ? values_of_shapes : sends ? length(me, rank) : length(rank, me);
      };
    };
    const int out = static_cast<int>(on.targets.size()), in = static_cast<int>(on.sources.size());
    TypedArea from(out, me, values(on.targets, true), me);
    TypedArea got(in, me + 2, values(on.sources, false)), want(in, me + 2, values(on.sources, false));
    plain(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, from.at(), from.int_counts.data(),
          from.displacements.data(), from.types.data(), want.at(), want.int_counts.data(),
          want.displacements.data(), want.types.data(), on.comm);
    ASSERT_EQ(run(TAUT_Neighbor_alltoallw, TAUT_Ineighbor_alltoallw, TAUT_Neighbor_alltoallw_init, from.at(),
                  from.counts.data(), from.displacements.data(), from.types.data(), got.at(),
                  got.counts.data(), got.displacements.data(), got.types.data(), comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
  });
}

// Columns of a matrix on one side, consecutive values on the other.
TEST_P(NeighbourCalls, OfDatatypesWithGaps) {
  on_each([&](const Topology& on, const Comm& comm) {
    MPI_Datatype vector, column;
    MPI_Type_vector(2000, 1, 3, MPI_FLOAT, &vector);
    MPI_Type_create_resized(vector, 0, 6000 * 4, &column);
    MPI_Type_commit(&column);
    const auto in = wave(on.targets.size() * 2000 + 1, comm.rank());
    std::vector<float> got(on.sources.size() * 6000 + 1, untouched), want = got;
    plain(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, in.data(), 2000, MPI_FLOAT, want.data(), 1, column,
          on.comm);
    EXPECT_EQ(run(TAUT_Neighbor_alltoall, TAUT_Ineighbor_alltoall, TAUT_Neighbor_alltoall_init, in.data(),
                  2000, MPI_FLOAT, got.data(), 1, column, comm),
              MPI_SUCCESS);
    expect_alike(got, want, bound);
    MPI_Type_free(&vector);
    MPI_Type_free(&column);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, NeighbourCalls,
    testing::Combine(testing::Values("abs:1e-3,codec=planes,min_bytes=0", "lossless,codec=raw,min_bytes=0",
                                     "rel:1e-4,codec=planes,min_bytes=0,segments=2", "off", "abs:1e-3"),
                     testing::Values(Mode::blocking, Mode::nonblocking, Mode::persistent)),
    name_by_mode<Case>);

// Calls that the ranks leave to plain MPI by agreement: nonblocking ones run without the topology, on Taut's
// own communicator.
class PlainNeighbourCalls : public testing::TestWithParam<Mode::Kind> {};

TEST_P(PlainNeighbourCalls, AreMpisBitForBit) {
  with_topologies(MPI_COMM_WORLD, [&](const Topology& on) {
    const Comm comm("abs:1e-3,min_bytes=1GiB", on.comm);
    const auto length = [](int) { return 900; };
    const GappedBlocks from = blocks_for(on.targets, length), to = blocks_for(on.sources, length);
    std::vector<int> in(from.extent), got(to.extent, -1), want = got;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = comm.rank() * 100000 + static_cast<int>(i);
    MPI_Request plain = MPI_REQUEST_NULL;
    if (GetParam() == Mode::blocking)
      MPI_Neighbor_alltoallv(in.data(), from.int_counts.data(), from.int_displacements.data(), MPI_INT,
                             want.data(), to.int_counts.data(), to.int_displacements.data(), MPI_INT,
                             on.comm);
    else
      MPI_Ineighbor_alltoallv(in.data(), from.int_counts.data(), from.int_displacements.data(), MPI_INT,
                              want.data(), to.int_counts.data(), to.int_displacements.data(), MPI_INT,
                              on.comm, &plain);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{GetParam(), &request};
    const int code = mode(TAUT_Neighbor_alltoallv, TAUT_Ineighbor_alltoallv, TAUT_Neighbor_alltoallv_init,
                          in.data(), from.counts.data(), from.displacements.data(), MPI_INT, got.data(),
                          to.counts.data(), to.displacements.data(), MPI_INT, comm);
    ASSERT_EQ(complete(mode, code), MPI_SUCCESS);
    EXPECT_TRUE(got == want);
    EXPECT_EQ(comm.stats().compressed_calls, 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(All, PlainNeighbourCalls,
                         testing::Values(Mode::blocking, Mode::nonblocking, Mode::persistent));

// Without a topology the call is an error, which MPI reports.
TEST(NeighbourCallsWithoutTopology, AreMpisErrors) {
#ifdef OPEN_MPI
  GTEST_SKIP() << "Open MPI ends the program, whatever the communicator's error handler is";
#endif
  const Comm comm("abs:1e-3,min_bytes=0", MPI_COMM_WORLD);
  std::vector<float> values(100);
  EXPECT_NE(TAUT_Neighbor_alltoall(values.data(), 1, MPI_FLOAT, values.data() + 50, 1, MPI_FLOAT, comm),
            MPI_SUCCESS);
}

}  // namespace neighbours_test
}  // namespace taut::test

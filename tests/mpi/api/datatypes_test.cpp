// Compares collectives of derived datatypes with plain MPI with the same arguments: within the bound, the
// same bits if the policy is lossless, and unchanged bytes between the values.
#include "mpi/api/modes.hpp"
#include "mpi/api/shapes.hpp"

namespace taut::test {
namespace datatypes_test {

constexpr int block_values = values_of_shapes * 500;

// Number of values that rank i sends to rank j.
int matrix(int i, int j) { return (i + 2 * j) % 4 == 0 ? 0 : values_of_shapes * (300 + 51 * i + 7 * j); }

class Datatypes : public testing::TestWithParam<std::tuple<const char*, Mode::Kind>> {
 protected:
  const char* const policy = std::get<0>(GetParam());
  const Comm comm{policy};
  const int P = comm.size(), me = comm.rank(), root = P / 2;
  const double bound = std::strstr(policy, "lossless") != nullptr ? 0 : 1e-3;
  const int step = std::get<1>(GetParam()) == Mode::blocking ? 1 : 5;  // step through the shapes
  std::uint64_t served = 0;

  // Makes the call, and frees the datatypes as soon as MPI allows.
  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  void run(std::initializer_list<Shape*> types, Blocking blocking, Nonblocking nonblocking,
           Persistent persistent, const Arguments&... arguments) {
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{std::get<1>(GetParam()), &request};
    const int code = mode(blocking, nonblocking, persistent, arguments...);
    for (Shape* const type : types) type->free();
    ASSERT_EQ(complete(mode, code), MPI_SUCCESS);
    served += P > 1;
    ASSERT_EQ(comm.stats().compressed_calls, served);
  }

  // MPI_Allgatherv with packed values as reference: Open MPI (5.0.11) hangs if the ranks' datatypes differ in
  // size.
  void gather_to_all(const float* from, const Shape& shape, int own, const GappedBlocks& to, Area& area,
                     const Shape& shape_there) const {
    std::vector<float> packed(static_cast<std::size_t>(own) + 1);
    int position = 0;
    MPI_Pack(from, own / shape.values(), shape.type(), packed.data(), own * 4, &position, MPI_COMM_SELF);
    std::vector<int> counts, displacements;
    int all = 0;
    for (const int count : to.int_counts) {
      displacements.push_back(all);
      counts.push_back(count * shape_there.values());
      all += counts.back();
    }
    std::vector<float> values(static_cast<std::size_t>(all) + 1);
    MPI_Allgatherv(packed.data(), own, MPI_FLOAT, values.data(), counts.data(), displacements.data(),
                   MPI_FLOAT, comm);
    for (std::size_t i = 0; i < ranks(); ++i) {
      position = displacements[i] * 4;
      MPI_Unpack(values.data(), all * 4, &position,
                 area.at() + to.displacements[i] * static_cast<std::ptrdiff_t>(shape_there.floats()),
                 to.int_counts[i], shape_there.type(), MPI_COMM_SELF);
    }
  }

  std::size_t index() const { return static_cast<std::size_t>(me); }
  std::size_t ranks() const { return static_cast<std::size_t>(P); }
};

// Shapes of the sender's and the receiver's datatype, which differ from each other and between ranks.
struct Pair {
  Shape in, out;
  Pair(int round, int rank) : in(round + rank), out(round + 5 * rank + 3) {}
};

TEST_P(Datatypes, Bcast) {
  for (int round = 0; round < shapes; round += step) {
    SCOPED_TRACE(round);
    Shape shape(round + me);
    const int n = block_values / shape.values();
    Area got(shape, static_cast<std::size_t>(n));
    if (me == root) got = Area(shape, static_cast<std::size_t>(n), round);
    Area want = got;
    MPI_Bcast(want.at(), n, shape.type(), root, comm);
    run({&shape}, TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init, got.at(), n, shape.type(), root, comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Allgather) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const int ns = block_values / pair.in.values(), nr = block_values / pair.out.values();
    const auto all = static_cast<std::size_t>(nr) * ranks();
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, all);
    if (in_place) got = Area(pair.out, all, me);
    const Area before = in;
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    MPI_Allgather(from, ns, pair.in.type(), want.at(), nr, pair.out.type(), comm);
    run({&pair.in, &pair.out}, TAUT_Allgather, TAUT_Iallgather, TAUT_Allgather_init, from, ns, pair.in.type(),
        got.at(), nr, pair.out.type(), comm);
    expect_alike(got.floats, want.floats, bound);
    ASSERT_TRUE(in.floats == before.floats);
  }
}

TEST_P(Datatypes, Alltoall) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const int ns = block_values / pair.in.values(), nr = block_values / pair.out.values();
    const auto all = static_cast<std::size_t>(nr) * ranks();
    Area in(pair.in, static_cast<std::size_t>(ns) * ranks(), me), got(pair.out, all);
    if (in_place) got = Area(pair.out, all, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    MPI_Alltoall(from, ns, pair.in.type(), want.at(), nr, pair.out.type(), comm);
    run({&pair.in, &pair.out}, TAUT_Alltoall, TAUT_Ialltoall, TAUT_Alltoall_init, from, ns, pair.in.type(),
        got.at(), nr, pair.out.type(), comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Gather) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int ns = block_values / pair.in.values(), nr = block_values / pair.out.values();
    const auto all = static_cast<std::size_t>(nr) * ranks();
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, all);
    if (in_place) got = Area(pair.out, all, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    MPI_Gather(from, ns, pair.in.type(), want.at(), nr, pair.out.type(), root, comm);
    run({&pair.in, &pair.out}, TAUT_Gather, TAUT_Igather, TAUT_Gather_init, from, ns, pair.in.type(),
        got.at(), nr, pair.out.type(), root, comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Scatter) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int ns = block_values / pair.in.values(), nr = block_values / pair.out.values();
    Area in(pair.in, static_cast<std::size_t>(ns) * ranks(), me), got(pair.out, static_cast<std::size_t>(nr));
    Area want = got;
    MPI_Scatter(in.at(), ns, pair.in.type(), in_place ? MPI_IN_PLACE : want.at(), nr, pair.out.type(), root,
                comm);
    run({&pair.in, &pair.out}, TAUT_Scatter, TAUT_Iscatter, TAUT_Scatter_init, in.at(), ns, pair.in.type(),
        in_place ? MPI_IN_PLACE : got.at(), nr, pair.out.type(), root, comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Allgatherv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const auto floats = static_cast<std::ptrdiff_t>(pair.out.floats());
    const int own = matrix(me, 1), ns = own / pair.in.values();
    const GappedBlocks blocks = shaped_blocks(P, pair.out, [](int i) { return matrix(i, 1); });
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, blocks.extent);
    if (in_place) got = Area(pair.out, blocks.extent, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    gather_to_all(in_place ? want.at() + blocks.displacements[index()] * floats : in.at(),
                  in_place ? pair.out : pair.in, own, blocks, want, pair.out);
    run({&pair.in, &pair.out}, TAUT_Allgatherv, TAUT_Iallgatherv, TAUT_Allgatherv_init, from, ns,
        pair.in.type(), got.at(), blocks.counts.data(), blocks.displacements.data(), pair.out.type(), comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Gatherv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int own = matrix(me, 1), ns = own / pair.in.values();
    const GappedBlocks blocks = shaped_blocks(P, pair.out, [](int i) { return matrix(i, 1); });
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, blocks.extent);
    if (in_place) got = Area(pair.out, blocks.extent, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    MPI_Gatherv(from, ns, pair.in.type(), want.at(), blocks.int_counts.data(),
                blocks.int_displacements.data(), pair.out.type(), root, comm);
    run({&pair.in, &pair.out}, TAUT_Gatherv, TAUT_Igatherv, TAUT_Gatherv_init, from, ns, pair.in.type(),
        got.at(), blocks.counts.data(), blocks.displacements.data(), pair.out.type(), root, comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Scatterv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int nr = matrix(1, me) / pair.out.values();
    const GappedBlocks blocks = shaped_blocks(P, pair.in, [](int i) { return matrix(1, i); });
    Area in(pair.in, blocks.extent, me), got(pair.out, static_cast<std::size_t>(nr));
    Area want = got;
    MPI_Scatterv(in.at(), blocks.int_counts.data(), blocks.int_displacements.data(), pair.in.type(),
                 in_place ? MPI_IN_PLACE : want.at(), nr, pair.out.type(), root, comm);
    run({&pair.in, &pair.out}, TAUT_Scatterv, TAUT_Iscatterv, TAUT_Scatterv_init, in.at(),
        blocks.counts.data(), blocks.displacements.data(), pair.in.type(), in_place ? MPI_IN_PLACE : got.at(),
        nr, pair.out.type(), root, comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

TEST_P(Datatypes, Alltoallv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const auto symmetric = [&](int i) { return matrix(std::min(me, i), std::max(me, i)); };
    const GappedBlocks from = shaped_blocks(P, pair.in, [&](int i) { return matrix(me, i); });
    const GappedBlocks to =
        shaped_blocks(P, pair.out, [&](int i) { return in_place ? symmetric(i) : matrix(i, me); });
    Area in(pair.in, from.extent, me), got(pair.out, to.extent);
    if (in_place) got = Area(pair.out, to.extent, me);
    Area want = got;
    const void* const at = in_place ? MPI_IN_PLACE : in.at();
    MPI_Alltoallv(at, from.int_counts.data(), from.int_displacements.data(), pair.in.type(), want.at(),
                  to.int_counts.data(), to.int_displacements.data(), pair.out.type(), comm);
    run({&pair.in, &pair.out}, TAUT_Alltoallv, TAUT_Ialltoallv, TAUT_Alltoallv_init, at, from.counts.data(),
        from.displacements.data(), pair.in.type(), got.at(), to.counts.data(), to.displacements.data(),
        pair.out.type(), comm);
    expect_alike(got.floats, want.floats, bound);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Datatypes,
    testing::Combine(testing::Values("abs:1e-3,codec=planes,min_bytes=0", "lossless,codec=raw,min_bytes=0",
                                     "rel:1e-4,codec=planes,min_bytes=0,segments=2"),
                     testing::Values(Mode::blocking, Mode::nonblocking, Mode::persistent)),
    name_by_mode<Datatypes::ParamType>);

}  // namespace datatypes_test
}  // namespace taut::test

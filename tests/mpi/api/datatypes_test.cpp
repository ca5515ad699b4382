// Compares collectives of derived datatypes with plain MPI with the same arguments: within the bound, the
// same bits if the policy is lossless, and unchanged bytes between the values.
#include "mpi/api/shapes.hpp"

#include "api/args/datatype_layout.hpp"

namespace taut::test {
namespace {

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
    ASSERT_EQ(mode(blocking, nonblocking, persistent, arguments...), MPI_SUCCESS);
    for (Shape* const type : types) type->free();
    if (mode.kind == Mode::persistent) {
      ASSERT_EQ(TAUT_Start(&request), MPI_SUCCESS);
    }
    if (mode.kind != Mode::blocking) {
      ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    TAUT_Request_free(&request);
    served += P > 1;
    ASSERT_EQ(comm.stats().compressed_calls, served);
  }

  void expect_alike(const Area& got, const Area& want) const {
    for (std::size_t i = 0; i < got.floats.size(); ++i) {
      const double off = std::abs(static_cast<double>(got.floats[i]) - static_cast<double>(want.floats[i]));
      ASSERT_LE(off, want.floats[i] == Area::untouched ? 0 : bound) << i;
    }
  }

  // MPI_Allgatherv with packed values as reference: Open MPI (5.0.11) hangs if the ranks' datatypes differ in
  // size.
  void gather_to_all(const float* from, const Shape& shape, int own, const ShapedBlocks& to, Area& area,
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
    expect_alike(got, want);
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
    expect_alike(got, want);
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
    expect_alike(got, want);
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
    expect_alike(got, want);
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
    expect_alike(got, want);
  }
}

TEST_P(Datatypes, Allgatherv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const auto floats = static_cast<std::ptrdiff_t>(pair.out.floats());
    const int own = matrix(me, 1), ns = own / pair.in.values();
    const ShapedBlocks blocks(P, pair.out, [](int i) { return matrix(i, 1); });
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, blocks.elements);
    if (in_place) got = Area(pair.out, blocks.elements, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    gather_to_all(in_place ? want.at() + blocks.displacements[index()] * floats : in.at(),
                  in_place ? pair.out : pair.in, own, blocks, want, pair.out);
    run({&pair.in, &pair.out}, TAUT_Allgatherv, TAUT_Iallgatherv, TAUT_Allgatherv_init, from, ns,
        pair.in.type(), got.at(), blocks.counts.data(), blocks.displacements.data(), pair.out.type(), comm);
    expect_alike(got, want);
  }
}

TEST_P(Datatypes, Gatherv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int own = matrix(me, 1), ns = own / pair.in.values();
    const ShapedBlocks blocks(P, pair.out, [](int i) { return matrix(i, 1); });
    Area in(pair.in, static_cast<std::size_t>(ns), me), got(pair.out, blocks.elements);
    if (in_place) got = Area(pair.out, blocks.elements, me);
    Area want = got;
    const void* const from = in_place ? MPI_IN_PLACE : in.at();
    MPI_Gatherv(from, ns, pair.in.type(), want.at(), blocks.int_counts.data(),
                blocks.int_displacements.data(), pair.out.type(), root, comm);
    run({&pair.in, &pair.out}, TAUT_Gatherv, TAUT_Igatherv, TAUT_Gatherv_init, from, ns, pair.in.type(),
        got.at(), blocks.counts.data(), blocks.displacements.data(), pair.out.type(), root, comm);
    expect_alike(got, want);
  }
}

TEST_P(Datatypes, Scatterv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes && me == root;
    const int nr = matrix(1, me) / pair.out.values();
    const ShapedBlocks blocks(P, pair.in, [](int i) { return matrix(1, i); });
    Area in(pair.in, blocks.elements, me), got(pair.out, static_cast<std::size_t>(nr));
    Area want = got;
    MPI_Scatterv(in.at(), blocks.int_counts.data(), blocks.int_displacements.data(), pair.in.type(),
                 in_place ? MPI_IN_PLACE : want.at(), nr, pair.out.type(), root, comm);
    run({&pair.in, &pair.out}, TAUT_Scatterv, TAUT_Iscatterv, TAUT_Scatterv_init, in.at(),
        blocks.counts.data(), blocks.displacements.data(), pair.in.type(), in_place ? MPI_IN_PLACE : got.at(),
        nr, pair.out.type(), root, comm);
    expect_alike(got, want);
  }
}

TEST_P(Datatypes, Alltoallv) {
  for (int round = 0; round < 2 * shapes; round += step) {
    SCOPED_TRACE(round);
    Pair pair(round, me);
    const bool in_place = round >= shapes;
    const auto symmetric = [&](int i) { return matrix(std::min(me, i), std::max(me, i)); };
    const ShapedBlocks from(P, pair.in, [&](int i) { return matrix(me, i); });
    const ShapedBlocks to(P, pair.out, [&](int i) { return in_place ? symmetric(i) : matrix(i, me); });
    Area in(pair.in, from.elements, me), got(pair.out, to.elements);
    if (in_place) got = Area(pair.out, to.elements, me);
    Area want = got;
    const void* const at = in_place ? MPI_IN_PLACE : in.at();
    MPI_Alltoallv(at, from.int_counts.data(), from.int_displacements.data(), pair.in.type(), want.at(),
                  to.int_counts.data(), to.int_displacements.data(), pair.out.type(), comm);
    run({&pair.in, &pair.out}, TAUT_Alltoallv, TAUT_Ialltoallv, TAUT_Alltoallv_init, at, from.counts.data(),
        from.displacements.data(), pair.in.type(), got.at(), to.counts.data(), to.displacements.data(),
        pair.out.type(), comm);
    expect_alike(got, want);
  }
}

std::string name_of_case(const testing::TestParamInfo<Datatypes::ParamType>& test) {
  const char* const kinds[] = {"Blocking", "Nonblocking", "Persistent"};
  return std::string(kinds[std::get<1>(test.param)]) + std::to_string(test.index);
}

INSTANTIATE_TEST_SUITE_P(
    All, Datatypes,
    testing::Combine(testing::Values("abs:1e-3,codec=planes,min_bytes=0", "lossless,codec=raw,min_bytes=0",
                                     "rel:1e-4,codec=planes,min_bytes=0,segments=2"),
                     testing::Values(Mode::blocking, Mode::nonblocking, Mode::persistent)),
    name_of_case);

// ---- Special cases

TEST(DatatypesLookedInto, AreDenseOrNot) {
  const bool dense[shapes] = {true, true, true, false, false, false, false, false, false, false, false, true};
  for (int kind = 0; kind < shapes; ++kind)
    for (int time = 0; time < 2; ++time) {  // the second time the layout of the type is cached
      const Shape shape(kind);
      const auto elements = api::datatype_layout_of(shape.type());
      ASSERT_TRUE(elements.has_value()) << kind;
      EXPECT_EQ(elements->type(), DType::f32);
      EXPECT_EQ(elements->values_per_element, static_cast<std::size_t>(shape.values()));
      EXPECT_EQ(elements->dense, dense[kind]) << kind;
      MPI_Datatype again;
      MPI_Type_dup(shape.type(), &again);
      EXPECT_EQ(api::datatype_layout_of(again)->dense, dense[kind]) << kind;
      MPI_Type_free(&again);
    }
  EXPECT_FALSE(api::datatype_layout_of(MPI_FLOAT_INT).has_value());
  EXPECT_FALSE(api::datatype_layout_of(MPI_PACKED).has_value());
  EXPECT_FALSE(api::datatype_layout_of(MPI_DATATYPE_NULL).has_value());
}

TEST(DatatypesOfManyKinds, AreMpis) {
  const Comm comm("abs:1e-3,min_bytes=0");
  struct Mixed {
    int i;
    float f;
    bool operator==(const Mixed&) const = default;
  };
  int lengths[] = {1, 1};
  MPI_Aint places[] = {0, 4};
  MPI_Datatype types[] = {MPI_INT, MPI_FLOAT}, mixed;
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_commit(&mixed);
  std::vector<Mixed> all(10000);
  if (comm.rank() == 0)
    for (int i = 0; i < 10000; ++i) all[static_cast<std::size_t>(i)] = {i, 0.001F * static_cast<float>(i)};
  ASSERT_EQ(TAUT_Bcast(all.data(), 10000, mixed, 0, comm), MPI_SUCCESS);
  EXPECT_TRUE((all.back() == Mixed{9999, 0.001F * 9999}));
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  MPI_Type_free(&mixed);
}

// Integers have nothing to lose: under a bound they fall back, without loss they are compressed.
TEST(DatatypesOfIntegers, AreServedWithoutLossAlone) {
  for (const bool lossless : {false, true}) {
    const Comm comm(lossless ? "lossless,codec=raw,min_bytes=0" : "abs:1e-3,min_bytes=0");
    MPI_Datatype apart;
    MPI_Type_vector(1000, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    std::vector<int> values(20000, -1);
    if (comm.rank() == 0)
      for (std::size_t i = 0; i < values.size(); i += 2) values[i] = static_cast<int>(i);
    ASSERT_EQ(TAUT_Bcast(values.data(), 1, apart, 0, comm), MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], comm.rank() != 0 && i >= 2000 ? -1 : i % 2 == 0 ? static_cast<int>(i) : -1);
    EXPECT_EQ(comm.stats().compressed_calls, lossless && comm.size() > 1 ? 1u : 0u);
    MPI_Type_free(&apart);
  }
}

TEST(DatatypesWithAddresses, FromMpiBottom) {
  const Comm comm("abs:1e-3,codec=planes,min_bytes=0");
  std::vector<float> first(5000, Area::untouched), second(first);
  if (comm.rank() == 0)
    for (std::size_t i = 0; i < 5000; ++i) first[i] = second[i] = 0.001F * static_cast<float>(i);
  int lengths[] = {5000, 5000};
  MPI_Aint places[2];
  MPI_Get_address(first.data(), &places[0]);
  MPI_Get_address(second.data(), &places[1]);
  MPI_Datatype both;
  MPI_Type_create_hindexed(2, lengths, places, MPI_FLOAT, &both);
  MPI_Type_commit(&both);
  ASSERT_EQ(TAUT_Bcast(MPI_BOTTOM, 1, both, 0, comm), MPI_SUCCESS);
  for (std::size_t i = 0; i < 5000; ++i) {
    ASSERT_NEAR(first[i], 0.001 * static_cast<double>(i), 1.01e-3);
    ASSERT_EQ(first[i], second[i]);
  }
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
  MPI_Type_free(&both);
}

TEST(DatatypesWithoutElements, AreServedOrPlain) {
  const Comm comm("abs:1e-3,codec=planes,min_bytes=0");
  const int P = comm.size();
  Shape shape(3);
  const std::vector<MPI_Count> none(static_cast<std::size_t>(P), 0);
  const std::vector<MPI_Aint> places(static_cast<std::size_t>(P), 0);
  Area area(shape, 4);
  EXPECT_EQ(TAUT_Bcast(area.at(), 0, shape.type(), 0, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Allgather(nullptr, 0, shape.type(), area.at(), 0, shape.type(), comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Alltoallv(area.at(), none.data(), places.data(), shape.type(), area.at() + 4, none.data(),
                           places.data(), shape.type(), comm),
            MPI_SUCCESS);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_FLOAT, &empty);
  MPI_Type_commit(&empty);
  EXPECT_EQ(TAUT_Bcast(area.at(), 100, empty, 0, comm), MPI_SUCCESS);
  MPI_Type_free(&empty);
  for (const float value : area.floats) EXPECT_EQ(value, Area::untouched);
}

// Predefined types without a name must not be freed.
TEST(DatatypesOfFortran, AreLeftToMpi) {
  const Comm comm("abs:1e-1,min_bytes=0");
  MPI_Datatype real, four;
  ASSERT_EQ(MPI_Type_create_f90_real(15, 307, &real), MPI_SUCCESS);
  MPI_Type_contiguous(4, real, &four);
  MPI_Type_commit(&four);
  std::vector<double> values(4000, comm.rank() == 0 ? 0.5 : 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TAUT_Bcast(values.data(), 1000, four, 0, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Bcast(values.data(), 4000, real, 0, comm), MPI_SUCCESS);
  EXPECT_EQ(values.back(), 0.5);
  MPI_Type_free(&four);
}

extern "C" void add_rows(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < 4 * *count; ++i) static_cast<float*>(inout)[i] += static_cast<float*>(in)[i];
}

// MPI has no predefined operators for derived datatypes.
TEST(DatatypesInReductions, AreMpis) {
  const Comm comm("abs:1e-1,min_bytes=0");
  const Shape row(1);
  std::vector<float> values(40000, 0.25F), sum(values.size());
  const auto class_of = [](int code) {
    int error = MPI_SUCCESS;
    MPI_Error_class(code, &error);
    return error;
  };
  const int plain = MPI_Allreduce(values.data(), sum.data(), 10000, row.type(), MPI_SUM, comm);
  EXPECT_NE(class_of(plain), MPI_SUCCESS);
  EXPECT_EQ(class_of(TAUT_Allreduce(values.data(), sum.data(), 10000, row.type(), MPI_SUM, comm)),
            class_of(plain));
  MPI_Op add;
  MPI_Op_create(add_rows, 1, &add);
  EXPECT_EQ(TAUT_Allreduce(values.data(), sum.data(), 10000, row.type(), add, comm), MPI_SUCCESS);
  EXPECT_EQ(sum.front(), 0.25F * static_cast<float>(comm.size()));
  EXPECT_EQ(sum.back(), 0.25F * static_cast<float>(comm.size()));
  MPI_Op_free(&add);
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
}

}  // namespace
}  // namespace taut::test

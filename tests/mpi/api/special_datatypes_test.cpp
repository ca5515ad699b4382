// Datatypes that are no arrangement of floats: several kinds of values, none, addresses, Fortran's types; and
// the layouts that Taut finds.
#include "communication/mpi/datatype_layout.hpp"
#include "mpi/api/messages.hpp"
#include "mpi/api/shapes.hpp"

namespace taut::test {
namespace {

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
TEST(DatatypesOfIntegers, AreServedWithoutLoss) {
  for (const char* policy : {"lossless,codec=raw,min_bytes=0", "abs:100,min_bytes=0"}) {
    const Comm comm(policy);
    MPI_Datatype apart;
    MPI_Type_vector(1000, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    std::vector<int> values(20000, -1);
    if (comm.rank() == 0)
      for (std::size_t i = 0; i < values.size(); i += 2) values[i] = static_cast<int>(i);
    ASSERT_EQ(TAUT_Bcast(values.data(), 1, apart, 0, comm), MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], comm.rank() != 0 && i >= 2000 ? -1 : i % 2 == 0 ? static_cast<int>(i) : -1);
    EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
    MPI_Type_free(&apart);
  }
}

TEST(DatatypesWithAddresses, FromMpiBottom) {
  const Comm comm("abs:1e-3,codec=planes,min_bytes=0");
  std::vector<float> first(5000, untouched), second(first);
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
  for (const float value : area.floats) EXPECT_EQ(value, untouched);
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

// Compares collective calls with plain MPI: equal if the policy is lossless, else within the bound.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace collectives_test {

struct Case {
  Collective collective;
  bool in_place;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.collective) << (c.in_place ? " in place" : "");
}

class Collectives : public testing::TestWithParam<Case> {
 protected:
  // Makes one call and checks status, bound and equal bits.
  void expect_within(const char* policy, std::size_t count, DType type, double bound, int roundings,
                     Reduction op = Reduction::sum, MPI_Comm parent = world_of_neighbours()) {
    const auto [collective, in_place] = GetParam();
    const Comm comm(policy, parent);
    const int P = comm.size(), root = P - 1;
    SCOPED_TRACE(testing::Message() << policy << " count " << count << " " << name_of(type) << " "
                                    << name_of(op));
    const std::size_t whole = count * static_cast<std::size_t>(P);
    Job job(collective, P, whole, type, Pattern::smooth, 1, op, root, in_place);
    EXPECT_EQ(call(collective, job, type, mpi_op(op), root, in_place, comm), MPI_SUCCESS);
    EXPECT_EQ(check_here(collective, job, in_place, comm.rank(), bound, roundings), "");
    if (Job::same_everywhere(collective)) {
      EXPECT_TRUE(same_on_all(job, comm));
    }
    if (P > 1) {
      EXPECT_EQ(comm.stats().compressed_calls, 1u);
    }
  }
};

TEST_P(Collectives, BoundOfTheResult) {
  for (const DType type : {DType::f32, DType::f64})
    for (const std::size_t count : {30001u, 70000u}) expect_within("abs:1e-3", count, type, 1e-3, 0);
}

TEST_P(Collectives, ByValuesAndInOtherWays) {
  const int P = size_of_comm(MPI_COMM_WORLD);
  expect_within("abs:1e-3,reduction=values", 30001, DType::f32, 1e-3, 2 * P);
  expect_within("abs:1e-3,algorithm=ring,segments=5", 30001, DType::f32, 1e-3, 0);
  expect_within("abs:1e-3,algorithm=recursive_doubling,segments=2,checksum=on", 30001, DType::f64, 1e-3, 0);
  expect_within("abs:1e-3,on=input", 30001, DType::f32, reduces(GetParam().collective) ? 1e-3 * P : 1e-3, 0);
}

TEST_P(Collectives, MinimaAndMaxima) {
  for (const Reduction op : {Reduction::min, Reduction::max})
    expect_within("abs:1e-3", 30001, DType::f32, 1e-3, 0, op);
}

TEST_P(Collectives, ExactWhenLossless) {
  const int P = size_of_comm(MPI_COMM_WORLD);
  for (const DType type : {DType::f32, DType::f64}) {
    expect_within("lossless,codec=raw", 30001, type, 0, P);
    expect_within("lossless,codec=raw", 30001, type, 0, 0, Reduction::max);
  }
}

TEST_P(Collectives, ComplexNumbers) {
  expect_within("abs:1e-3", 30001, DType::c64, 1e-3, 0);
  expect_within("abs:1e-3,segments=2", 20001, DType::c128, 1e-3, 0);
  expect_within("abs:1e-3,reduction=values", 30001, DType::c64, 1e-3, 2 * size_of_comm(MPI_COMM_WORLD));
}

TEST_P(Collectives, IntegersWhereNothingIsLost) {
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64})
    expect_within("lossless,codec=raw,min_bytes=0", 30001, type, 0, 0, Reduction::min);
}

TEST_P(Collectives, MovedIntegersAreCodedWithoutLossUnderEveryBound) {
  if (reduces(GetParam().collective)) GTEST_SKIP() << "plain MPI reduces integers";
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64})
    for (const char* policy : {"abs:100,when=always,min_bytes=0", "rel:0.5,codec=planes,min_bytes=0"})
      expect_within(policy, 30001, type, 0, 0);
}

TEST_P(Collectives, FewValuesAndNone) {
  const int P = size_of_comm(MPI_COMM_WORLD);
  for (const std::size_t count : {0u, 1u, 2u, 33u}) {
    expect_within("abs:1e-3,codec=planes,min_bytes=0", count, DType::f32, 1e-3, 0);
    expect_within("lossless,codec=raw,min_bytes=0,segments=3", count, DType::f64, 0, P);
  }
}

TEST_P(Collectives, OnPartsOfTheWorld) {
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  MPI_Comm half = with_all_as_neighbours(part);
  MPI_Comm_free(&part);
  expect_within("abs:1e-3", 30001, DType::f32, 1e-3, 0, Reduction::sum, half);
  MPI_Comm_free(&half);
}

// Several calls of different kinds under one policy, on communicators that exist at the same time.
TEST_P(Collectives, ManyCallsOnTwoCommunicators) {
  const auto [collective, in_place] = GetParam();
  const Comm first("abs:1e-3"), second("abs:1e-2,segments=2");
  const int P = first.size();
  for (std::uint64_t i = 0; i < 8; ++i) {
    Job job(collective, P, (20000 + i) * static_cast<std::size_t>(P), DType::f32, Pattern::noisy, i,
            Reduction::sum, 0, in_place);
    const Comm& comm = i % 3 == 0 ? second : first;
    ASSERT_EQ(call(collective, job, DType::f32, MPI_SUM, 0, in_place, comm), MPI_SUCCESS);
    ASSERT_EQ(check_here(collective, job, in_place, comm.rank(), i % 3 == 0 ? 1e-2 : 1e-3, 0), "");
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Collective collective : all_collectives) {
    if (collective != Collective::bcast) all.push_back({collective, false});
    all.push_back({collective, true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Collectives, testing::ValuesIn(cases()), [](const auto& test) {
  return std::string(name_of(test.param.collective)) + (test.param.in_place ? "_in_place" : "");
});

// ---- Calls that fall back: the results are MPI's, bit for bit

template <class T>
std::vector<T> numbers(std::size_t count, int salt) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>((i * 7 + static_cast<std::size_t>(salt) * 13) % 101);
  return values;
}

TEST(PlainCalls, OtherTypesAndOperators) {
  const Comm comm("abs:1e-1");
  const std::size_t n = 50000;
  const auto ints = numbers<int>(n, comm.rank());
  std::vector<int> got(n), want(n);
  ASSERT_EQ(TAUT_Allreduce(ints.data(), got.data(), n, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  MPI_Allreduce(ints.data(), want.data(), n, MPI_INT, MPI_SUM, comm);
  EXPECT_TRUE(got == want);
  auto doubles = numbers<double>(n, comm.rank());
  for (double& x : doubles) x = x < 50 ? 1 : 2;  // products without rounding, in any grouping
  std::vector<double> product(n), want_product(n);
  ASSERT_EQ(TAUT_Allreduce(doubles.data(), product.data(), n, MPI_DOUBLE, MPI_PROD, comm), MPI_SUCCESS);
  MPI_Allreduce(doubles.data(), want_product.data(), n, MPI_DOUBLE, MPI_PROD, comm);
  EXPECT_TRUE(product == want_product);
  std::vector<double> bytes = doubles;
  ASSERT_EQ(TAUT_Bcast(bytes.data(), static_cast<MPI_Count>(8 * n), MPI_BYTE, 0, comm), MPI_SUCCESS);
  MPI_Bcast(doubles.data(), static_cast<int>(8 * n), MPI_BYTE, 0, comm);
  EXPECT_TRUE(bytes == doubles);
  const std::uint64_t coded = comm.size() > 1 ? 1 : 0;  // the bytes, without loss
  EXPECT_EQ(comm.stats().plain_unsupported, 3u - coded);
  EXPECT_EQ(comm.stats().compressed_calls, coded);
}

TEST(PlainCalls, IntegersUnderABoundAndTheirSums) {
  for (const char* policy : {"abs:1e-1,codec=raw", "lossless,codec=raw"}) {
    const Comm comm(policy);
    const std::size_t n = 50000;
    const auto ints = numbers<int>(n, comm.rank());
    std::vector<int> got(n), want(n);
    ASSERT_EQ(TAUT_Allreduce(ints.data(), got.data(), n, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    MPI_Allreduce(ints.data(), want.data(), n, MPI_INT, MPI_SUM, comm);
    EXPECT_TRUE(got == want);
    EXPECT_EQ(comm.stats().compressed_calls, 0u);
    ASSERT_EQ(TAUT_Allreduce(ints.data(), got.data(), n, MPI_INT, MPI_MAX, comm), MPI_SUCCESS);
    MPI_Allreduce(ints.data(), want.data(), n, MPI_INT, MPI_MAX, comm);
    EXPECT_TRUE(got == want);
    const bool lossless = policy[0] == 'l' && comm.size() > 1;
    EXPECT_EQ(comm.stats().compressed_calls, lossless ? 1u : 0u);
  }
}

TEST(PlainCalls, ComplexNumbersHaveNoOrder) {
  const Comm comm("abs:1e-1");
  std::vector<double> x(100000, 1), y(100000);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT_NE(TAUT_Allreduce(x.data(), y.data(), 50000, MPI_C_DOUBLE_COMPLEX, MPI_MAX, comm), MPI_SUCCESS);
}

TEST(PlainCalls, SmallOnesAndThoseWithoutAPolicy) {
  for (const char* policy : {(const char*)nullptr, "off", "abs:1e-1"}) {
    const Comm comm(policy);
    const auto values = numbers<float>(1000, comm.rank());
    std::vector<float> got(1000), want(1000);
    ASSERT_EQ(TAUT_Allreduce(values.data(), got.data(), 1000, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    MPI_Allreduce(values.data(), want.data(), 1000, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_TRUE(got == want);
    EXPECT_EQ(comm.stats().compressed_calls, 0u);
  }
}

// Types may differ between ranks if their signatures are equal. If one rank's type is unknown to Taut, all
// ranks fall back. Packed bytes may be of any type.
TEST(PlainCalls, AnUnknownTypeOnOneRank) {
  const Comm comm("abs:1e-1");
  const auto P = static_cast<std::size_t>(comm.size());
  const bool packed = comm.rank() == comm.size() - 1;
  const MPI_Datatype type = packed ? MPI_PACKED : MPI_FLOAT;
  const int n = packed ? 400000 : 100000;
  auto values = numbers<float>(100000, comm.rank());
  ASSERT_EQ(TAUT_Bcast(values.data(), n, type, 0, comm), MPI_SUCCESS);
  EXPECT_TRUE(values == numbers<float>(100000, 0));
  const auto own = numbers<float>(100000, comm.rank());
  std::vector<float> all(100000 * P), block(100000);
  ASSERT_EQ(TAUT_Allgather(own.data(), n, type, all.data(), n, type, comm), MPI_SUCCESS);
  for (std::size_t r = 0; r < P; ++r) {
    const auto want = numbers<float>(100000, static_cast<int>(r));
    EXPECT_TRUE(std::equal(want.begin(), want.end(), all.begin() + static_cast<std::ptrdiff_t>(100000 * r)));
  }
  ASSERT_EQ(TAUT_Scatter(all.data(), n, type, block.data(), n, type, 0, comm), MPI_SUCCESS);
  EXPECT_TRUE(block == own);
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
}

TEST(PlainCalls, IncompressibleValues) {
  const Comm comm("abs:1e-9");
  const Values values =
      make_values(DType::f32, 100000, Pattern::wild, static_cast<std::uint64_t>(comm.rank()));
  Values got(DType::f32, 100000), want(DType::f32, 100000);
  ASSERT_EQ(TAUT_Allreduce(values.slice().data, got.slice().data, 100000, MPI_FLOAT, MPI_SUM, comm),
            MPI_SUCCESS);
  MPI_Allreduce(values.slice().data, want.slice().data, 100000, MPI_FLOAT, MPI_SUM, comm);
  EXPECT_TRUE(got == want);
  if (comm.size() > 1) {
    EXPECT_EQ(comm.stats().plain_no_gain, 1u);
  }
}

TEST(PlainCalls, OneRankLeavesTheDataUntouched) {
  const Comm comm("abs:1e-1", MPI_COMM_SELF);
  const Values values = make_values(DType::f64, 100000, Pattern::noisy, 1);
  Values got(DType::f64, 100000);
  ASSERT_EQ(TAUT_Allreduce(values.slice().data, got.slice().data, 100000, MPI_DOUBLE, MPI_SUM, comm),
            MPI_SUCCESS);
  EXPECT_TRUE(got == values);
}

TEST(PlainCalls, Intercommunicators) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of_comm(MPI_COMM_WORLD);
  if (size < 2) return;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 99, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  EXPECT_EQ(TAUT_Comm_set_policy(inter, "abs:1e-1"), MPI_SUCCESS);
  const auto values = numbers<double>(50000, rank);
  std::vector<double> got(50000), want(50000);
  EXPECT_EQ(TAUT_Allreduce(values.data(), got.data(), 50000, MPI_DOUBLE, MPI_SUM, inter), MPI_SUCCESS);
  MPI_Allreduce(values.data(), want.data(), 50000, MPI_DOUBLE, MPI_SUM, inter);
  EXPECT_TRUE(got == want);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace collectives_test
}  // namespace taut::test

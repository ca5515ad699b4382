// Compares TAUT_Avg() with the mean in double.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace average_test {

constexpr int n = 40000;

std::vector<double> values_of(int rank) {
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = std::sin(1e-3 * i + rank);
  return values;
}

struct Way {
  const char* policy;  // null: no policy
  double bound;
};

class Average : public testing::TestWithParam<Way> {
 protected:
  const Comm comm{GetParam().policy};
  const int P = comm.size(), me = comm.rank();
  std::vector<double> in = values_of(me), out = std::vector<double>(n, -7), mean = std::vector<double>(n);

  void SetUp() override {
    for (int r = 0; r < P; ++r) {
      const auto theirs = values_of(r);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += theirs[i] / P;
    }
  }
  // Expects that the first `count` values of `out` are the means from `first` on.
  void expect_means(std::size_t first, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_LE(std::abs(out[i] - mean[first + i]), GetParam().bound + 1e-14) << i;
  }
};

TEST_P(Average, Allreduce) {
  ASSERT_EQ(TAUT_Allreduce(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), comm), MPI_SUCCESS);
  expect_means(0, n);
  ASSERT_EQ(TAUT_Allreduce(MPI_IN_PLACE, in.data(), n, MPI_DOUBLE, TAUT_Avg(), comm), MPI_SUCCESS);
  out = in;
  expect_means(0, n);
}

TEST_P(Average, Reduce) {
  ASSERT_EQ(TAUT_Reduce(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), P - 1, comm), MPI_SUCCESS);
  if (me == P - 1)
    expect_means(0, n);
  else
    EXPECT_EQ(out[0], -7);
}

TEST_P(Average, ReduceScatter) {
  const int block = n / P;
  const auto first = static_cast<std::size_t>(me * block);
  ASSERT_EQ(TAUT_Reduce_scatter_block(in.data(), out.data(), block, MPI_DOUBLE, TAUT_Avg(), comm),
            MPI_SUCCESS);
  expect_means(first, static_cast<std::size_t>(block));
  if (P > 1) {
    EXPECT_EQ(out[static_cast<std::size_t>(block)], -7);
  }
  std::vector<MPI_Count> counts(static_cast<std::size_t>(P), 100);
  counts[0] = n - 100 * (P - 1);
  ASSERT_EQ(TAUT_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_DOUBLE, TAUT_Avg(), comm),
            MPI_SUCCESS);
  expect_means(me == 0 ? 0 : static_cast<std::size_t>(n - 100 * (P - me)),
               static_cast<std::size_t>(counts[static_cast<std::size_t>(me)]));
}

TEST_P(Average, Requests) {
  TAUT_Request request = TAUT_REQUEST_NULL;
  ASSERT_EQ(TAUT_Iallreduce(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), comm, &request), MPI_SUCCESS);
  ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_means(0, n);
  ASSERT_EQ(
      TAUT_Reduce_init(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), 0, comm, MPI_INFO_NULL, &request),
      MPI_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    std::fill(out.begin(), out.end(), -7);
    ASSERT_EQ(TAUT_Start(&request), MPI_SUCCESS);
    ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (me == 0) expect_means(0, n);
  }
  EXPECT_EQ(TAUT_Request_free(&request), MPI_SUCCESS);
}

TEST_P(Average, OfIntegersIsAnError) {
  std::vector<int> x(n, 1), y(n);
  int code = TAUT_Allreduce(x.data(), y.data(), n, MPI_INT, TAUT_Avg(), comm);
  if (GetParam().policy == nullptr && code == MPI_SUCCESS) FAIL();
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_OP);
}

TEST_P(Average, OfPrefixesIsAnError) {
  TAUT_Request request = TAUT_REQUEST_NULL;
  int codes[2] = {TAUT_Scan(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), comm),
                  TAUT_Iexscan(in.data(), out.data(), n, MPI_DOUBLE, TAUT_Avg(), comm, &request)};
  for (const int code : codes) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    EXPECT_EQ(error_class, MPI_ERR_OP);
  }
  EXPECT_EQ(out[0], -7);
}

// Frames of a mean are coded within the whole bound and so take fewer bytes than those of a sum.
TEST(AverageFrames, AreSmallerThanThoseOfASum) {
  std::uint64_t bytes[2] = {};
  int size = 0;
  for (const MPI_Op op : {MPI_SUM, TAUT_Avg()}) {
    const Comm comm("abs:1e-4,codec=planes");
    size = comm.size();
    const auto in = values_of(comm.rank());
    std::vector<double> out(n);
    ASSERT_EQ(TAUT_Allreduce(in.data(), out.data(), n, MPI_DOUBLE, op, comm), MPI_SUCCESS);
    bytes[op != MPI_SUM] = comm.stats().frame_bytes;
  }
  if (size > 1) {
    EXPECT_LT(bytes[1], bytes[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Average,
                         testing::Values(Way{nullptr, 0}, Way{"off", 0}, Way{"abs:1e-4", 1e-4},
                                         Way{"abs:1e-4,codec=planes,reduction=values", 1e-4},
                                         Way{"abs:1e-4,codec=planes,algorithm=halving_doubling", 1e-4},
                                         Way{"abs:1e-4,min_bytes=1MiB", 0}, Way{"abs:1e-4,on=input", 1e-4}),
                         [](const auto& test) { return "Way" + std::to_string(test.index); });
}  // namespace average_test
}  // namespace taut::test

// Tests sum=wide over MPI: sums and means have the bits of a sum in the order of the ranks, rounded once.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace wide_sums_test {

constexpr int count = 5040;  // a multiple of every number of ranks that tests have

// Values whose sums depend on the order and on the roundings.
template <class T>
T value(int rank, std::size_t i) {
  const double sign = (static_cast<std::size_t>(rank) + i) % 2 == 0 ? 1 : -1;
  return static_cast<T>(sign * std::exp2(static_cast<double>(i * 7 % 30)) +
                        std::sin(1e-2 * static_cast<double>(i) + rank));
}

template <class T>
std::vector<T> values_of(int rank) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value<T>(rank, i);
  return values;
}

template <class T>
std::vector<T> sums(int ranks, bool mean) {
  std::vector<T> of_all(count);
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    double sum = value<T>(0, i);
    for (int r = 1; r < ranks; ++r) sum += value<T>(r, i);
    of_all[i] = static_cast<T>(mean ? sum / ranks : sum);
  }
  return of_all;
}

template <class T>
void expect_sums(MPI_Datatype type, const char* policy) {
  const Comm comm(policy);
  const int P = comm.size(), block = count / P;
  for (const bool mean : {false, true}) {
    const MPI_Op op = mpi_op(Reduction::sum, mean);
    const std::vector<T> in = values_of<T>(comm.rank()), expected = sums<T>(P, mean);
    std::vector<T> out(count), in_place = in, part(static_cast<std::size_t>(block));
    ASSERT_EQ(TAUT_Allreduce(in.data(), out.data(), count, type, op, comm), MPI_SUCCESS);
    EXPECT_EQ(out, expected);
    ASSERT_EQ(TAUT_Allreduce(MPI_IN_PLACE, in_place.data(), count, type, op, comm), MPI_SUCCESS);
    EXPECT_EQ(in_place, expected);
    ASSERT_EQ(TAUT_Reduce_scatter_block(in.data(), part.data(), block, type, op, comm), MPI_SUCCESS);
    const auto first = expected.begin() + comm.rank() * block;
    EXPECT_EQ(part, std::vector<T>(first, first + block));
  }
  if (P > 1) {
    EXPECT_EQ(comm.stats().compressed_calls, 6u);
  }
}

TEST(WideSumsOverMpi, AreThoseInTheOrderOfTheRanks) {
  for (const char* const policy :
       {"lossless,sum=wide,min_bytes=0", "lossless,sum=wide,min_bytes=0,segments=3"}) {
    expect_sums<float>(MPI_FLOAT, policy);
    expect_sums<double>(MPI_DOUBLE, policy);
  }
}

}  // namespace wide_sums_test
}  // namespace taut::test

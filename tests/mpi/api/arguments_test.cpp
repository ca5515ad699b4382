// Arguments that MPI allows and that a call must accept or leave alone: arguments without effect, operators
// and types that only MPI knows, bytes between values.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace arguments_test {

constexpr MPI_Count many = 60000;
constexpr std::size_t n = many;
constexpr double bound = 1e-2;

std::vector<float> waves(int rank) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(std::sin(0.001 * static_cast<double>(i) + rank));
  return x;
}

// An invalid address.
float* nowhere() { return reinterpret_cast<float*>(8); }

bool near(float x, float y) { return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= bound; }

TEST(Arguments, ThoseOfOtherRanksThanTheRootDoNotMatter) {
  const Comm comm("abs:1e-2,codec=planes");
  const int me = comm.rank(), P = comm.size(), root = P - 1;
  const std::vector<float> mine = waves(me);
  const auto all = n * static_cast<std::size_t>(P);
  std::vector<float> total(me == root ? n : 0), gathered(me == root ? all : 0), own(n);
  EXPECT_EQ(
      TAUT_Reduce(mine.data(), me == root ? total.data() : nowhere(), many, MPI_FLOAT, MPI_SUM, root, comm),
      MPI_SUCCESS);
  EXPECT_EQ(TAUT_Gather(mine.data(), many, MPI_FLOAT, me == root ? gathered.data() : nowhere(),
                        me == root ? many : -5, me == root ? MPI_FLOAT : MPI_DATATYPE_NULL, root, comm),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Scatter(me == root ? gathered.data() : nowhere(), me == root ? many : -5,
                         me == root ? MPI_FLOAT : MPI_DATATYPE_NULL, own.data(), many, MPI_FLOAT, root, comm),
            MPI_SUCCESS);
  for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::abs(own[i] - mine[i]), 2 * bound) << i;
  for (std::size_t i = 0; me == root && i < n; ++i) {
    double sum = 0;
    for (int r = 0; r < P; ++r) sum += static_cast<double>(std::sin(0.001 * static_cast<double>(i) + r));
    ASSERT_NEAR(static_cast<double>(total[i]), sum, bound + 1e-5) << i;
  }
  EXPECT_EQ(comm.stats().compressed_calls, P > 1 ? 3u : 0u);
}

TEST(Arguments, ThoseBesideInPlaceDoNotMatter) {
  const Comm comm("abs:1e-2,codec=planes");
  const int me = comm.rank(), P = comm.size();
  const std::vector<float> mine = waves(me);
  std::vector<float> all(n * static_cast<std::size_t>(P));
  std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(n) * me);
  EXPECT_EQ(TAUT_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all.data(), many, MPI_FLOAT, comm),
            MPI_SUCCESS);
  for (int r = 0; r < P; ++r) {
    const std::vector<float> want = waves(r);
    for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(near(all[n * static_cast<std::size_t>(r) + i], want[i]));
  }
  EXPECT_EQ(TAUT_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, all.data(), many, MPI_FLOAT, comm),
            MPI_SUCCESS);
  for (int r = 0; r < P; ++r)
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LE(std::abs(all[n * static_cast<std::size_t>(r) + i] - mine[i]), 3 * bound) << r;
}

// An associative, noncommutative operator: returns the operand of the lower rank.
void first_of_both(void* lower, void* result, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  std::memcpy(result, lower, static_cast<std::size_t>(size) * static_cast<std::size_t>(*count));
}

TEST(Operators, OfUsersKeepTheOrderOfTheRanks) {
  const Comm comm("abs:1e-2,codec=planes");
  MPI_Op first;
  MPI_Op_create(first_of_both, 0, &first);
  const std::vector<float> mine = waves(comm.rank());
  std::vector<float> got(n);
  EXPECT_EQ(TAUT_Allreduce(mine.data(), got.data(), many, MPI_FLOAT, first, comm), MPI_SUCCESS);
  EXPECT_TRUE(got == waves(0));
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  MPI_Op_free(&first);
}

TEST(Operators, OnPairsAndBitsAreMpis) {
  const Comm comm("abs:1e-2,codec=planes");
  struct Pair {  // MPI_DOUBLE_INT has a gap at its end
    double value;
    int place;
  };
  std::vector<Pair> pairs(n), least(n);
  std::vector<int> bits(n), flags(n), got(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int turn =
        static_cast<int>((i + static_cast<std::size_t>(comm.rank())) % static_cast<std::size_t>(comm.size()));
    pairs[i] = {0.001 * turn, comm.rank()};
    bits[i] = 1 << comm.rank();
    flags[i] = comm.rank() == 0;
  }
  ASSERT_EQ(TAUT_Allreduce(pairs.data(), least.data(), many, MPI_DOUBLE_INT, MPI_MINLOC, comm), MPI_SUCCESS);
  const auto P = static_cast<std::size_t>(comm.size());
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(least[i].value, 0);
    ASSERT_EQ(static_cast<std::size_t>(least[i].place), (P - i % P) % P) << i;
  }
  ASSERT_EQ(TAUT_Allreduce(bits.data(), got.data(), many, MPI_INT, MPI_BXOR, comm), MPI_SUCCESS);
  EXPECT_EQ(got, std::vector<int>(n, (1 << comm.size()) - 1));
  ASSERT_EQ(TAUT_Allreduce(flags.data(), got.data(), many, MPI_INT, MPI_LOR, comm), MPI_SUCCESS);
  EXPECT_EQ(got, std::vector<int>(n, 1));
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
}

// A type with every second value, whose extent adds space after them.
TEST(Types, WithGapsTouchNothingBetween) {
  const Comm comm("abs:1e-2,codec=planes");
  MPI_Datatype every_second, spaced;
  MPI_Type_vector(100, 1, 2, MPI_FLOAT, &every_second);
  MPI_Type_create_resized(every_second, 0, 256 * sizeof(float), &spaced);
  MPI_Type_commit(&spaced);
  constexpr std::size_t elements = 300;
  std::vector<float> data(elements * 256, -1);
  const auto is_value = [](std::size_t i) { return i % 256 < 200 && i % 2 == 0; };
  for (std::size_t i = 0; i < data.size() && comm.rank() == 0; ++i)
    if (is_value(i)) data[i] = static_cast<float>(i);
  ASSERT_EQ(TAUT_Bcast(data.data(), elements, spaced, 0, comm), MPI_SUCCESS);
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_NEAR(data[i], is_value(i) ? static_cast<double>(i) : -1.0,
                is_value(i) && comm.size() > 1 ? 1e-2 : 0)
        << i;
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
  MPI_Type_free(&spaced);
  MPI_Type_free(&every_second);
}

}  // namespace arguments_test
}  // namespace taut::test

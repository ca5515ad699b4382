// Mixtures at random.
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 4 api_test --gtest_filter='Requests.RandomMixtures'    one again
#include "mpi/api/mixture.hpp"

namespace taut::test {
namespace {

TEST(Requests, RandomMixtures) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1),
                      count =
                          number_from_environment("TEST_COUNT", size_of_comm(MPI_COMM_WORLD) > 4 ? 8 : 25);
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed << " TEST_COUNT=1");
    MixtureOfCalls(seed, world_of_neighbours()).run();
  }
}
}  // namespace
}  // namespace taut::test

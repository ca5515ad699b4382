// Mixtures at random.
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 4 api_test --gtest_filter='Requests.RandomMixtures'    one again
#include "mpi/api/mixture.hpp"

namespace taut::test {
namespace {

TEST(Requests, RandomMixtures) {
  for_each_seed(size_of_comm(MPI_COMM_WORLD) > 4 ? 8 : 25,
                [](std::uint64_t seed) { MixtureOfCalls(seed, world_of_neighbours()).run(); });
}
}  // namespace
}  // namespace taut::test

// Tests of the nodes that MPI reports or TAUT_RANKS_PER_NODE sets: api.nodes runs this with two ranks on each
// node.
#include <cstdlib>

#include "world.hpp"

namespace taut::test {
namespace {

TEST(Nodes, ShareTheMessageOut) {
  const Comm comm("abs:1e-3,algorithm=ring,segments=1,codec=raw,nodes=on");
  const auto P = static_cast<std::size_t>(comm.size());
  const char* const each = std::getenv("TAUT_RANKS_PER_NODE");
  const std::size_t L = each != nullptr && P == 4 ? std::strtoul(each, nullptr, 10) : 1, N = P / L;
  const std::size_t n = 60000 * P;
  std::vector<float> x(n, 1.0f), y(n);
  ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), static_cast<MPI_Count>(n), MPI_FLOAT, MPI_SUM, comm),
            MPI_SUCCESS);
  for (const float sum : y) ASSERT_EQ(sum, static_cast<float>(P));
  if (P == 1) return;
  EXPECT_EQ(comm.stats().value_bytes, n / L * sizeof(float)) << "of " << N << " nodes";
}

}  // namespace
}  // namespace taut::test

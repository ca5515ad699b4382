// Tests of the nodes that MPI reports or TAUT_RANKS_PER_NODE sets: api.nodes runs this with two ranks on each
// of two nodes, api.nodes.unequal with two and one.
#include <cstdlib>

#include "world.hpp"

namespace taut::test {
namespace {

TEST(Nodes, ShareTheMessageOut) {
  const Comm comm("abs:1e-3,algorithm=ring,segments=1,codec=raw,nodes=on");
  const auto P = static_cast<std::size_t>(comm.size());
  const char* const set = std::getenv("TAUT_RANKS_PER_NODE");
  const std::size_t each = set != nullptr ? std::strtoul(set, nullptr, 10) : 1;
  const bool by_nodes = each > 1 && P > each;
  const std::size_t last = P % each == 0 ? each : P % each, leaders = by_nodes ? last : 1;
  const bool leads = !by_nodes || static_cast<std::size_t>(comm.rank()) % each < leaders;
  const std::size_t n = 60000 * P;
  std::vector<float> x(n, 1.0f), y(n);
  ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), static_cast<MPI_Count>(n), MPI_FLOAT, MPI_SUM, comm),
            MPI_SUCCESS);
  for (const float sum : y) ASSERT_EQ(sum, static_cast<float>(P));
  if (P == 1) return;
  EXPECT_EQ(comm.stats().value_bytes, leads ? n / leaders * sizeof(float) : 0);
}

}  // namespace
}  // namespace taut::test

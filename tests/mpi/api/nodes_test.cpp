// Tests of the nodes that MPI reports or TAUT_RANKS_PER_NODE sets: api.nodes runs this with two ranks on each
// of two nodes, api.nodes.unequal with two and one.
#include <cmath>
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

// Blocks of an alltoall and for neighbours, here all ranks in their order, are exact where they stay on a
// node.
TEST(Nodes, BlocksStayValuesOnANode) {
  constexpr std::size_t n = 5000;
  constexpr double bound = 1e-2;
  const Comm comm("abs:1e-2,codec=planes,nodes=on,when=always,min_bytes=0");
  const int P = comm.size(), me = comm.rank();
  const char* const set = std::getenv("TAUT_RANKS_PER_NODE");
  const int each = set != nullptr ? std::atoi(set) : P;
  const auto value = [P](int from, int to, std::size_t i) {
    return static_cast<float>(std::sin(0.01 * static_cast<double>(i) + from * P + to));
  };
  std::vector<float> x, y(n * static_cast<std::size_t>(P));
  for (int to = 0; to < P; ++to)
    for (std::size_t i = 0; i < n; ++i) x.push_back(value(me, to, i));
  const auto check = [&] {
    for (int from = 0; from < P; ++from) {
      const bool on_node = from / each == me / each && P > each;
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i)
        worst = std::max(worst, static_cast<double>(std::abs(y[static_cast<std::size_t>(from) * n + i] -
                                                             value(from, me, i))));
      EXPECT_LE(worst, on_node ? 0 : bound) << from << " to " << me;
    }
    y.assign(y.size(), -7777);
  };
  ASSERT_EQ(TAUT_Alltoall(x.data(), n, MPI_FLOAT, y.data(), n, MPI_FLOAT, comm), MPI_SUCCESS);
  check();
  ASSERT_EQ(TAUT_Neighbor_alltoall(x.data(), n, MPI_FLOAT, y.data(), n, MPI_FLOAT, comm), MPI_SUCCESS);
  check();
  y = x;
  ASSERT_EQ(TAUT_Alltoall(MPI_IN_PLACE, 0, MPI_FLOAT, y.data(), n, MPI_FLOAT, comm), MPI_SUCCESS);
  check();
}

// Messages in one piece are exact where they stay on a node, as copies are faster there. Those in segments,
// and all under nodes=off, are coded.
TEST(Nodes, MessagesStayValuesOnANode) {
  constexpr float bound = 1e-2F;
  const char* const set = std::getenv("TAUT_RANKS_PER_NODE");
  for (const auto& [policy, stays] : {std::pair{"abs:1e-2", true},
                                      {"abs:1e-2,nodes=off", false},
                                      {"abs:1e-2,when=always", false},
                                      {"abs:1e-2,when=always,nodes=on", true}}) {
    const Comm comm(policy);
    const int P = comm.size(), me = comm.rank(), each = set != nullptr ? std::atoi(set) : P;
    const int to = (me + 1) % P, from = (me + P - 1) % P;
    for (const std::size_t n : {std::size_t{1} << 16, std::size_t{3} << 18}) {
      const auto value = [](int rank, std::size_t i) {
        return static_cast<float>(std::sin(0.01 * static_cast<double>(i) + rank));
      };
      std::vector<float> x(n), y(n, -7777);
      for (std::size_t i = 0; i < n; ++i) x[i] = value(me, i);
      const auto count = static_cast<MPI_Count>(n);
      ASSERT_EQ(TAUT_Sendrecv(x.data(), count, MPI_FLOAT, to, 0, y.data(), count, MPI_FLOAT, from, 0, comm,
                              MPI_STATUS_IGNORE),
                MPI_SUCCESS);
      float worst = 0;
      for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(y[i] - value(from, i)));
      const bool on_node = from / each == me / each && P > each, in_segments = n >= std::size_t{1} << 19;
      EXPECT_LE(worst, bound);
      EXPECT_EQ(worst > 0, P > 1 && !(stays && on_node && !in_segments)) << policy << " " << n << " " << me;
    }
  }
}

}  // namespace
}  // namespace taut::test

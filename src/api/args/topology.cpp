#include "api/args/topology.hpp"

#include <algorithm>

#include "api/errors.hpp"

namespace taut::api {
namespace {

int kind_of(MPI_Comm comm) noexcept {
  int kind = MPI_UNDEFINED;
  return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

// Ranks in the order of the blocks.
struct Lists {
  std::vector<int> from, to;
};

// Returns the ranks at distance -1 and +1 in each dimension.
Lists lists_of_grid(MPI_Comm comm, const Degrees& degrees) {
  std::vector<int> ranks(static_cast<std::size_t>(degrees.out));
  for (std::size_t i = 0; i < ranks.size(); i += 2)
    check(PMPI_Cart_shift(comm, static_cast<int>(i / 2), 1, &ranks[i], &ranks[i + 1]), "MPI_Cart_shift");
  return {ranks, ranks};
}

Lists lists_of_graph(MPI_Comm comm, const Degrees& degrees) {
  std::vector<int> ranks(static_cast<std::size_t>(degrees.out));
  int me = 0;
  PMPI_Comm_rank(comm, &me);
  check(PMPI_Graph_neighbors(comm, me, degrees.out, ranks.data()), "MPI_Graph_neighbors");
  return {ranks, ranks};
}

Lists lists_of_distributed_graph(MPI_Comm comm, const Degrees& degrees) {
  const auto in = static_cast<std::size_t>(degrees.in), out = static_cast<std::size_t>(degrees.out);
  Lists lists{std::vector<int>(in), std::vector<int>(out)};
  std::vector<int> weights_in(in + 1), weights_out(out + 1);
  check(PMPI_Dist_graph_neighbors(comm, degrees.in, lists.from.data(), weights_in.data(), degrees.out,
                                  lists.to.data(), weights_out.data()),
        "MPI_Dist_graph_neighbors");
  return lists;
}

Lists lists_of(MPI_Comm comm, int kind, const Degrees& degrees) {
  if (kind == MPI_CART) return lists_of_grid(comm, degrees);
  return kind == MPI_GRAPH ? lists_of_graph(comm, degrees) : lists_of_distributed_graph(comm, degrees);
}

void add(int rank, std::size_t block, std::vector<int>& ranks, std::vector<std::size_t>& blocks) {
  if (rank == MPI_PROC_NULL) return;
  ranks.push_back(rank);
  blocks.push_back(block);
}

// Returns true if two blocks that this rank sends to itself, along a ring of one rank, change places.
bool turns_own_blocks(bool blocking) noexcept {
  const int one = 1, sent[] = {0, 1};
  int got[] = {1, 0};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &ring) != MPI_SUCCESS) return true;
  if (blocking) {
    PMPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring);
  } else {
    PMPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  PMPI_Comm_free(&ring);
  return got[0] == 1;
}

// Returns true if what a neighbour in a grid sends in one direction comes from the other direction, as
// MPI-4.1 (8.6) says. Intel MPI (2021.19) and nonblocking calls of Open MPI (4.1, 5.0) match the blocks of
// two ranks in their order instead. It matters where a rank is a neighbour twice, and there Taut does what
// this MPI does.
bool turns_directions(std::vector<int> ranks, bool blocking) {
  std::ranges::sort(ranks);
  if (std::ranges::adjacent_find(ranks) == ranks.end()) return true;
  static const bool turns[] = {turns_own_blocks(false), turns_own_blocks(true)};
  return turns[blocking];
}

}  // namespace

Degrees degrees_of(MPI_Comm comm) noexcept {
  int in = 0, out = 0, weighted = 0;
  switch (kind_of(comm)) {
    case MPI_CART: PMPI_Cartdim_get(comm, &out); return {2 * out, 2 * out};
    case MPI_GRAPH: {
      int me = 0;
      PMPI_Comm_rank(comm, &me);
      PMPI_Graph_neighbors_count(comm, me, &out);
      return {out, out};
    }
    case MPI_DIST_GRAPH: PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted); return {in, out};
    default: return {};
  }
}

// If several edges join two ranks, the receiver lists them in the order in which the sender does.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, bool blocking) {
  const int kind = kind_of(comm);
  if (kind == MPI_UNDEFINED) return nullptr;
  auto made = std::make_shared<Topology>();
  made->degrees = degrees_of(comm);
  made->same_degrees = kind == MPI_CART;
  const Lists lists = lists_of(comm, kind, made->degrees);
  for (std::size_t i = 0; i < lists.to.size(); ++i) add(lists.to[i], i, made->neighbours.to, made->to_blocks);
  const bool turned = kind == MPI_CART && turns_directions(lists.from, blocking);
  for (std::size_t i = 0; i < lists.from.size(); ++i) {
    const std::size_t block = turned ? i ^ 1 : i;
    add(lists.from[block], block, made->neighbours.from, made->from_blocks);
  }
  return made;
}

}  // namespace taut::api

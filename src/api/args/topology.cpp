#include "api/args/topology.hpp"

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

// If several edges join two ranks, the receiver lists them in the order in which the sender does: that of the
// blocks in a graph. In a Cartesian topology, what a neighbour sends in one direction comes from the other
// direction, so that the two directions of a dimension change places (MPI-4.1, 8.6).
std::shared_ptr<const Topology> topology_of(MPI_Comm comm) {
  const int kind = kind_of(comm);
  if (kind == MPI_UNDEFINED) return nullptr;
  auto made = std::make_shared<Topology>();
  made->degrees = degrees_of(comm);
  made->same_degrees = kind == MPI_CART;
  const Lists lists = lists_of(comm, kind, made->degrees);
  for (std::size_t i = 0; i < lists.to.size(); ++i) add(lists.to[i], i, made->neighbours.to, made->to_blocks);
  for (std::size_t i = 0; i < lists.from.size(); ++i) {
    const std::size_t block = kind == MPI_CART ? i ^ 1 : i;
    add(lists.from[block], block, made->neighbours.from, made->from_blocks);
  }
  return made;
}

}  // namespace taut::api

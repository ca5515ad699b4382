#include "communication/mpi/topology.hpp"

#include "communication/mpi/errors.hpp"

namespace taut::api {
namespace {

int kind_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

// Ranks that this rank receives from and sends to, in the order of their blocks in the buffers.
struct NeighbourRanks {
  std::vector<int> from, to;
};

// Returns source and destination of a shift by 1 in each dimension.
NeighbourRanks ranks_of_cartesian(MPI_Comm comm, const Degrees& degrees) {
  std::vector<int> ranks(static_cast<std::size_t>(degrees.out));
  for (std::size_t i = 0; i < ranks.size(); i += 2)
    check(PMPI_Cart_shift(comm, static_cast<int>(i / 2), 1, &ranks[i], &ranks[i + 1]), "MPI_Cart_shift");
  return {ranks, ranks};
}

NeighbourRanks ranks_of_graph(MPI_Comm comm, const Degrees& degrees) {
  std::vector<int> ranks(static_cast<std::size_t>(degrees.out));
  int me = 0;
  PMPI_Comm_rank(comm, &me);
  check(PMPI_Graph_neighbors(comm, me, degrees.out, ranks.data()), "MPI_Graph_neighbors");
  return {ranks, ranks};
}

NeighbourRanks ranks_of_distributed_graph(MPI_Comm comm, const Degrees& degrees) {
  const auto in = static_cast<std::size_t>(degrees.in), out = static_cast<std::size_t>(degrees.out);
  NeighbourRanks ranks{std::vector<int>(in), std::vector<int>(out)};
  std::vector<int> weights_in(in + 1), weights_out(out + 1);
  check(PMPI_Dist_graph_neighbors(comm, degrees.in, ranks.from.data(), weights_in.data(), degrees.out,
                                  ranks.to.data(), weights_out.data()),
        "MPI_Dist_graph_neighbors");
  return ranks;
}

NeighbourRanks ranks_of(MPI_Comm comm, int kind, const Degrees& degrees) {
  if (kind == MPI_CART) return ranks_of_cartesian(comm, degrees);
  return kind == MPI_GRAPH ? ranks_of_graph(comm, degrees) : ranks_of_distributed_graph(comm, degrees);
}

void add(int rank, std::size_t block, std::vector<int>& ranks, std::vector<std::size_t>& blocks) {
  if (rank == MPI_PROC_NULL) return;
  ranks.push_back(rank);
  blocks.push_back(block);
}

// Table of where MPI delivers the blocks of a rank that is its own neighbour. In a periodic dimension of one
// rank, both neighbours are the rank itself. Some functions of some MPIs pair the blocks by direction: what
// is sent to -1 arrives from +1, so that the two blocks change places. Others deliver each block in its own
// place. Measured once, on MPI_COMM_SELF. First index: alltoall, alltoallv, alltoallw; second: 1 if blocking.
struct SelfPairing {
  bool by_direction[3][2] = {};

  SelfPairing() noexcept {
    const int one = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    if (PMPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &ring) != MPI_SUCCESS) return;
    for (int function = 0; function < 3; ++function)
      for (const bool blocking : {false, true})
        by_direction[function][blocking] = blocks_change_places(function, blocking, ring);
    PMPI_Comm_free(&ring);
  }

  static bool blocks_change_places(int function, bool blocking, MPI_Comm ring) noexcept {
    const int sent[] = {0, 1}, counts[] = {1, 1}, displs[] = {0, 1};
    const MPI_Aint bytes[] = {0, sizeof(int)};
    const MPI_Datatype type = MPI_INT, types[] = {type, type};
    int got[] = {1, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    if (function == 0 && blocking) PMPI_Neighbor_alltoall(sent, 1, type, got, 1, type, ring);
    if (function == 0 && !blocking) PMPI_Ineighbor_alltoall(sent, 1, type, got, 1, type, ring, &request);
    if (function == 1 && blocking)
      PMPI_Neighbor_alltoallv(sent, counts, displs, type, got, counts, displs, type, ring);
    if (function == 1 && !blocking)
      PMPI_Ineighbor_alltoallv(sent, counts, displs, type, got, counts, displs, type, ring, &request);
    if (function == 2 && blocking)
      PMPI_Neighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, ring);
    if (function == 2 && !blocking)
      PMPI_Ineighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, ring, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return got[0] == 1;
  }
};

}  // namespace

Degrees degrees_of(MPI_Comm comm) {
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

bool pairs_by_direction(const MpiCall& call, bool blocking) {
  static const SelfPairing pairing;
  const int function = call.send.types != nullptr ? 2 : call.send.counts != nullptr ? 1 : 0;
  return pairing.by_direction[function][blocking];
}

// If several edges join two ranks, the receiver lists them in the order in which the sender does.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, bool by_direction) {
  const int kind = kind_of(comm);
  if (kind == MPI_UNDEFINED) return nullptr;
  auto made = std::make_shared<Topology>();
  made->degrees = degrees_of(comm);
  made->same_degrees = kind == MPI_CART;
  const NeighbourRanks ranks = ranks_of(comm, kind, made->degrees);
  for (std::size_t i = 0; i < ranks.to.size(); ++i) add(ranks.to[i], i, made->neighbours.to, made->to_blocks);
  for (std::size_t i = 0; i < ranks.from.size(); ++i) {
    const std::size_t block = by_direction && kind == MPI_CART ? i ^ 1 : i;
    add(ranks.from[block], block, made->neighbours.from, made->from_blocks);
  }
  return made;
}

}  // namespace taut::api

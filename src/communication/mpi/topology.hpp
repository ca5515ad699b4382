// Neighbours of this rank in the topology of a communicator (MPI-4.1, chapter 8).
#pragma once

#include <mpi.h>

#include <memory>

#include "communication/mpi/mpi_call.hpp"
#include "communication/team/collective.hpp"

namespace taut::api {

// Number of blocks that a neighbourhood collective receives and sends, those of MPI_PROC_NULL included.
struct Degrees {
  int in = 0, out = 0;
};

// Returns the degrees of this rank; 0 without a topology. Local.
Degrees degrees_of(MPI_Comm comm);

struct Topology {
  Degrees degrees;
  bool same_degrees = false;                        // all ranks have these degrees
  Neighbours neighbours;                            // without MPI_PROC_NULL
  std::vector<std::size_t> from_blocks, to_blocks;  // number of each neighbour's block in the buffers
};

// Returns true if this MPI pairs the blocks of two neighbours in a grid by direction in such calls, as
// MPI-4.1 (8.6) requires: what a rank sends to its upper neighbour, that neighbour receives from its lower
// one. The pairing matters where a rank is a neighbour twice. In some functions, several MPIs pair the blocks
// of two ranks in their order instead: Intel MPI 2021.19, MPICH 4.0 (alltoallv and alltoallw), and
// nonblocking calls of Open MPI 4.1 and 5.0.
bool pairs_by_direction(const MpiCall& call, bool blocking);

// Returns the topology of a communicator; null if it has none. `by_direction`: the pairing of blocks in a
// grid, as above. Local; throws.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, bool by_direction);

}  // namespace taut::api

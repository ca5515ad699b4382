// Neighbours of this rank in the topology of a communicator (MPI-4.1, chapter 8).
#pragma once

#include <mpi.h>

#include <memory>

#include "api/args/mpi_call.hpp"
#include "core/neighbours.hpp"

namespace taut::api {

// Number of blocks that a neighbourhood collective receives and sends, those of MPI_PROC_NULL included.
struct Degrees {
  int in = 0, out = 0;
};

// Returns the degrees of this rank; 0 without a topology. Local.
Degrees degrees_of(MPI_Comm comm) noexcept;

struct Topology {
  Degrees degrees;
  bool same_degrees = false;                        // all ranks have these degrees
  Neighbours neighbours;                            // without MPI_PROC_NULL
  std::vector<std::size_t> from_blocks, to_blocks;  // number of each neighbour's block in the buffers
};

// Returns true if in such calls of this MPI, what a neighbour in a grid sends in one direction comes from the
// other direction, as MPI-4.1 (8.6) says. It matters where a rank is a neighbour twice. Several MPIs match
// the blocks of two ranks in their order instead, in some functions: Intel MPI 2021.19, MPICH 4.0 (alltoallv
// and alltoallw), and nonblocking calls of Open MPI 4.1 and 5.0.
bool turns_directions(const MpiCall& call, bool blocking) noexcept;

// Returns the topology of a communicator; null if it has none. `turned`: as above, for grids. Local; throws.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, bool turned);

}  // namespace taut::api

// Neighbours of this rank in the topology of a communicator (MPI-4.1, chapter 8).
#pragma once

#include <mpi.h>

#include <memory>

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

// Returns the topology of a communicator as blocking or other calls of this MPI see it; null if it has none.
// Local; throws.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, bool blocking);

}  // namespace taut::api

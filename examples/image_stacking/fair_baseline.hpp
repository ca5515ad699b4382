// Plain MPI at its best, also with more ranks than cores.
#pragma once

#include <cstdlib>
#include <thread>

namespace stacking {

// MPICH's collectives in shared memory wait without ever yielding the core: with more ranks than cores a 16
// MB allreduce takes seconds instead of milliseconds, and anything looks fast beside it. Its other algorithms
// yield. To be called before MPI_Init; what the user has set stays.
inline void let_waiting_ranks_yield() {
  const char* ranks_here = std::getenv("MPI_LOCALNRANKS");  // set by MPICH's launcher
  if (ranks_here && std::atoi(ranks_here) > static_cast<int>(std::thread::hardware_concurrency()))
    setenv("MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE", "0", 0);
}

}  // namespace stacking

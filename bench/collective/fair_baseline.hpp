// Settings that make plain MPI fast also with more ranks than cores: the fair baseline.
#pragma once

#include <cstdlib>
#include <thread>

namespace bench {

// Makes waiting ranks yield the core. MPICH's collectives in shared memory wait without yielding: with more
// ranks than cores a 16 MB allreduce takes seconds instead of milliseconds, and Taut would look fast beside
// it. MPICH's other algorithms yield. Call it before MPI_Init; settings of the user are kept.
inline void let_waiting_ranks_yield() {
  const char* ranks_here = std::getenv("MPI_LOCALNRANKS");  // set by MPICH's launcher
  if (ranks_here && std::atoi(ranks_here) > static_cast<int>(std::thread::hardware_concurrency()))
    setenv("MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE", "0", 0);
}

}  // namespace bench

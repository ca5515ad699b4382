// Calls of plain MPI, with large counts where the MPI has them.
#pragma once

#include <mpi.h>

#include <climits>

#include "api/errors.hpp"

namespace taut::api::plain {

#if MPI_VERSION >= 4
#define TAUT_PMPI(name) PMPI_##name##_c
using Count = MPI_Count;
inline bool fits(MPI_Count) noexcept { return true; }
#else
#define TAUT_PMPI(name) PMPI_##name
using Count = int;
inline bool fits(MPI_Count count) noexcept { return count <= INT_MAX && count >= INT_MIN; }
#endif

// A count that does not matter on this rank is handed on as 0.
inline Count count(MPI_Count count, bool matters = true) noexcept {
  return matters ? static_cast<Count>(count) : Count{0};
}

}  // namespace taut::api::plain

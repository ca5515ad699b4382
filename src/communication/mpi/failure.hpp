// Failure: an MPI error code, and whether the error handler has been called for it. This header includes no
// extensions of MPI.
#pragma once

#include <mpi.h>

namespace taut::api {

// Error code of a call; MPI_SUCCESS if there is no failure. `raised`: MPI has called the error handler
// already.
struct Failure {
  int code = MPI_SUCCESS;
  bool raised = false;

  explicit operator bool() const noexcept { return code != MPI_SUCCESS; }
};

}  // namespace taut::api

// Conversion of statuses and exceptions to MPI error codes, raised through the communicator's error handler.
#pragma once

#include <mpi.h>

#include "core/status.hpp"
#include "transports/mpi_failures.hpp"

namespace taut::api {

// Returns the status of an MPI error code; transport_failed for codes that are not Taut's.
Status status_of(int code) noexcept;

// Calls the communicator's error handler with an error code of Taut, and returns the code if the handler
// returns. The error class stands for the status. MPI_Error_string returns `message`, if there is one, until
// the next error of this status.
int raise(MPI_Comm comm, Status status, const char* message = nullptr) noexcept;

// Raises an error code of MPI. With MPI_COMM_NULL, no handler is called.
int raise(MPI_Comm comm, int code) noexcept;

// Raises the exception that is being handled. Exceptions of MPI keep their code.
int raise_caught(MPI_Comm comm) noexcept;

// Runs `action`, which returns an MPI error code. Exceptions become errors of the communicator.
template <class Action>
int guard(MPI_Comm comm, Action action) noexcept {
  try {
    return action();
  } catch (...) {
    return raise_caught(comm);
  }
}

}  // namespace taut::api

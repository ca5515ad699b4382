// Conversion of statuses and exceptions to MPI error codes, raised through the communicator's error handler.
#pragma once

#include <mpi.h>

#include "communication/mpi/failure.hpp"
#include "communication/transports/mpi_failures.hpp"
#include "compressor/base/status.hpp"

namespace taut::api {

// Returns the status of an MPI error code; transport_failed for codes that are not Taut's.
Status status_of(int code) noexcept;

// Returns an error code of Taut, whose error class stands for the status. MPI_Error_string returns `message`,
// if there is one, until the next error of this status.
Failure failure_of(Status status, const char* message = nullptr) noexcept;

// Returns the failure of the exception that is being handled. Exceptions of MPI keep their code. Rethrows an
// exception that is not Taut's: the program's error handler has thrown it.
Failure caught_failure();

// Calls the communicator's error handler, if a failure is left to be raised and `comm` is no MPI_COMM_NULL.
// Returns the code if the handler returns. The handler may throw an exception or end the call by longjmp,
// which runs no destructor. The caller must hold no lock and no object whose destructor matters.
int raise(MPI_Comm comm, Failure failure);
int raise(MPI_Comm comm, Status status, const char* message = nullptr);
inline int raise(MPI_Comm comm, int code) { return raise(comm, Failure{code}); }

// Runs `action`, which returns a failure, and returns it. Exceptions of Taut become failures.
template <class Action>
Failure attempt(Action action) {
  try {
    return action();
  } catch (...) {
    return caught_failure();
  }
}

// Runs `action`, which returns an MPI error code. Exceptions of Taut become errors of the communicator.
template <class Action>
int guard(MPI_Comm comm, Action action) {
  int code = MPI_SUCCESS;
  const Failure failure = attempt([&] { return code = action(), Failure{}; });
  return failure ? raise(comm, failure) : code;
}

}  // namespace taut::api

// From statuses and exceptions to MPI error codes, raised through the communicator's error handler.
#pragma once

#include <mpi.h>

#include <new>

#include "core/status.hpp"

namespace taut::api {

// The status behind an MPI error code; transport_failed for codes that are not ours.
Status status_of(int code) noexcept;

// Calls the communicator's error handler with an error of ours, if there is one, and returns its code if that
// returns. The code's class stands for the status; a message of its own, where there is one, is what
// MPI_Error_string says until the next.
int raise(MPI_Comm comm, Status status, const char* message = nullptr) noexcept;

// The same with a code of MPI's. MPI_COMM_NULL: no handler is called.
int raise(MPI_Comm comm, int code) noexcept;

// Throws unless a `call` of MPI, named so, returned MPI_SUCCESS.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(Status::transport_failed, call);
}

// Runs `action`, which returns an MPI code; exceptions become errors of the communicator.
template <class Action>
int guard(MPI_Comm comm, Action action) noexcept {
  try {
    return action();
  } catch (const Error& error) {
    return raise(comm, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return raise(comm, Status::out_of_memory);
  } catch (...) {
    return raise(comm, Status::internal);
  }
}

}  // namespace taut::api

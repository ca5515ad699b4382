// Implementation of the collective calls of taut.h: serve a call, begin it, or prepare it for later starts.
#pragma once

#include <taut/taut.h>

#include "api/args/mpi_call.hpp"

namespace taut::api {

// Serve, begin or prepare a call. Return an MPI error code, raised on the communicator. `call.site` must be
// set.
int serve_call(const MpiCall& call) noexcept;
int begin_call(const MpiCall& call, TAUT_Request* request) noexcept;
int prepare_call(const MpiCall& call, MPI_Info info, TAUT_Request* request) noexcept;

// Inlined into the functions of taut.h, which are not inlined themselves. The return address is therefore the
// call site in the program.
[[gnu::always_inline]] inline int serve(MpiCall call) noexcept {
  call.site = __builtin_return_address(0);
  return serve_call(call);
}
[[gnu::always_inline]] inline int begin(MpiCall call, TAUT_Request* request) noexcept {
  call.site = __builtin_return_address(0);
  return begin_call(call, request);
}
[[gnu::always_inline]] inline int prepare(MpiCall call, MPI_Info info, TAUT_Request* request) noexcept {
  call.site = __builtin_return_address(0);
  return prepare_call(call, info, request);
}

}  // namespace taut::api

// What a C call of taut.h does with its arguments: it serves the call, begins it, or prepares it for later.
#pragma once

#include <taut/taut.h>

#include "api/args/mpi_call.hpp"

namespace taut::api {

// An MPI code, raised on the communicator. `call.site` is set.
int serve_call(const MpiCall& call) noexcept;
int begin_call(const MpiCall& call, TAUT_Request* request) noexcept;
int prepare_call(const MpiCall& call, MPI_Info info, TAUT_Request* request) noexcept;

// These three are inlined into the functions of taut.h, which are not: so they see where the program called
// from.
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

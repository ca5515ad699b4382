// Persistent collective calls of programs (docs/adr/0012). A program's request is a persistent one of MPI's
// own: it receives an empty message that this process sends to itself when the call has ended. So MPI's
// functions wait for it, test it and make it inactive, in any language; MPI_Start, MPI_Startall and
// MPI_Request_free alone are to be seen (dropin/starting.cpp).
#pragma once

#include "dropin/nonblocking.hpp"

namespace taut::dropin {

// After MPI_Init and before MPI_Finalize: where those messages travel. False: there is no such place.
bool begin_persistent() noexcept;
void end_persistent() noexcept;

// Makes the program's request of a call that is Taut's own; null: it is plain MPI's, on all ranks. Collective
// over `comm`. An MPI code; throws Error.
int make_request(MPI_Comm comm, KeptArrays kept, std::unique_ptr<TAUT_Request_s> call, MPI_Request* request);

// `init(kept, &call)` is one of taut.h. False: the call is plain MPI's, on all ranks.
template <class Init>
bool keep(MPI_Comm comm, MPI_Request* request, int& code, Init init) noexcept {
  if (!intercepts_persistent(comm)) return false;
  const BypassScope bypass;
  MPI_Request made = MPI_REQUEST_NULL;
  code = api::guard(comm, [&]() -> int {
    KeptArrays kept;
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int failure = init(kept, &call); failure != MPI_SUCCESS) return failure;
    return make_request(comm, std::move(kept), std::unique_ptr<TAUT_Request_s>(call), &made);
  });
  if (code == MPI_SUCCESS && made == MPI_REQUEST_NULL) return false;
  if (code == MPI_SUCCESS) *request = made;
  return true;
}

// Starts what stands behind a request of make_request(). False: it is another request.
bool start_kept(MPI_Request request, int& code) noexcept;

// Forgets what stands behind a request, if it is one of make_request(); MPI's part is the caller's.
void forget_kept(MPI_Request request) noexcept;

}  // namespace taut::dropin

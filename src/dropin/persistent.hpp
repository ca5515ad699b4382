// Persistent collective calls of programs (docs/adr/0012). The program's request is a persistent receive of
// MPI: it receives an empty message that this process sends to itself when the call has completed. MPI's own
// functions can therefore wait for the request, test it and make it inactive, in any language. Taut
// intercepts only MPI_Start, MPI_Startall and MPI_Request_free (dropin/start_calls.cpp).
#pragma once

#include "dropin/nonblocking.hpp"

namespace taut::dropin {

// Creates and frees the communicator on which these messages travel, after MPI_Init and before MPI_Finalize.
// begin_persistent() returns false if the communicator cannot be created.
bool begin_persistent() noexcept;
void end_persistent() noexcept;

// Creates the program's request for a call that Taut serves. Leaves `*request` unchanged if the call is plain
// MPI, on all ranks. Collective over `comm`. Returns an MPI code; throws Error.
int make_request(MPI_Comm comm, ArrayCopies copies, std::unique_ptr<TAUT_Request_s> call,
                 MPI_Request* request);

// Creates a persistent request by `init(copies, &call)`, a function of taut.h. Returns false if the call is
// plain MPI, on all ranks.
template <class Init>
bool create_persistent(MPI_Comm comm, MPI_Request* request, int& code, Init init) noexcept {
  if (!intercepts_persistent(comm)) return false;
  const BypassScope bypass;
  MPI_Request made = MPI_REQUEST_NULL;
  code = api::guard(comm, [&]() -> int {
    ArrayCopies copies;
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int failure = init(copies, &call); failure != MPI_SUCCESS) return failure;
    return make_request(comm, std::move(copies), std::unique_ptr<TAUT_Request_s>(call), &made);
  });
  if (code == MPI_SUCCESS && made == MPI_REQUEST_NULL) return false;
  if (code == MPI_SUCCESS) *request = made;
  return true;
}

// Starts the call behind a request of make_request(). Returns false for any other request.
bool start_persistent(MPI_Request request, int& code) noexcept;

// Drops the call behind a request, if make_request() created the request. The caller frees MPI's request.
void forget_persistent(MPI_Request request) noexcept;

}  // namespace taut::dropin

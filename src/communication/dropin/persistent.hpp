// Persistent collective calls of programs (docs/adr/0012). The program's request is a persistent receive of
// MPI: it receives an empty message that this process sends to itself when the call has completed. MPI's own
// functions can therefore wait for the request, test it and make it inactive, in any language. Taut
// intercepts only MPI_Start, MPI_Startall and MPI_Request_free (communication/dropin/start_calls.cpp).
#pragma once

#include "communication/dropin/nonblocking.hpp"

namespace taut::dropin {

// Creates and frees the communicator on which these messages travel, after MPI_Init and in MPI_Finalize.
// begin_persistent() returns false if the communicator cannot be created.
bool begin_persistent() noexcept;
void end_persistent() noexcept;

// Creates a persistent request, and sets `code`. Returns the same on all ranks: false if plain MPI has to
// serve the call.
bool create_persistent(MPI_Comm comm, MPI_Info info, MPI_Request* request, int& code, CallMaker make);

// Starts the call behind a request of create_persistent(). Returns false for any other request.
bool start_persistent(MPI_Request request, int& code);

// Drops the call behind a request, if create_persistent() made the request. The caller frees MPI's request.
void forget_persistent(MPI_Request request) noexcept;

}  // namespace taut::dropin

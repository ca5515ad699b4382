// Counts of the nonblocking and persistent collective calls that go to MPI because TAUT_NONBLOCKING is not
// set (docs/observe.md). Nothing is counted unless a report or summary is asked for.
#pragma once

#include "communication/dropin/nonblocking.hpp"

namespace taut::dropin {

// Counts a nonblocking call that MPI is about to start.
void count_left(MPI_Comm comm, CallMaker make);

// Makes each start of MPI's persistent request count as a call.
void count_starts_of(MPI_Comm comm, MPI_Request request, CallMaker make);

// Counts the start of a request, if count_starts_of() knows it.
void count_start(MPI_Request request) noexcept;

// Forgets a request that the program frees.
void forget_starts_of(MPI_Request request) noexcept;

}  // namespace taut::dropin

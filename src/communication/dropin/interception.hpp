// Interception: the conditions under which Taut serves an MPI call.
#pragma once

#include <mpi.h>

#include "communication/p2p/bypass.hpp"

namespace taut::dropin {

// Returns true if Taut serves calls on this communicator: an intracommunicator of several ranks that all run
// with Taut. Returns false inside calls that Taut itself makes. The result is the same on all ranks of the
// communicator.
bool intercepts(MPI_Comm comm);

using BypassScope = p2p::BypassScope;

// Turns interception off or on, for MPI_Pcontrol. Collective, because ranks have to agree on what is served.
void switch_on(bool on) noexcept;

// Finds out if all ranks run with Taut, and returns the answer; calls are served only then. Called once by
// all ranks, after MPI_Init.
bool begin_interception() noexcept;

// Serves no further calls. stop_serving() may be followed by calls of MPI; end_interception() needs MPI.
void stop_serving() noexcept;

// Ends interception in MPI_Finalize.
void end_interception() noexcept;

}  // namespace taut::dropin

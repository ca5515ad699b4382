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

// Leaves all later calls to plain MPI. The program may go on to call MPI until end_interception().
void stop_serving() noexcept;

// Stops serving, and frees a handshake that was given up. Called in MPI_Finalize, while MPI still works.
void end_interception() noexcept;

}  // namespace taut::dropin

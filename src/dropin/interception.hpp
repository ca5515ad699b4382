// Which calls of MPI are Taut's.
#pragma once

#include <mpi.h>

#include "p2p/bypass.hpp"

namespace taut::dropin {

// Whether calls on this communicator are for Taut: an intracommunicator of several ranks that all run with
// Taut, and not in a call that Taut itself makes. The same on all its ranks.
bool intercepts(MPI_Comm comm) noexcept;

using BypassScope = p2p::BypassScope;

// MPI_Pcontrol(0) and (1): calls are MPI's again, and Taut's. Collective, for ranks have to agree on what is
// served.
void switch_on(bool on) noexcept;

// After MPI_Init, by all ranks, once: finds out whether all run with Taut. Only then calls are served.
bool begin_interception() noexcept;

// Before MPI_Finalize: no call is served any more. Again is nothing.
void end_interception() noexcept;

}  // namespace taut::dropin

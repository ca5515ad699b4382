// Which calls of MPI are Taut's.
#pragma once

#include <mpi.h>

#include "p2p/bypass.hpp"

namespace taut::dropin {

// Whether calls on this communicator are for Taut: an intracommunicator of several ranks that all run with
// Taut, and not in a call that Taut itself makes. The same on all its ranks.
bool serves(MPI_Comm comm) noexcept;

using Inside = p2p::BypassScope;

// MPI_Pcontrol(0) and (1): calls are MPI's again, and Taut's. Collective, for ranks have to agree on what is
// served.
void switch_on(bool on) noexcept;

// To be called after MPI_Init, by all ranks: finds out whether all run with Taut, once.
void meet_others() noexcept;

// To be called before MPI_Finalize; again is nothing.
void part() noexcept;

}  // namespace taut::dropin

// Sends that complete by themselves, from memory owned by Taut.
#pragma once

#include <mpi.h>

#include "communication/p2p/incoming_message.hpp"

namespace taut::dropin {

// Sends a copy of the current values. Returns an MPI code. Throws Error.
int send_detached(const p2p::MpiMessage& values);

}  // namespace taut::dropin

// Sends that complete by themselves, from memory owned by Taut.
#pragma once

#include <mpi.h>

#include "communication/p2p/recv_decode.hpp"

namespace taut::dropin {

// Sends a copy of the current values. Returns an MPI code. Throws Error.
int send_detached(const p2p::RecvBuffer& values, int dest, int tag);

}  // namespace taut::dropin

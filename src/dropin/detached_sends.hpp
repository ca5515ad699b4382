// Sends that go on by themselves, from memory of Taut's.
#pragma once

#include <mpi.h>

#include "p2p/recv_decode.hpp"

namespace taut::dropin {

// Sends the values that stand there now. An MPI code. Throws Error.
int send_detached(const p2p::RecvBuffer& values, int dest, int tag);

}  // namespace taut::dropin

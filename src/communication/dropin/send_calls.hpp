// Calls that send one message, in all send modes (docs/adr/0014).
#pragma once

#include "communication/dropin/counts.hpp"

namespace taut::dropin {

// Returns the send of a message of the program, encoded if a rule asks for coding and the result is shorter.
// Its layout is empty if the message is neither coded nor counted; otherwise the caller counts it when it is
// sent or its send has started.
p2p::Send send_of_program(const p2p::MpiMessage& message);

// Sends a message coded, or starts to, if a rule asks for it; `code` is MPI's. Returns false if the message
// travels as it is.
bool send_coded(p2p::SendFunction send, const p2p::MpiMessage& message, int& code);
bool send_coded(p2p::StartFunction start, const p2p::MpiMessage& message, MPI_Request* request, int& code);

// Tracks a persistent send request of MPI; each of its starts decides if the message is coded.
void send_at_each_start(MPI_Request request, p2p::StartFunction start, const p2p::MpiMessage& message);

// Starts a tracked persistent request with a coded message, whose request completes in its place. Returns
// false if the request is not tracked or its values travel as they are.
bool start_coded(MPI_Request request, int& code);

}  // namespace taut::dropin

// Calls that send one message, each in its kind (docs/adr/0014).
#pragma once

#include "p2p/send.hpp"

namespace taut::dropin {

// Sends a message coded, or starts to, if it is one to be sent so; `code` is MPI's. False: it travels as it
// is.
bool send_coded(p2p::SendFunction send, const p2p::SendArguments& message, int& code) noexcept;
bool send_coded(p2p::StartFunction start, const p2p::SendArguments& message, MPI_Request* request,
                int& code) noexcept;

// Tracks a persistent request that MPI has made: what is sent is decided at each of its starts.
void send_at_each_start(MPI_Request request, p2p::StartFunction start,
                        const p2p::SendArguments& message) noexcept;

// Starts such a request with a coded message, whose request completes in its place. False: it is another
// request, or its values travel as they are.
bool start_coded(MPI_Request request, int& code) noexcept;

}  // namespace taut::dropin

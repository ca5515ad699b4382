// Calls that send one message, each in its kind (docs/adr/0014): MPI does with the frames what it would do
// with the values.
#pragma once

#include "dropin/messages.hpp"

namespace taut::dropin {

// MPI's function of the kind.
using SendFunction = int (*)(const void*, api::plain::Count, MPI_Datatype, int, int, MPI_Comm);
using StartFunction = int (*)(const void*, api::plain::Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Sends a message as frames, or starts to, if it is one to be sent so; `code` is MPI's. False: it travels as
// it is.
bool send_coded(SendFunction send, const Outgoing& message, int& code) noexcept;
bool send_coded(StartFunction start, const Outgoing& message, MPI_Request* request, int& code) noexcept;

// Sees to a persistent request that MPI has made: what is sent is decided at each of its starts.
void send_at_each_start(MPI_Request request, StartFunction start, const Outgoing& message) noexcept;

// A start of such a request by frames, which complete in its place. False: it is another request, or its
// values travel as they are.
bool start_coded(MPI_Request request, int& code) noexcept;

}  // namespace taut::dropin

// Counts of the program's calls for reports (docs/observe.md). Messages and the nonblocking calls that MPI
// serves are not counted unless a report or summary is asked for.
#pragma once

#include "communication/dropin/next_symbol.hpp"
#include "communication/dropin/nonblocking.hpp"
#include "communication/p2p/send.hpp"

namespace taut::dropin {

// ---- Messages, on the rank that sends a message and on the rank that receives it

// Returns true if messages and nonblocking calls are counted.
bool counts_calls() noexcept;

// Returns the call site in the program for the return address of a call, if reports name it.
const void* reported_site(const void* return_address) noexcept;

// Prepares the counts, after MPI_Init and before the first message. Returns true if messages are counted.
bool begin_counting() noexcept;

// Count a message that is sent or whose send has started, unless its layout is empty, and one that is
// received.
void count_sent(const p2p::Send& send) noexcept;
void count_received(const p2p::MpiMessage& recv, const Message& message) noexcept;

// ---- Nonblocking and persistent collective calls that go to MPI because TAUT_NONBLOCKING is not set

// Counts a nonblocking call that MPI is about to start.
void count_left(MPI_Comm comm, CallMaker make);

// Makes each start of MPI's persistent request count as a call.
void count_starts_of(MPI_Comm comm, MPI_Request request, CallMaker make);

// Counts the start of a request, if count_starts_of() knows it.
void count_start(MPI_Request request) noexcept;

// Forgets a request that the program frees.
void forget_starts_of(MPI_Request request) noexcept;

// ---- Calls of functions that Taut does not serve, by name (src/communication/preload/unserved.txt)

void count_unserved(Wrapped function) noexcept;

// Makes reports include these counts; called in MPI_Init.
void begin_counting_unserved() noexcept;

}  // namespace taut::dropin

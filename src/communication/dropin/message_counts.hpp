// Counts of messages for reports, on the rank that sends a message and on the rank that receives it
// (docs/observe.md). Nothing is counted unless a report is asked for.
#pragma once

#include "communication/p2p/endpoint.hpp"

namespace taut::dropin {

// Returns true if messages are counted.
bool counts_messages() noexcept;

// Returns the call site in the program for the return address of a call, if reports name it.
const void* reported_site(const void* return_address) noexcept;

// Prepares the counts, after MPI_Init and before the first message. Returns true if messages are counted.
bool begin_counting() noexcept;

void count_sent(const p2p::MpiMessage& message, const api::DatatypeLayout& kind,
                const EncodedMessage& made) noexcept;

void count_received(const p2p::MpiMessage& at, const p2p::Received& received) noexcept;

}  // namespace taut::dropin

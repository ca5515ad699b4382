// What reports tell of messages, on the rank that sends them and on the one that receives them
// (docs/observe.md). Nothing is counted unless somebody asks for it.
#pragma once

#include "p2p/recv_decode.hpp"

namespace taut::dropin {

// Before the first message, after MPI_Init. Whether they are counted.
bool begin_counting() noexcept;

void count_sent(const p2p::SendArguments& message, const api::DatatypeLayout& kind,
                const EncodedMessage& made) noexcept;

void count_received(const p2p::RecvBuffer& at, const p2p::Received& received) noexcept;

}  // namespace taut::dropin

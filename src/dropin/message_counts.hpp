// What reports tell of messages, on the rank that sends them and on the one that receives them
// (docs/observe.md). Nothing is counted unless somebody asks for it.
#pragma once

#include "comm/message_coder.hpp"

namespace taut::dropin {

// Before the first message, after MPI_Init. Whether they are counted.
bool begin_counting() noexcept;

// `sent`: bytes that travel as frames; 0: the values do.
void count_sent(ConstSlice values, const EncodedMessage& made, std::size_t sent) noexcept;

// `type`: DType, 0: none that is known; nanoseconds that decoding took.
void count_decoded(std::uint8_t type, std::size_t bytes, std::uint64_t nanoseconds) noexcept;
void count_received_plain(std::uint8_t type, std::size_t bytes) noexcept;

}  // namespace taut::dropin

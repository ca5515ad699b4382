// Encoding and decoding of messages by several threads.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>

#include "api/args/datatype_layout.hpp"
#include "comm/message_coder.hpp"
#include "p2p/shared_place.hpp"

namespace taut::p2p {

// Arguments of a call that sends a message.
struct SendArguments {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int dest;
  int tag;
  MPI_Comm comm;
};

// Message coder that threads share. One thread at a time encodes or decodes.
class Coder {
 public:
  Coder(const Policy& policy, const MessageFormat& format, int threads);

  // Returns the values of a message with this layout as contiguous values, packed into `memory` if they have
  // gaps. Throws Error.
  ConstSlice values_in_a_row(const SendArguments& message, const api::DatatypeLayout& kind, Buffer& memory);

  // Encodes the values of a message, or the first segment if others follow. `plain` of the result says why
  // the message is not coded. `stream` names messages that are likely to be alike.
  EncodedMessage encode(ConstSlice values, std::uint64_t stream, const Following& following) noexcept;

  // Encodes segment `i` > 0, as MessageCoder::encode_segment().
  ConstBytes encode_segment(ConstSlice values, std::size_t i, EncodedMessage& made) noexcept;

  // Moves a message that is kept for some time to a smaller buffer: the first buffer has room for all values.
  // Throws Error.
  void shrink(EncodedMessage& made);

  // Decodes frames into `values`, which they must fill and must not overlap. `type`: DType of the values.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept;

  // Returns memory from the pool, which must outlive it. Throws Error.
  Buffer scratch(std::size_t bytes) { return place_->scratch(bytes); }
  const std::shared_ptr<SharedPlace>& place() const noexcept { return place_; }

 private:
  Policy policy_;
  std::shared_ptr<SharedPlace> place_ = std::make_shared<SharedPlace>();
  std::mutex mutex_;
  MessageCoder coder_;
};

// Returns the bytes of the values of a message with this layout.
std::size_t bytes_of_values(const SendArguments& message, const api::DatatypeLayout& kind) noexcept;

}  // namespace taut::p2p

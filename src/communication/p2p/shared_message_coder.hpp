// Shared message coder: the encoder and decoder of point-to-point messages that the threads of a process use
// in turn.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>

#include "communication/comm/message_coder.hpp"
#include "communication/mpi/datatype_layout.hpp"

namespace taut::p2p {

// Arguments of a call that sends a message.
struct SendArguments {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int dest;
  int tag;
  MPI_Comm comm;
  const void* site = nullptr;  // return address of the call, null if unknown
};

// Message coder that threads share. One thread at a time encodes or decodes.
class SharedMessageCoder {
 public:
  SharedMessageCoder(const Policy& policy, const MessageFormat& format, int threads);

  // Returns the values of a message with this layout as contiguous values, packed into `memory` if they have
  // gaps. Throws Error.
  ConstSlice values_in_a_row(const SendArguments& message, const api::DatatypeLayout& kind, Buffer& memory);

  // Encodes the values of a message, or the first segment if others follow. `plain` of the result says why
  // the message is not coded. `stream` names messages that are likely to be alike.
  EncodedMessage encode(ConstSlice values, std::uint64_t stream, const FollowingSegments& following) noexcept;

  // Encodes segment `i` > 0, as MessageCoder::encode_segment().
  ConstBytes encode_segment(ConstSlice values, std::size_t i, EncodedMessage& made) noexcept;

  // Moves a message that is kept for some time to a smaller buffer: the first buffer has room for all values.
  // Throws Error.
  void shrink(EncodedMessage& made);

  // Decodes frames into `values`, which they must fill and must not overlap. `type`: DType of the values.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept;

  // Returns the GPUs that have values of messages.
  MessageDevices& devices() noexcept { return coder_.devices(); }

  // Returns host memory for a message whose values are on the device; null: on the host. Throws Error.
  Buffer scratch(std::size_t bytes, MessageDevice* device = nullptr);

  // Copies values between host memory and memory of the device, or of the host if it is null. Throws Error.
  void copy(void* to, const void* from, std::size_t bytes, MessageDevice* device);

 private:
  Policy policy_;
  std::shared_ptr<SharedPlace> place_ = std::make_shared<SharedPlace>(std::make_unique<HostPlace>());
  std::mutex mutex_;
  MessageCoder coder_;
};

// Returns the bytes of the values of a message with this layout.
std::size_t bytes_of_values(const SendArguments& message, const api::DatatypeLayout& kind);

}  // namespace taut::p2p

// Encoding and decoding of messages for several threads.
#pragma once

#include <mpi.h>

#include <mutex>

#include "api/args/datatype_layout.hpp"
#include "comm/message_coder.hpp"
#include "p2p/shared_place.hpp"

namespace taut::p2p {

// The arguments of a call that sends.
struct SendArguments {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int dest;
  int tag;
  MPI_Comm comm;
};

// A message coder that any thread may use, one at a time.
class Coder {
 public:
  Coder(const Policy& policy, const MessageFormat& format, int threads);

  // The values of a message, of this kind, as a coded message; made.plain says why there is none. `stream`
  // names messages that are likely to be alike.
  EncodedMessage encode(const SendArguments& message, const api::DatatypeLayout& kind,
                        std::uint64_t stream) noexcept;

  // Moves a message that is kept for some time: memory that could hold the values is too much for it. Throws
  // Error.
  void shrink(EncodedMessage& made);

  // Frames to as many bytes of values as `values` has, which stand elsewhere. `type`: their DType.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept;

  // Memory from the pool. Throws Error.
  Buffer scratch(std::size_t bytes) { return place_.scratch(bytes); }

 private:
  Policy policy_;
  SharedPlace place_;
  std::mutex mutex_;
  MessageCoder coder_;
};

// Bytes of the values of a message of this kind.
std::size_t bytes_of_values(const SendArguments& message, const api::DatatypeLayout& kind) noexcept;

}  // namespace taut::p2p

// Endpoint of messages that may be coded: TAUT_ calls on a communicator with a policy, or the program under
// the drop-in (docs/adr/0021). Its encoder and decoder are used by the threads of the process in turn.
#pragma once

#include <memory>
#include <mutex>

#include "communication/comm/message_coder.hpp"
#include "communication/p2p/mpi_message.hpp"
#include "communication/p2p/segment_comm.hpp"

namespace taut::p2p {

// Message coder that threads share. One thread at a time encodes or decodes.
class SharedMessageCoder {
 public:
  SharedMessageCoder(const Policy& policy, const MessageFormat& format, int threads);

  // Returns the values of a message with this layout as contiguous values, packed into `memory` if they have
  // gaps. Throws Error.
  ConstSlice values_in_a_row(const MpiMessage& message, const api::DatatypeLayout& kind, Buffer& memory);

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

// A message that has been received.
struct Received {
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  std::size_t bytes = 0;             // bytes of the values
  std::optional<DType> type{};       // type of a coded message
  const CodecInfo* codec = nullptr;  // codec of a coded message; null: the message is plain
  Bound bound{};                     // bound of a coded message
  std::uint64_t begin = 0, end = 0;  // time of decoding, by clock_now()
  bool failed = false;

  bool coded() const noexcept { return codec != nullptr; }
};

class Endpoint {
 public:
  Endpoint(const MessageFormat& format, bool checks_types, std::shared_ptr<SegmentComm> segments) noexcept
      : format_(format), checks_types_(checks_types), segments_(std::move(segments)) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  const MessageFormat& format() const noexcept { return format_; }

  // Returns true if it is an error to receive a coded message of numbers as numbers of another type.
  bool checks_types() const noexcept { return checks_types_; }

  // Returns the communicator of the segments of long messages; null if none are sent in segments.
  const std::shared_ptr<SegmentComm>& segments() const noexcept { return segments_; }

  // Returns the coder that decodes messages.
  virtual SharedMessageCoder& coder() noexcept = 0;

  // Counts a message that was received into `at`, for reports.
  virtual void count(const MpiMessage& at, const Received& received) noexcept = 0;

 private:
  MessageFormat format_;
  bool checks_types_;
  std::shared_ptr<SegmentComm> segments_;
};

// The endpoint of the program, while the drop-in serves its messages; otherwise null. The same on all ranks.
Endpoint* program_endpoint() noexcept;
void set_program_endpoint(Endpoint* endpoint) noexcept;

}  // namespace taut::p2p

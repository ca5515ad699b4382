// Endpoint of messages that may be coded: TAUT_ calls on a communicator with a policy, or the program under
// the drop-in (docs/adr/0021).
#pragma once

#include "communication/p2p/segment_comm.hpp"
#include "communication/p2p/shared_message_coder.hpp"

namespace taut::p2p {

struct RecvBuffer;

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
  virtual void count(const RecvBuffer& at, const Received& received) noexcept = 0;

 private:
  MessageFormat format_;
  bool checks_types_;
  std::shared_ptr<SegmentComm> segments_;
};

// The endpoint of the program, while the drop-in serves its messages; otherwise null. The same on all ranks.
Endpoint* program_endpoint() noexcept;
void set_program_endpoint(Endpoint* endpoint) noexcept;

}  // namespace taut::p2p

// Receives of messages that may be coded: decoding, long messages that arrive in segments, and receives that
// other calls advance.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "communication/mpi/failure.hpp"
#include "communication/p2p/endpoint.hpp"

namespace taut::p2p {

// Returns true if a coded message can arrive in this buffer.
bool may_be_coded(const MpiMessage& recv);

// Returns the GPU of a receive that goes through a bounce buffer: MPI receives into pinned memory of Taut,
// because the message may be coded and its values go to a GPU. Returns null for other receives, which MPI
// makes into the user's buffer.
std::shared_ptr<MessageDevice> bounce_device(const MpiMessage& recv);

// Finishes a receive after MPI has received its message: decodes the message if it is coded, sets the bytes
// of the values in `status`, which comes from MPI, and counts the message. The caller raises the failure.
api::Failure finish_recv(const MpiMessage& recv, MPI_Status& status);

// A message in memory of Taut. A probe had to receive it there to know its content, or its values go to a
// GPU.
struct Detached {
  std::shared_ptr<std::byte[]> memory;
  std::size_t bytes = 0;  // room; the message may be shorter
  bool matched = false;   // a probe has matched the message, so that it arrives

  explicit operator bool() const noexcept { return memory != nullptr; }
};

// Returns the bounce buffer of a receive: pinned memory for its message. Throws Error.
Detached bounce_buffer(const MpiMessage& recv, MessageDevice& device);

// Returns the bytes of the values of a message that fills its memory, or of the whole message if it is not
// coded.
std::size_t bytes_of_values(const Detached& message, const MessageFormat& format) noexcept;

// Puts the values of a message into the receive buffer; otherwise as finish_recv().
api::Failure deliver(const Detached& detached, const MpiMessage& recv, MPI_Status& status);

class SegmentedReceive;

// Finishes a receive in the way in which its message came: in segments, to memory of Taut, or to the buffer.
api::Failure finish_recv(const MpiMessage& recv, const Detached& detached, SegmentedReceive* segmented,
                         MPI_Status& status);

// Returns the values in the buffer, made contiguous. Throws Error.
std::vector<std::byte> packed(const MpiMessage& recv);

// ---- Long messages (docs/adr/0022)

// Receive of a long message whose first segment has arrived. Receives the other segments and decodes each
// into the receive buffer while MPI receives those behind it.
class SegmentedReceive {
 public:
  // Posts receives, then decodes the first segment, which is stored outside of the receive buffer. Throws
  // Error if memory is missing or the header names what cannot be.
  SegmentedReceive(const MpiMessage& recv, const Envelope& first);
  SegmentedReceive(const SegmentedReceive&) = delete;
  ~SegmentedReceive();

  // Decodes the segments that have arrived. Returns true if no more are to come.
  bool advance() noexcept;

  // Ends a message of which no more segments are to come: sets the bytes of the values in `status`, which
  // comes from MPI, and counts the message. The caller raises the failure.
  api::Failure finish(MPI_Status& status);

  // Waits for the segments, and ends the message.
  api::Failure receive(MPI_Status& status);

 private:
  // Receives of segments that are posted at a time.
  static constexpr std::size_t window = 4;

  struct Slot {
    Buffer memory;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Bytes segment(std::size_t i) const noexcept;
  void post(std::size_t i) noexcept;
  void decode(std::size_t i, ConstBytes message) noexcept;
  void copy(ConstBytes message, Bytes values) noexcept;
  void decode_frames(std::size_t i, ConstBytes frames) noexcept;
  void fail(Status status) noexcept;

  MpiMessage recv_;
  std::shared_ptr<SegmentComm> comm_;
  Envelope first_;
  std::size_t segments_;  // with the first
  Message message_;
  std::uint64_t decoding_ = 0;  // time of decoding
  std::optional<Error> failure_;
  bool truncated_ = false;
  std::shared_ptr<MessageDevice> device_;  // GPU on which values are decoded; null: the host
  Buffer memory_;                          // values that cannot be decoded to the receive buffer
  Bytes values_;                           // where values are decoded to; empty: they are not decoded
  std::array<Slot, window> slots_;
  std::size_t arrived_ = 1;  // segments that have arrived
};

// ---- Open receives: receives that MPI has started and whose message may come in segments, or goes through a
// bounce buffer. A call that polls while it waits advances all of them in each turn, because the sender of
// segments may wait until they are received.

// Returns true if a message in segments fits this buffer.
bool may_be_segmented(const MpiMessage& recv);

// A receive that MPI has started. Threads may advance it until it is ready; the thread that completes the
// request asks ready() before.
class OpenReceive {
 public:
  // `recv.type` lives as long as the object, `request` until the receive is ready. `detached`: as for
  // segmented_receive().
  OpenReceive(const MpiMessage& recv, const Detached* detached, MPI_Request request);
  OpenReceive(const OpenReceive&) = delete;
  ~OpenReceive();

  // Returns true if the request may be completed by MPI: its message has arrived, with all segments.
  bool ready();

  // Lets the receive complete by itself: the program has freed its request. The object is never destroyed.
  void forget() noexcept;

  // Returns the receive of the segments, once this receive is ready; null for a message in one piece.
  SegmentedReceive* segmented() noexcept { return segmented_.get(); }
  std::unique_ptr<SegmentedReceive> take_segmented() noexcept { return std::move(segmented_); }

 private:
  friend void advance_receives();
  void look() noexcept;
  bool step();
  void finish();

  MpiMessage recv_;
  const Detached* detached_;
  MPI_Request request_;
  std::unique_ptr<SegmentedReceive> segmented_;
  MPI_Status status_{};  // of a receive that has arrived
  bool arrived_ = false, failed_ = false, ready_ = false, forgotten_ = false;
};

// Advances all open receives, unless another thread does so.
void advance_receives();

}  // namespace taut::p2p

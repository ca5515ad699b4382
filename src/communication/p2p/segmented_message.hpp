// Long messages that arrive in segments (docs/adr/0022).
#pragma once

#include <array>

#include "communication/p2p/recv_decode.hpp"

namespace taut::p2p {

// A long message whose first segment has arrived. Receives the other segments and decodes each into the
// receive buffer while MPI receives those behind it.
class SegmentedMessage {
 public:
  // Posts receives, then decodes the first segment, which is stored outside of the receive buffer. Throws
  // Error if memory is missing or the header names what cannot be.
  SegmentedMessage(const RecvBuffer& at, const Envelope& first);
  SegmentedMessage(const SegmentedMessage&) = delete;
  ~SegmentedMessage();

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

  RecvBuffer at_;
  std::shared_ptr<SegmentComm> comm_;
  Envelope first_;
  std::size_t segments_;  // with the first
  Received received_;
  std::uint64_t decoding_ = 0;  // time of decoding
  std::optional<Error> failure_;
  bool truncated_ = false;
  std::shared_ptr<MessageDevice> device_;  // GPU on which values are decoded; null: the host
  Buffer memory_;                          // values that cannot be decoded to the receive buffer
  Bytes values_;                           // where values are decoded to; empty: they are not decoded
  std::array<Slot, window> slots_;
  std::size_t arrived_ = 1;  // segments that have arrived
};

}  // namespace taut::p2p

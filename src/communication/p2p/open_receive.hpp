// Open receives: receives that MPI has started and whose message may come in segments, or goes through a
// bounce buffer. A call that polls while it waits
// advances all of them in each turn, because the sender of segments may wait until they are received
// (docs/adr/0022).
#pragma once

#include "communication/p2p/segmented_message.hpp"

namespace taut::p2p {

// Returns true if a message in segments fits this buffer.
bool may_be_segmented(const RecvBuffer& at);

// A receive that MPI has started. Threads may advance it until it is ready; the thread that completes the
// request asks ready() before.
class OpenReceive {
 public:
  // `at.type` lives as long as the object, `request` until the receive is ready. `detached`: as for
  // segmented_message().
  OpenReceive(const RecvBuffer& at, const Detached* detached, MPI_Request request);
  OpenReceive(const OpenReceive&) = delete;
  ~OpenReceive();

  // Returns true if the request may be completed by MPI: its message has arrived, with all segments.
  bool ready();

  // Lets the receive complete by itself: the program has freed its request. The object is never destroyed.
  void forget() noexcept;

  // Returns the message of a receive that is ready; null if it is in one piece.
  SegmentedMessage* message() noexcept { return message_.get(); }
  std::unique_ptr<SegmentedMessage> take_message() noexcept { return std::move(message_); }

 private:
  friend void advance_receives();
  void look() noexcept;
  bool step();
  void finish();

  RecvBuffer at_;
  const Detached* detached_;
  MPI_Request request_;
  std::unique_ptr<SegmentedMessage> message_;
  MPI_Status status_{};  // of a receive that has arrived
  bool arrived_ = false, failed_ = false, ready_ = false, forgotten_ = false;
};

// Advances all open receives, unless another thread does so.
void advance_receives();

}  // namespace taut::p2p

// Coded messages on their way. A long one is sent in segments, encoded one while MPI sends others
// (docs/adr/0022). Segments may be sent after the send of their message is complete.
#pragma once

#include <vector>

#include "communication/p2p/endpoint.hpp"
#include "communication/team/task.hpp"

namespace taut::p2p {

// A coded message: its memory, which MPI reads, and the sends of the segments behind the first. The first
// segment is sent synchronously, so that the message waits for its receive as a long message of MPI does. If
// the object is destroyed before the segments are sent, their memory is kept until they are.
class OutgoingMessage {
 public:
  OutgoingMessage() = default;
  explicit OutgoingMessage(EncodedMessage made) noexcept : made_(std::move(made)) {}

  // Encodes the values of a message, or the first segment of them. Segments go over `segments`, unless it is
  // null. `stream`: as for SharedMessageCoder::encode().
  OutgoingMessage(SharedMessageCoder& coder, SegmentComm* segments, const MpiMessage& message,
                  const api::DatatypeLayout& kind, std::uint64_t stream) noexcept;
  OutgoingMessage(OutgoingMessage&& other) noexcept { *this = std::move(other); }
  OutgoingMessage& operator=(OutgoingMessage&& other) noexcept;
  ~OutgoingMessage();

  const EncodedMessage& made() const noexcept { return made_; }

  // Returns the arguments that send this coded message in place of `message`: elements of its type if that is
  // predefined, otherwise bytes. If the message is not coded, they are those of `message`.
  MpiMessage in_place_of(const MpiMessage& message) const;

  bool coded() const noexcept { return made_.bytes != 0; }
  bool in_segments() const noexcept { return made_.following.segments != 0; }

  // Moves the message to a smaller buffer, for a message that is kept for some time. Throws Error.
  void shrink();

  // Starts to send the message by MPI's nonblocking `function`; a long one by MPI_Issend. Returns an MPI
  // error code. `request` is that of the first segment.
  int start(StartFunction function, const MpiMessage& message, MPI_Request* request);

  // Returns true if the send may complete: the segments are sent, or the receiver has left them waiting for a
  // while. `request`: as of start().
  bool ready(MPI_Request request);

  // Sends a long message. `progress()` is called while it waits, and advances open receives at least. Returns
  // an MPI error code.
  template <class Progress>
  int send(const MpiMessage& message, Progress progress) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (const int code = start(nullptr, message, &request); code != MPI_SUCCESS) return code;
    for (Backoff backoff; !ready(request); backoff.pause()) progress();
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  // Gives up the memory, because MPI may still read it.
  void abandon() noexcept { new Buffer(std::move(made_.buffer)); }

 private:
  int start_segments() noexcept;
  void release() noexcept;
  bool all_sent() noexcept;

  EncodedMessage made_;
  SharedMessageCoder* coder_ = nullptr;
  SegmentComm* segments_ = nullptr;
  int dest_ = MPI_UNDEFINED;  // rank in segments_
  Buffer packed_;
  ConstSlice values_{};  // to be encoded
  std::vector<MPI_Request> sends_;
  std::size_t left_ = 0;               // sends that are not complete
  std::uint64_t last_ = 0, idle_ = 0;  // time of the last look; time without progress
  bool gave_up_ = false;
};

// Waits until the segments of this process are received and every other rank has no receive left to post;
// then frees the communicators. Called in MPI_Finalize by all ranks.
void finish_segments() noexcept;

}  // namespace taut::p2p

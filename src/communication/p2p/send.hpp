// Sends of messages that may be coded. A long coded message is sent in segments, encoded one while MPI sends
// others (docs/adr/0022). Segments may be sent after the send of their message is complete.
#pragma once

#include <optional>
#include <vector>

#include "communication/p2p/endpoint.hpp"
#include "communication/team/task.hpp"

namespace taut::p2p {

// Send of one message: its arguments, the coded message, whose memory MPI reads, and the sends of the
// segments behind the first. The first segment is sent synchronously, so that the message waits for its
// receive as a long message of MPI does. If the object is destroyed before the segments are sent, their
// memory is kept until they are.
class Send {
 public:
  // The send of a plain message. `layout`: of its values; empty if they are of several kinds, or unknown.
  Send() = default;
  explicit Send(const MpiMessage& arguments, std::optional<api::DatatypeLayout> layout = {})
      : arguments_(arguments), layout_(std::move(layout)) {}
  Send(Send&& other) noexcept { *this = std::move(other); }
  Send& operator=(Send&& other) noexcept;
  ~Send();

  // Encodes the values, or the first segment of them; the layout is known. Segments go over `segments`,
  // unless it is null. `stream`: as for SharedMessageCoder::encode().
  void encode(SharedMessageCoder& coder, SegmentComm* segments, std::uint64_t stream) noexcept;

  // Leaves the values as they are, for this reason.
  void leave_plain(Fallback why) noexcept { message_.fallback = why; }

  const std::optional<api::DatatypeLayout>& layout() const noexcept { return layout_; }
  const Message& message() const noexcept { return message_; }
  bool coded() const noexcept { return message_.coded(); }
  bool in_segments() const noexcept { return message_.following.segments != 0; }

  // Returns the arguments as the program has passed them.
  const MpiMessage& plain() const noexcept { return arguments_; }

  // Returns the arguments that send the message: those of the program, or for a coded message elements of the
  // program's type if that is predefined, otherwise bytes.
  MpiMessage arguments() const;

  // Moves the message to a smaller buffer, for a message that is kept for some time. Throws Error.
  void shrink();

  // Starts to send the message by MPI's nonblocking `function`; a long one by MPI_Issend. Returns an MPI
  // error code. `request` is that of the first segment.
  int start(StartFunction function, MPI_Request* request);

  // Returns true if the send may complete: the segments are sent, or the receiver has left them waiting for a
  // while. `request`: as of start().
  bool ready(MPI_Request request);

  // Sends the message by MPI's blocking `function`. A long one is started; `progress()` is called while it
  // waits, and advances open receives at least. Returns an MPI error code.
  template <class Progress>
  int send(SendFunction function, Progress progress) {
    if (!in_segments()) return p2p::send(function, arguments());
    MPI_Request request = MPI_REQUEST_NULL;
    if (const int code = start(nullptr, &request); code != MPI_SUCCESS) return code;
    for (Backoff backoff; !ready(request); backoff.pause()) progress();
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  // Gives up the memory, because MPI may still read it.
  void abandon() noexcept { new Buffer(std::move(message_.buffer)); }

 private:
  MessageHistory history() noexcept;
  int start_segments() noexcept;
  void release() noexcept;
  bool all_sent() noexcept;

  MpiMessage arguments_{};
  std::optional<api::DatatypeLayout> layout_;
  Message message_;
  SharedMessageCoder* coder_ = nullptr;
  SegmentComm* segments_ = nullptr;
  int dest_ = MPI_UNDEFINED;  // rank in segments_, of a long message or one with a history
  Buffer packed_;
  ConstSlice values_{};  // to be encoded
  std::vector<MPI_Request> sends_;
  std::size_t left_ = 0;               // sends that are not complete
  std::uint64_t last_ = 0, idle_ = 0;  // time of the last look; time without progress
  bool gave_up_ = false;
};

// Sends a copy of the current values, which is kept until it is sent. Returns an MPI error code. Throws
// Error.
int send_detached(const MpiMessage& values);

// Waits until the segments and copies of this process are received and every other rank has no receive left
// to post; then frees the communicators of segments. Called in MPI_Finalize by all ranks.
void finish_sends() noexcept;

}  // namespace taut::p2p

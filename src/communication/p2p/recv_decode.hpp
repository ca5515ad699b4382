// Decoding of received messages: if a message is coded, its values replace its frames.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "communication/mpi/failure.hpp"
#include "communication/p2p/endpoint.hpp"
#include "communication/p2p/status.hpp"

namespace taut::p2p {

// Buffer of a receive, and the endpoint that decodes and counts its message.
struct RecvBuffer {
  void* buf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Comm comm;                 // for errors; MPI_COMM_NULL: none is raised
  Endpoint* endpoint = nullptr;  // null: no coded message can arrive
  const void* site = nullptr;    // call site in the program, if known
  std::uint64_t began = 0;       // start of a timed call, by clock_now()
};

// Returns the bytes that the buffer has room for.
std::size_t room(const RecvBuffer& at);

// Returns true if a coded message can arrive in this buffer.
bool may_be_coded(const RecvBuffer& at);

// Returns the GPU that has the buffer, or null for host memory, if Taut reads and writes the values there as
// an array. Returns nothing if MPI has to pack and unpack them: values with gaps, or on a GPU without usable
// kernels.
std::optional<std::shared_ptr<MessageDevice>> array_of(const RecvBuffer& at);

// Returns the GPU of a receive that goes through a bounce buffer: MPI receives into pinned memory of Taut,
// because the message may be coded and its values go to a GPU. Returns null for other receives, which MPI
// makes into the user's buffer.
std::shared_ptr<MessageDevice> bounce_device(const RecvBuffer& at);

// Returns true if frames are decoded into the buffer itself.
bool is_decoded_in_place(const RecvBuffer& at);

// Writes values to the receive buffer. Data behind the values is written back unchanged, because MPI_Unpack
// cannot end within an element. Throws Error.
void place(ConstBytes values, const RecvBuffer& at);

// Reads codec and bound of a coded message from its first frame. Throws Error if the type of the values is
// not that of the receive.
void describe_coded(const Envelope& message, const RecvBuffer& at, Received& received);

// Finishes a receive after MPI has received its message: decodes the message if it is coded, sets the bytes
// of the values in `status`, which comes from MPI, and counts the message. The caller raises the failure.
api::Failure finish_recv(const RecvBuffer& at, MPI_Status& status);

// A message in memory of Taut. A probe had to receive it there to know its content, or its values go to a
// GPU.
struct Detached {
  std::shared_ptr<std::byte[]> memory;
  std::size_t bytes = 0;  // room; the message may be shorter
  bool matched = false;   // a probe has matched the message, so that it arrives

  explicit operator bool() const noexcept { return memory != nullptr; }
};

// Returns the bounce buffer of a receive: pinned memory for its message. Throws Error.
Detached bounce_buffer(const RecvBuffer& at, MessageDevice& device);

// Returns the bytes of the values of a message that fills its memory, or of the whole message if it is not
// coded.
std::size_t bytes_of_values(const Detached& message, const MessageFormat& format) noexcept;

// Puts the values of a message into the receive buffer; otherwise as finish_recv().
api::Failure deliver(const Detached& message, const RecvBuffer& at, MPI_Status& status);

class SegmentedMessage;

// Returns the long message whose first segment MPI has received into `at`, or into `detached` unless it is
// null; null if the message is none. Receives of its other segments are then posted.
std::unique_ptr<SegmentedMessage> segmented_message(const RecvBuffer& at, const Detached* detached,
                                                    const MPI_Status& status) noexcept;

// Returns the values in the buffer, made contiguous. Throws Error.
std::vector<std::byte> packed(const RecvBuffer& at);

}  // namespace taut::p2p

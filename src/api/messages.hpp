// Point-to-point messages of a communicator with a policy. They are MPI's messages on the user's
// communicator, with its tags; each starts with an envelope. docs/adr/0006-messages.md says why.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "comm/message_coder.hpp"

namespace taut::api {

// Up to so many bytes of values travel through a copy of header and values, beyond as a datatype that joins
// both where they lie. MPICH copies joined memory itself when it sends, more slowly than we do; Open MPI does
// not.
//
// Open MPI (5.0.11) writes beyond the end of a shorter receive buffer when both sides are contiguous and the
// message is above its eager limit; where one side is not, it cuts the message off as it should. So there
// receives are never contiguous. docs/adr/0006-messages.md has the figures.
#ifdef OPEN_MPI
inline constexpr std::size_t most_copied_to_send = 2048, most_copied_to_receive = 2048;
inline constexpr bool receives_apart = true;
#else
inline constexpr std::size_t most_copied_to_send = SIZE_MAX, most_copied_to_receive = 32768;
inline constexpr bool receives_apart = false;
#endif

inline constexpr const char* on_device_text =
    "buf is memory of a GPU: copy it to the host, or send and receive on a communicator without a policy";

// Memory for a short message, header and payload apart, by a datatype that is made once.
struct Slot {
  static constexpr std::size_t payload_at = 32;
  std::size_t room = 0;  // for the payload
  MPI_Datatype type = MPI_DATATYPE_NULL;

  std::size_t bytes() const noexcept { return payload_at + room; }
};

// A message that a probe has taken from MPI, or is taking: the only way to see what its envelope says.
struct ProbedMessage {
  int source = 0, tag = 0;
  std::size_t bytes = 0;  // of the message
  Buffer buffer;
  MPI_Request request = MPI_REQUEST_NULL;

  ConstBytes message() const noexcept { return buffer.bytes().first(bytes); }
};

// What the messages of a communicator have in common.
class Messages {
 public:
  explicit Messages(const Policy& policy);  // which stays where it is
  Messages(const Messages&) = delete;
  ~Messages() { disconnect(); }
  void disconnect() noexcept;  // frees all that belongs to MPI; waits for what probes are taking

  MessageCoder& coder() noexcept { return coder_; }
  HostPlace& place() noexcept { return place_; }
  std::uint32_t next_sequence() noexcept { return sequence_++; }

  // The smallest that has room for so many bytes, at most most_copied_to_receive. Throws Error.
  const Slot& slot(std::size_t bytes);

  // Is there a message? Then `status` is its, the count of its values included, and the next receive that
  // matches gets it. An MPI code; throws Error.
  int probe(MPI_Comm comm, int source, int tag, bool& found, MPI_Status* status);

  // The message that a receive has to take of those that were probed; null: none, what is MPI's comes first.
  std::unique_ptr<ProbedMessage> take(MPI_Comm comm, int source, int tag);

 private:
  using Probed = std::vector<std::unique_ptr<ProbedMessage>>;

  Probed::iterator first(int source, int tag) noexcept;
  Probed::iterator match(MPI_Comm comm, int source, int tag);
  int pull(MPI_Comm comm, int source, int tag, bool& found);

  HostPlace place_;
  MessageCoder coder_;
  std::uint32_t sequence_ = 0;
  Slot slots_[2] = {{96}, {most_copied_to_receive}};
  Probed probed_;  // of each source and tag, in the order of sending
};

// Completes a request, and drives the calls in flight meanwhile. An MPI code.
int wait_for(MPI_Request& request, MPI_Status* status) noexcept;

}  // namespace taut::api

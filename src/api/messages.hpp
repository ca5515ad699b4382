// Point-to-point messages of a communicator with a policy. They are MPI's messages on the user's
// communicator, with its tags; each starts with an envelope. docs/adr/0006-messages.md says why.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "comm/message_coder.hpp"

namespace taut::api {

// Up to so many bytes travel through a copy of header and payload, beyond as a datatype that joins both where
// they lie. MPICH copies joined memory itself when it sends, more slowly than we do; Open MPI does not. And
// Open MPI (5.0.11) writes beyond the end of a shorter receive buffer when both sides are contiguous and the
// message is above its eager limit, 1024 bytes to oneself; what is joined it cuts off as it should.
// docs/adr/0006-messages.md has the figures.
#ifdef OPEN_MPI
inline constexpr std::size_t most_copied_to_send = 1000, most_copied_to_receive = 2048;
#else
inline constexpr std::size_t most_copied_to_send = SIZE_MAX, most_copied_to_receive = 32768;
#endif

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
  void disconnect() noexcept;  // waits for what probes are taking

  MessageCoder& coder() noexcept { return coder_; }
  HostPlace& place() noexcept { return place_; }
  std::uint32_t next_sequence() noexcept { return sequence_++; }

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
  Probed probed_;  // of each source and tag, in the order of sending
};

// Completes a request, and drives the calls in flight meanwhile. An MPI code.
int wait_for(MPI_Request& request, MPI_Status* status) noexcept;

}  // namespace taut::api

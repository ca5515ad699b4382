// Queue of the messages that probes have taken out of MPI's queues, to learn the number of values. Receives
// search this queue first (docs/adr/0015).
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>

#include "p2p/recv_decode.hpp"

namespace taut::p2p {

// Source, tag and communicator that a receive or a probe names, wildcards included.
struct MatchKey {
  int source;
  int tag;
  MPI_Comm comm;
};

// A receive that is started. `detached`: memory of Taut that gets the message instead of the program's
// buffer.
struct PostedReceive {
  MPI_Request request = MPI_REQUEST_NULL;
  Detached detached;
};

// Begin and end the serving of matched probes: after MPI_Init and before MPI_Finalize. With
// MPI_THREAD_MULTIPLE, any thread may probe in between.
void begin_matched_probes() noexcept;
void end_matched_probes() noexcept;

// Returns true if a receive has to search the queue: it holds messages, or another thread may add one.
bool may_be_probed() noexcept;

// Access to the queues of all communicators. While an object lives, no other thread takes messages out of
// MPI's queues.
class ProbeQueue {
 public:
  ProbeQueue();

  // Starts to receive the first message of the queue that matches. Returns false if there is none.
  bool receive(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted, int& code) noexcept;

  // Looks for a message that matches, first in this queue and then in MPI's queues. If there is one, `status`
  // is that of its values. `format`: format of messages that may be coded. Returns an MPI error code.
  int probe(const MatchKey& key, const MessageFormat& format, int* there, MPI_Status& status) noexcept;

  // Looks for a message as probe() does, and takes it: a matched probe.
  int take(const MatchKey& key, const MessageFormat& format, int* there, MPI_Message* message,
           MPI_Status& status) noexcept;

 private:
  std::lock_guard<std::mutex> lock_;
};

// Message behind a handle of ProbeQueue::take() that is not a handle of MPI's: its receive, which has to be
// waited for. receive_taken() returns nothing if the handle is MPI's.
struct MatchedMessage {
  PostedReceive posted;
  MPI_Comm comm;
  MPI_Request sent;  // message of this rank to itself, which made the handle
};
std::optional<MatchedMessage> receive_taken(MPI_Message* message) noexcept;

// Starts a receive through a bounce buffer, for values on this device. Returns an MPI error code.
int post_bounced(const MatchKey& key, const RecvBuffer& at, MessageDevice& device,
                 PostedReceive& posted) noexcept;

// Starts a receive: of a message of the queue, through a bounce buffer, or by `start(&posted.request)`.
// Returns an MPI error code.
template <class Start>
int post(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted, Start start) noexcept {
  const auto begin = [&] {
    const auto device = key.source != MPI_PROC_NULL ? bounce_device(at) : nullptr;
    return device != nullptr ? post_bounced(key, at, *device, posted) : start(&posted.request);
  };
  if (!may_be_probed()) return begin();
  ProbeQueue queue;
  int code = MPI_SUCCESS;
  return queue.receive(key, at, posted, code) ? code : begin();
}
int post(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted) noexcept;  // by MPI_Irecv

}  // namespace taut::p2p

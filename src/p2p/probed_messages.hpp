// Queue of the messages that probes have taken out of MPI's queues, to see the count of the values. Receives
// look here first (docs/adr/0015).
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>

#include "p2p/recv_decode.hpp"

namespace taut::p2p {

// What a receive or a probe names, wildcards included.
struct MatchKey {
  int source;
  int tag;
  MPI_Comm comm;
};

// A receive that is started. `detached`: its message does not come to the program's buffer.
struct PostedReceive {
  MPI_Request request = MPI_REQUEST_NULL;
  Detached detached;
};

// Where matched probes are served: after MPI_Init, and before MPI_Finalize. With MPI_THREAD_MULTIPLE any
// thread may probe from then on.
void begin_matched_probes() noexcept;
void end_matched_probes() noexcept;

// Whether a receive has to look into the queue: something is there, or another thread may put something
// there.
bool may_be_probed() noexcept;

// The queue of all communicators. While one lives, no other thread takes messages out of MPI's queues.
class ProbeQueue {
 public:
  ProbeQueue();

  // Starts to receive the first message here that matches. False: there is none.
  bool receive(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted, int& code) noexcept;

  // Looks for a message that matches, here and then in MPI's queues. If one is there, `status` is that of its
  // values. `format`: that of messages that may be coded. An MPI code.
  int probe(const MatchKey& key, const MessageFormat& format, int* there, MPI_Status& status) noexcept;

  // The same, and takes it: a matched probe.
  int take(const MatchKey& key, const MessageFormat& format, int* there, MPI_Message* message,
           MPI_Status& status) noexcept;

 private:
  std::lock_guard<std::mutex> lock_;
};

// The message behind a handle of ProbeQueue::take(), if that is not MPI's own message: its receive, to be
// waited for. Nothing: the handle is MPI's.
struct MatchedMessage {
  PostedReceive posted;
  MPI_Comm comm;
  MPI_Request sent;  // a message of this rank to itself, which makes the handle
};
std::optional<MatchedMessage> receive_taken(MPI_Message* message) noexcept;

// Starts a receive: of a message of the queue, or as `start(&posted.request)` does. An MPI code.
template <class Start>
int post(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted, Start start) noexcept {
  if (!may_be_probed()) return start(&posted.request);
  ProbeQueue queue;
  int code = MPI_SUCCESS;
  return queue.receive(key, at, posted, code) ? code : start(&posted.request);
}
int post(const MatchKey& key, const RecvBuffer& at, PostedReceive& posted) noexcept;  // as MPI_Irecv does

}  // namespace taut::p2p

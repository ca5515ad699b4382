// Queue of the messages that probes have taken out of MPI's queues, to learn the number of values. Receives
// search this queue first (docs/adr/0015).
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>

#include "communication/mpi/errors.hpp"
#include "communication/p2p/receive.hpp"

namespace taut::p2p {

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
  bool receive(const MpiMessage& recv, PostedReceive& posted, api::Failure& failure);

  // As the functions below. `key` has been found to be valid.
  api::Failure probe(const MatchKey& key, const MessageFormat& format, int* there, MPI_Status& status);
  api::Failure take(const MatchKey& key, const MessageFormat& format, int* there, MPI_Message* message,
                    MPI_Status& status);

 private:
  std::lock_guard<std::mutex> lock_;
};

// Looks for a message that matches, first in the queue and then in MPI's queues. If there is one, `status` is
// that of its values. `format`: format of messages that may be coded. Returns an MPI error code, raised on
// the communicator.
int probe(const MatchKey& key, const MessageFormat& format, int* there, MPI_Status& status);

// Looks for a message as probe() does, and takes it: a matched probe.
int take(const MatchKey& key, const MessageFormat& format, int* there, MPI_Message* message,
         MPI_Status& status);

// Lets MPI check the arguments of a receive or probe: an error handler that does not return must find no lock
// held. `there`: a message of MPI's queues matches. Returns an MPI error code, raised by MPI.
int check_key(const MatchKey& key, int* there);

// Message behind a handle of take(): its receive, which has to be waited for, if the handle is not MPI's.
struct MatchedReceive {
  PostedReceive posted;
  MPI_Comm comm;
  MPI_Request sent = MPI_REQUEST_NULL;  // message of this rank to itself, which made the handle

  bool is_of_mpi() const noexcept { return !posted.detached; }
};

// Returns the message behind a handle, which is then over unless it is MPI's. Returns nothing for a message
// that is too short to be coded.
std::optional<MatchedReceive> receive_taken(MPI_Message* message) noexcept;

// Starts a receive through a bounce buffer, for values on this device. Returns an MPI error code.
int post_bounced(const MpiMessage& recv, MessageDevice& device, PostedReceive& posted);

// Starts a receive: of a message of the queue, through a bounce buffer, or by `start(&posted.request)`.
// Returns an MPI error code.
template <class Start>
int post(const MpiMessage& recv, PostedReceive& posted, Start start) {
  const auto begin = [&] {
    const auto device = recv.peer != MPI_PROC_NULL ? bounce_device(recv) : nullptr;
    return device != nullptr ? post_bounced(recv, *device, posted) : start(&posted.request);
  };
  if (!may_be_probed() || recv.count < 0) return begin();
  int there = 0;
  if (const int code = check_key(recv.key(), &there); code != MPI_SUCCESS) return code;
  api::Failure failure;
  {
    ProbeQueue queue;
    if (!queue.receive(recv, posted, failure)) return begin();
  }
  return api::raise(recv.comm, failure);
}
int post(const MpiMessage& recv, PostedReceive& posted);  // by MPI_Irecv

}  // namespace taut::p2p

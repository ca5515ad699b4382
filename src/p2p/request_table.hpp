// Request table: the requests of the program that Taut completes together with MPI. They are receives whose
// message may be compressed, and sends of compressed messages, whose memory is Taut's.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "p2p/outgoing_message.hpp"
#include "p2p/probed_messages.hpp"

namespace taut::p2p {

// Adds a receive whose request MPI has made. `detached`: memory of Taut that gets the message instead of the
// program's buffer.
void track_recv(MPI_Request request, const RecvBuffer& at, Detached detached = {}) noexcept;

// Gives the program the request of a posted receive, and adds it to the table if its message may be
// compressed.
void hand_over(PostedReceive posted, const RecvBuffer& at, MPI_Request* request) noexcept;

// Adds a send, with the memory that MPI reads until the send is complete.
void track_send(MPI_Request request, OutgoingMessage message) noexcept;

// Removes a request before the program frees it. Returns true if the request is already freed.
bool untrack(MPI_Request& request) noexcept;

// ---- Persistent requests

struct PersistentRecv {
  RecvBuffer at;
  MatchKey key;
};
void track_persistent(MPI_Request request, const PersistentRecv& recv) noexcept;
std::optional<PersistentRecv> find_persistent_recv(MPI_Request request) noexcept;

struct PersistentSend {
  StartFunction start;  // MPI's nonblocking function of the same kind
  SendArguments message;
};
void track_persistent(MPI_Request request, const PersistentSend& send) noexcept;
std::optional<PersistentSend> find_persistent_send(MPI_Request request) noexcept;

// Record that a start of the request made another MPI request, its substitute, which completes in its place.
void substitute(MPI_Request request, PostedReceive posted) noexcept;
void substitute(MPI_Request request, MPI_Request started, OutgoingMessage sent) noexcept;

// Returns the substitute of a request; MPI_REQUEST_NULL if there is none.
MPI_Request substitute_of(MPI_Request request) noexcept;

// ---- Completion

struct TrackedRequest;

// Scope of a call that completes requests. MPI may overwrite the requests. They are not in the table until
// the scope ends: as soon as MPI has completed a request, another thread may get a request with the same
// handle.
class CompletionScope {
 public:
  explicit CompletionScope(std::span<MPI_Request> requests) noexcept;
  ~CompletionScope();
  CompletionScope(const CompletionScope&) = delete;
  CompletionScope& operator=(const CompletionScope&) = delete;

  // Returns true if any of the requests is in the table. Otherwise no other member may be called.
  bool matters() const noexcept { return !mine_.empty(); }

  // Replaces requests whose message is not whole yet by MPI_REQUEST_NULL, so that MPI does not complete them,
  // and advances them. Returns their number.
  std::size_t hold_back() noexcept;

  // Returns the requests that MPI has to complete.
  MPI_Request* requests() noexcept { return of_mpi_.data(); }

  // Finishes request i, after it has completed without an error. Returns an MPI error code.
  int finish(std::size_t i, MPI_Status& status) noexcept;

  // Ends request i, after it has failed.
  void discard(std::size_t i) noexcept;

  // Reads the result of request i, which has completed, for MPI_Request_get_status. The request remains to be
  // completed.
  int get_status(std::size_t i, MPI_Status& status) noexcept;

 private:
  struct One {
    MPI_Request request;
    std::unique_ptr<TrackedRequest> tracked;
    bool substituted;
    MPI_Request of_mpi;
    bool held = false;
  };

  std::span<MPI_Request> requests_;  // requests of the program
  std::vector<One> mine_;
  std::vector<MPI_Request> of_mpi_;  // requests that MPI completes
};

}  // namespace taut::p2p

// Request table: the requests of the program that Taut completes together with MPI. They are receives whose
// message may be compressed, and sends of compressed messages, whose memory is Taut's.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "communication/p2p/probed_messages.hpp"
#include "communication/p2p/send.hpp"

namespace taut::p2p {

// Adds a receive whose request MPI has made. `detached`: memory of Taut that gets the message instead of the
// program's buffer.
void track_recv(MPI_Request request, const MpiMessage& recv, Detached detached = {}) noexcept;

// Gives the program the request of a posted receive, and adds it to the table if its message may be
// compressed.
void hand_over(PostedReceive posted, const MpiMessage& recv, MPI_Request* request) noexcept;

// Adds a send, with the memory that MPI reads until the send is complete.
void track_send(MPI_Request request, Send send) noexcept;

// Removes a request before the program frees it. Returns true if the request is already freed.
bool untrack(MPI_Request& request) noexcept;

// ---- Persistent requests

// Adds a persistent request. `sends`: MPI's nonblocking function of the same kind; null: a receive.
void track_persistent(MPI_Request request, const MpiMessage& message, StartFunction sends = nullptr) noexcept;

// Returns function and arguments of a persistent request.
std::optional<std::pair<StartFunction, MpiMessage>> find_persistent(MPI_Request request) noexcept;

// Record that a start of the request made another MPI request, its substitute, which completes in its place.
void substitute(MPI_Request request, PostedReceive posted) noexcept;
void substitute(MPI_Request request, MPI_Request started, Send send) noexcept;

// Returns the substitute of a request; MPI_REQUEST_NULL if there is none.
MPI_Request substitute_of(MPI_Request request) noexcept;

// ---- Completion

// Returns true if the table has any request.
bool has_tracked_requests() noexcept;

struct TrackedRequest;
struct CompletingCall;

// Scope of a call that completes requests, some of which may be in the table. MPI may overwrite the requests.
// Only requests that MPI has completed are looked up, and those whose message is still coming in segments:
// the table may hold thousands. A handle that MPI frees in the call may at once belong to a new request of
// another thread: the table tells them apart by the time at which the call began.
class CompletionScope {
 public:
  explicit CompletionScope(std::span<MPI_Request> requests);
  ~CompletionScope();
  CompletionScope(const CompletionScope&) = delete;
  CompletionScope& operator=(const CompletionScope&) = delete;

  // Returns true if the table may have any of the requests. Otherwise no other member may be called.
  bool matters() const noexcept { return call_ != nullptr; }

  // Replaces requests whose message is not whole yet by MPI_REQUEST_NULL, so that MPI does not complete them,
  // and advances them. Returns their number.
  std::size_t hold_back();

  // Returns the requests that MPI has to complete: the program's, unless some are held back or have a
  // substitute.
  MPI_Request* requests() noexcept { return of_mpi_.empty() ? requests_.data() : of_mpi_.data(); }

  // Finishes request i, after it has completed without an error. Returns an MPI error code, not raised.
  int finish(std::size_t i, MPI_Status& status);

  // Ends request i, after it has failed; or all requests that MPI has ended, after a failure of the call.
  void discard(std::size_t i) noexcept;
  void discard_ended() noexcept;

  // Reads the result of request i, which has completed, for MPI_Request_get_status. The request remains to be
  // completed. Returns an MPI error code, not raised.
  int get_status(std::size_t i, MPI_Status& status);

  // Returns the first failure, and the communicator on which it is to be raised once the scope has ended.
  const std::pair<MPI_Comm, api::Failure>& failure() const noexcept { return failure_; }

 private:
  // Request whose message may be in segments, or that has a substitute.
  struct Special {
    std::size_t index;
    TrackedRequest* tracked;
    bool substituted;
    MPI_Request of_mpi;
    bool held = false;
  };

  void find_specials();
  TrackedRequest* find_mine(std::size_t i) const noexcept;
  void end(std::size_t i, TrackedRequest& tracked) noexcept;
  bool is_held(std::size_t i) const noexcept;
  int note(TrackedRequest& tracked, MPI_Status& status);

  std::span<MPI_Request> requests_;  // requests of the program
  CompletingCall* call_ = nullptr;   // owned by the table, which outlives a longjmp
  std::vector<Special> specials_;
  std::vector<MPI_Request> of_mpi_;  // requests that MPI completes; empty: the program's
  std::pair<MPI_Comm, api::Failure> failure_{MPI_COMM_NULL, {}};
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace taut::p2p

// Table of the program's requests whose message may arrive, or was sent, coded.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "p2p/probed_messages.hpp"
#include "p2p/send.hpp"

namespace taut::p2p {

// Adds a receive whose request MPI has made; `detached`: its message does not come to the program's buffer.
void track_recv(MPI_Request request, const RecvBuffer& at, Detached detached = {}) noexcept;

// Gives the program the request of a receive that has been posted, and adds it where that is needed.
void hand_over(PostedReceive posted, const RecvBuffer& at, MPI_Request* request) noexcept;

// Adds a send, with the memory that MPI reads until its end.
void track_send(MPI_Request request, EncodedMessage message) noexcept;

// Removes a request before the program frees it. True: it is freed already.
bool untrack(MPI_Request& request) noexcept;

// ---- Persistent requests

struct PersistentRecv {
  RecvBuffer at;
  MatchKey key;
};
void track_persistent(MPI_Request request, const PersistentRecv& recv) noexcept;
std::optional<PersistentRecv> find_persistent_recv(MPI_Request request) noexcept;

struct PersistentSend {
  StartFunction start;  // of the same kind, not persistent
  SendArguments message;
};
void track_persistent(MPI_Request request, const PersistentSend& send) noexcept;
std::optional<PersistentSend> find_persistent_send(MPI_Request request) noexcept;

// Notes a start of the request that MPI knows as another request, which completes in its place.
void substitute(MPI_Request request, PostedReceive posted) noexcept;
void substitute(MPI_Request request, MPI_Request started, EncodedMessage sent) noexcept;

// The request in its place; MPI_REQUEST_NULL: there is none.
MPI_Request substitute_of(MPI_Request request) noexcept;

// ---- Completion

struct Tracked;

// The scope of a call that completes requests, which MPI may overwrite. The requests are out of the table
// until it ends: as soon as MPI has completed one, another thread may get a request of the same name.
class CompletionScope {
 public:
  explicit CompletionScope(std::span<MPI_Request> requests) noexcept;
  ~CompletionScope();
  CompletionScope(const CompletionScope&) = delete;
  CompletionScope& operator=(const CompletionScope&) = delete;

  // Whether any of the requests is in the table. Else the rest is not to be called.
  bool matters() const noexcept { return !mine_.empty(); }

  // The requests that MPI is to complete.
  MPI_Request* requests() noexcept { return of_mpi_.data(); }

  // After request i has completed without an error. An MPI code.
  int finish(std::size_t i, MPI_Status& status) noexcept;

  // After request i has failed.
  void discard(std::size_t i) noexcept;

  // Looks at what request i has completed with, for MPI_Request_get_status: it remains to be completed.
  int look(std::size_t i, MPI_Status& status) noexcept;

 private:
  struct One {
    MPI_Request request;
    std::unique_ptr<Tracked> tracked;
    bool substituted;
  };

  std::span<MPI_Request> requests_;  // the program's
  std::vector<One> mine_;
  std::vector<MPI_Request> of_mpi_;  // those that it completes
};

}  // namespace taut::p2p

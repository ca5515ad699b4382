// Requests of the program that the drop-in sees to until they complete: of messages that may come coded, or
// have been sent so.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dropin/arriving.hpp"
#include "dropin/coded_message.hpp"
#include "dropin/held.hpp"
#include "dropin/sends.hpp"

namespace taut::dropin {

// Sees to a receive whose request MPI has made; `apart`: its message does not come to the program's buffer.
void expect(MPI_Request request, const Expected& expected, Apart apart = {}) noexcept;

// Gives the program the request of a receive that has been posted, and sees to it where that is needed.
void hand_over(Posted posted, const Expected& expected, MPI_Request* request) noexcept;

// Keeps what a send needs until its end.
void keep_until_sent(MPI_Request request, CodedMessage message) noexcept;

// Before the program frees a request. Whether it is freed already.
bool forget(MPI_Request& request) noexcept;

// ---- Persistent requests

struct PersistentReceive {
  Expected expected;
  Wanted wanted;
};
void expect_each(MPI_Request request, const PersistentReceive& receive) noexcept;
std::optional<PersistentReceive> find_persistent(MPI_Request request) noexcept;

struct PersistentSend {
  StartFunction start;  // of the same kind, not persistent
  Outgoing message;
};
void send_each(MPI_Request request, const PersistentSend& send) noexcept;
std::optional<PersistentSend> find_persistent_send(MPI_Request request) noexcept;

// A start of it that MPI knows as another request, which completes in its place.
void stand_in(MPI_Request request, Posted posted) noexcept;
void stand_in(MPI_Request request, MPI_Request started, CodedMessage sent) noexcept;

// What is in its place; MPI_REQUEST_NULL: nothing.
MPI_Request in_place_of(MPI_Request request) noexcept;

// ---- Completion

struct Watched;

// Around a call that completes requests, which it may overwrite. Until it goes they are in its hands: as soon
// as MPI has completed one, another thread may get a request of the same name.
class Completion {
 public:
  explicit Completion(std::span<MPI_Request> requests) noexcept;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Whether any of them is seen to. Else the rest is not to be called.
  bool matters() const noexcept { return !mine_.empty(); }

  // Those that MPI is to complete.
  MPI_Request* requests() noexcept { return of_mpi_.data(); }

  // After request i has completed without an error. An MPI code.
  int settle(std::size_t i, MPI_Status& status) noexcept;

  // After it has failed.
  void forget(std::size_t i) noexcept;

  // Without completing it: for MPI_Request_get_status.
  int look(std::size_t i, MPI_Status& status) noexcept;

 private:
  struct One {
    MPI_Request request;
    std::unique_ptr<Watched> watched;
    bool replaced;  // by what stands in its place
  };

  std::span<MPI_Request> requests_;  // the program's
  std::vector<One> mine_;
  std::vector<MPI_Request> of_mpi_;  // those that it completes
};

}  // namespace taut::dropin

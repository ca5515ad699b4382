// Interception of the program's nonblocking and persistent collective calls (docs/adr/0012).
#pragma once

#include "api/errors.hpp"
#include "api/state/requests.hpp"
#include "dropin/creations.hpp"
#include "dropin/generalized_requests.hpp"
#include "dropin/interception.hpp"

namespace taut::dropin {

// Returns true if TAUT_NONBLOCKING is set in this process: MPI must then be initialised with
// MPI_THREAD_MULTIPLE.
bool wants_nonblocking() noexcept;

// Finds out if all ranks serve nonblocking calls, and starts to serve them if so; returns the answer. Called
// after MPI_Init by all ranks of MPI_COMM_WORLD, all of which run with Taut.
bool begin_nonblocking() noexcept;

// Stops serving nonblocking calls; called before MPI_Finalize.
void end_nonblocking() noexcept;

// Returns true if Taut serves nonblocking calls on this communicator. The communicator must be connected,
// since a nonblocking call must not wait for other ranks. The result is the same on all its ranks.
bool intercepts_nonblocking(MPI_Comm comm) noexcept;

// Returns true if Taut may serve persistent calls on this communicator; creating a persistent request waits
// for other ranks. The result is the same on all its ranks.
bool intercepts_persistent(MPI_Comm comm) noexcept;

// Returns true if some rank counts calls for a report, including calls that Taut certainly leaves to plain
// MPI.
bool counts_all_calls() noexcept;

// Starts a nonblocking call by `start(copies, &call)`, a function of taut.h. A call that is plain MPI at once
// gets MPI's own request.
template <class Start>
int launch(MPI_Comm comm, MPI_Request* request, Start start) noexcept {
  const BypassScope bypass;
  return api::guard(comm, [&]() -> int {
    std::list<StartedCall> one(1);
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int code = start(one.front().copies, &call); code != MPI_SUCCESS) return code;
    one.front().call.reset(call);
    const MPI_Request plain = static_cast<api::CollectiveRequest*>(call)->give_plain();
    if (plain == MPI_REQUEST_NULL) {
      note_nonblocking_use(comm);
      return hand_over(std::move(one), request);
    }
    *request = plain;
    return MPI_SUCCESS;
  });
}

}  // namespace taut::dropin

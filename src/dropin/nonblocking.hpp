// Which nonblocking calls are Taut's (docs/adr/0012).
#pragma once

#include "api/errors.hpp"
#include "api/state/requests.hpp"
#include "dropin/creations.hpp"
#include "dropin/generalized_requests.hpp"
#include "dropin/interception.hpp"

namespace taut::dropin {

// Whether this process may be asked for them: then MPI has to be begun with MPI_THREAD_MULTIPLE.
bool wants_nonblocking() noexcept;

// After MPI_Init, by all ranks of MPI_COMM_WORLD, all of which run with Taut: finds out whether all of them
// serve nonblocking calls, and begins; true: they do.
bool begin_nonblocking() noexcept;

// Before MPI_Finalize.
void end_nonblocking() noexcept;

// Whether nonblocking calls on this communicator are for Taut: only if it is connected, since a nonblocking
// call must not wait for others. The same on all its ranks.
bool intercepts_nonblocking(MPI_Comm comm) noexcept;

// Whether persistent calls on it may be: their making waits for others. The same on all its ranks.
bool intercepts_persistent(MPI_Comm comm) noexcept;

// Whether some rank counts calls for a report, those too that Taut certainly leaves to plain MPI.
bool counts_all_calls() noexcept;

// Starts a call: `start(kept, &call)` is one of taut.h. What is plain MPI's at once is a request of MPI's
// own.
template <class Start>
int launch(MPI_Comm comm, MPI_Request* request, Start start) noexcept {
  const BypassScope bypass;
  return api::guard(comm, [&]() -> int {
    std::list<StartedCall> one(1);
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int code = start(one.front().kept, &call); code != MPI_SUCCESS) return code;
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

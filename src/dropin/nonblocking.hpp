// Interception of the program's nonblocking and persistent collective calls (docs/adr/0012).
#pragma once

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

// Stops serving nonblocking calls; called in MPI_Finalize.
void end_nonblocking() noexcept;

// Returns true if Taut serves nonblocking calls on this communicator. The communicator must be connected,
// since a nonblocking call must not wait for other ranks. The result is the same on all its ranks.
bool intercepts_nonblocking(MPI_Comm comm);

// Returns true if Taut may serve persistent calls on this communicator; creating a persistent request waits
// for other ranks. The result is the same on all its ranks.
bool intercepts_persistent(MPI_Comm comm);

// Returns true if some rank counts calls for a report, including calls that Taut certainly leaves to plain
// MPI.
bool counts_all_calls() noexcept;

// Reference to a function start(copies, &call), which calls a function of taut.h; valid only during the call
// that takes it. It is no template, so that functions with such a parameter are compiled once, not for each
// call of MPI.
class Starter {
 public:
  template <class Start>
  Starter(const Start& start)
      : start_(&start), run_([](const void* here, ArrayCopies& copies, TAUT_Request* call) {
          return (*static_cast<const Start*>(here))(copies, call);
        }) {}
  int operator()(ArrayCopies& copies, TAUT_Request* call) const { return run_(start_, copies, call); }

 private:
  const void* start_;
  int (*run_)(const void*, ArrayCopies&, TAUT_Request*);
};

// Starts a nonblocking call. If no other rank is needed to leave it to plain MPI, `*request` is MPI's own.
// Returns an MPI code.
int launch(MPI_Comm comm, MPI_Request* request, Starter start);

}  // namespace taut::dropin

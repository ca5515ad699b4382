// Interception of the program's nonblocking and persistent collective calls (docs/adr/0012).
#pragma once

#include "communication/api/state/requests.hpp"
#include "communication/dropin/creations.hpp"
#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/interception.hpp"

namespace taut::dropin {

// Returns true if TAUT_NONBLOCKING is set in this process: MPI must then be initialised with
// MPI_THREAD_MULTIPLE.
bool wants_nonblocking() noexcept;

// Finds out if all ranks serve nonblocking calls, and starts to serve them if so; returns the answer. Called
// after MPI_Init by all ranks of MPI_COMM_WORLD, all of which run with Taut.
bool begin_nonblocking() noexcept;

// Ends the progress thread before MPI_Finalize, during which MPICH 4.0 makes progress in one thread alone.
// The program's waits and tests then advance the calls in progress.
void leave_calls_to_program() noexcept;

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

// Non-owning reference to a function make(copies), which describes a nonblocking call and copies its arrays.
// Valid only during the call that takes it. The type is erased, so that the functions that take it are no
// templates.
class CallMaker {
 public:
  template <class Make>
  CallMaker(const Make& make)
      : make_(&make), run_([](const void* here, ArrayCopies& copies) {
          return (*static_cast<const Make*>(here))(copies);
        }) {}
  api::MpiCall operator()(ArrayCopies& copies) const { return run_(make_, copies); }

 private:
  const void* make_;
  api::MpiCall (*run_)(const void*, ArrayCopies&);
};

// Starts a nonblocking call. If no other rank is needed to leave it to plain MPI, `*request` is MPI's own.
// Returns an MPI code.
int launch(MPI_Comm comm, MPI_Request* request, CallMaker make);

}  // namespace taut::dropin

// All that hangs on communicators of this process: what is found on one, what goes on on any, what
// MPI_Finalize ends.
#pragma once

#include <atomic>
#include <cstdint>

#include "api/state/comm_state.hpp"

namespace taut::api {

// A CommState is one of them from its making to its end.
void register_comm_state(CommState& comm_state);
void unregister_comm_state(const CommState& comm_state) noexcept;

// A step of all calls in flight in this process, those of `first` before the others: ranks may wait for any
// of them.
void progress(CommState* first) noexcept;

// The same but for those of `self`.
void progress_others(const CommState* self) noexcept;

extern std::atomic<std::size_t> in_process;  // calls in flight
inline bool calls_in_flight() noexcept { return in_process > 0; }

// Writes all that is asked for (api/state/finalize_reports.hpp) of all communicators, as far as it has come.
void write_reports_so_far() noexcept;

// Completes the calls that this thread has in flight: before a call of plain MPI that blocks, during which
// they would stand still, while other ranks might wait for them before they come to it. Nothing where a
// thread drives them.
void finish_own_calls() noexcept;
inline void finish_calls() noexcept {
  if (calls_in_flight()) finish_own_calls();
}

// Whether a thread that blocks in no call drives all calls in flight, from now on.
void driven_by_thread(bool yes) noexcept;

// Sees that MPI_Finalize frees what belongs to MPI. False where MPI is not there.
bool free_at_finalize() noexcept;

// MPI_Finalize calls `function` before anything of MPI's is gone; the function given last comes first.
// Throws.
void at_finalize(void (*function)() noexcept);

// The record of a communicator: the one attribute that Taut sets on it, as long as there is the communicator.
struct CommRecord {
  std::shared_ptr<CommState> comm_state;  // null: no policy
  bool settled = false;                   // a policy is set, or the ranks have compared their rules
  std::shared_ptr<bool> freed = std::make_shared<bool>(false);
  enum Members : std::uint8_t { unknown, in_world, elsewhere };
  std::atomic<Members> members = unknown;  // in_world: all ranks are in MPI_COMM_WORLD, and several
  std::shared_ptr<void> lineage;           // dropin/creations.cpp
};

// The record of `comm`; null: it has none yet.
CommRecord* find_record(MPI_Comm comm) noexcept;

// The same, made if there is none. Throws.
CommRecord& record_of(MPI_Comm comm);

// Whether `comm` is an intracommunicator of several ranks, all of which are in MPI_COMM_WORLD. Local; throws.
bool ranks_in_world(MPI_Comm comm);

// What hangs on `comm`; null when it has no policy.
inline CommState* find_comm_state(MPI_Comm comm) noexcept {
  const CommRecord* const record = find_record(comm);
  return record != nullptr ? record->comm_state.get() : nullptr;
}

// Takes the place of what hung there before; null: nothing hangs there any more.
void attach(MPI_Comm comm, std::shared_ptr<CommState> comm_state);

}  // namespace taut::api

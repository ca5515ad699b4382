// Registry of the CommStates of this process: finds the state of a communicator, drives all calls in flight,
// and cleans up in MPI_Finalize.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "communication/api/state/comm_state.hpp"

namespace taut::api {

// Add and remove a CommState: at its construction and destruction.
void register_comm_state(CommState& comm_state);
void unregister_comm_state(const CommState& comm_state) noexcept;

// Advances all calls in flight and all open receives in this process by one step, because other ranks may
// wait for any of them. The calls of `first` come before the others.
void progress(CommState* first);

// Advances all calls in flight by one step, except those of `self`.
void progress_others(const CommState* self);

// Writes all requested reports (communication/api/state/finalize_reports.hpp) of all communicators, with the
// counts so far.
void write_reports_so_far(bool finished = false) noexcept;

// Copies the reports of all communicators for a thread that makes no calls, once in each round. Returns false
// if calls are using some of them: the next attempt may succeed.
bool copy_reports(unsigned round) noexcept;

// Returns the text of a report that is made of the copies. Throws std::bad_alloc.
std::string text_of_copied_reports(const ProcessRank& process);

// Completes the calls that this thread has in flight. Needed before a blocking call of plain MPI: during it
// they would not advance, and other ranks might wait for them before they enter it. Does nothing if the
// progress thread drives the calls.
void finish_own_calls();
inline void finish_calls() {
  if (calls_in_flight()) finish_own_calls();
}

// Sets whether the progress thread drives all calls in flight from now on.
void driven_by_thread(bool yes) noexcept;

// Arranges that MPI_Finalize frees Taut's MPI objects. Returns false if MPI is not initialised, or a call of
// MPI fails.
bool free_at_finalize() noexcept;

// Registers a function that MPI_Finalize calls before any MPI object is freed. The last registered function
// is called first. Throws.
void at_finalize(void (*function)() noexcept);

// Record of a communicator: the only attribute that Taut sets on it. Lives as long as the communicator.
struct CommRecord {
  CommRecord() = default;
  ~CommRecord() { delete local_rules.load(); }
  CommRecord(const CommRecord&) = delete;

  std::shared_ptr<CommState> comm_state;  // null: no policy
  std::vector<CommReport> earlier;        // statistics under policies and rules that were replaced
  bool rules_known = false;               // a policy is set, or the ranks have compared their rules
  void* stream = nullptr;                 // of calls whose values are on a GPU
  std::shared_ptr<bool> freed = std::make_shared<bool>(false);
  enum Members : std::uint8_t { unknown, in_world, elsewhere };
  std::atomic<Members> members = unknown;           // in_world: several ranks, all in MPI_COMM_WORLD
  std::atomic<const Rules*> local_rules = nullptr;  // rules of messages, owned; null: not read yet
  std::shared_ptr<void> lineage;                    // used by communication/dropin/creations.cpp
};

// Returns the record of `comm`; null if there is none yet.
CommRecord* find_record(MPI_Comm comm);

// Returns the record of `comm`, and creates it if there is none. Throws.
CommRecord& record_of(MPI_Comm comm);

// Returns true if `comm` is an intracommunicator of several ranks, all of which are in MPI_COMM_WORLD. Local;
// throws.
bool ranks_in_world(MPI_Comm comm);

// Returns a hash of the numbers that the ranks of `comm` have in MPI_COMM_WORLD; 0 for an intercommunicator.
// Local.
std::uint64_t hash_of_ranks(MPI_Comm comm) noexcept;

// Returns the CommState of `comm`, without communication; null if there is none, or if the ranks have not
// compared their rules.
inline CommState* find_comm_state(MPI_Comm comm) {
  const CommRecord* const record = find_record(comm);
  return record != nullptr ? record->comm_state.get() : nullptr;
}

// Returns the CommState of `comm`. At the first call for a communicator, the ranks compare their rules; that
// call is collective over `comm`. Null: neither policy nor rules, and nothing to observe.
CommState* find_or_bind_state(MPI_Comm comm);

// Attaches a CommState to `comm` in place of the previous one, whose statistics the record keeps; null
// detaches it.
void attach(MPI_Comm comm, std::shared_ptr<CommState> comm_state);

}  // namespace taut::api

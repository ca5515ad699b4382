#include "communication/dropin/generalized_requests.hpp"

#include <mutex>

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/progress_thread.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/mpi/lasting.hpp"

namespace taut::dropin {

namespace {

struct StartedCalls {
  std::mutex mutex;
  // `open` has the incomplete calls, `ended` those that are complete or not started, until MPI has freed the
  // request.
  std::list<StartedCall> open, ended;
};

constexpr auto started_calls = lasting<StartedCalls>;

std::atomic<std::size_t> open{0};        // incomplete calls
std::atomic<std::size_t> need_steps{0};  // those of them that only advance_calls() advances
std::atomic<int> drivers{0};
std::atomic<std::size_t> failures{0};  // to be raised

// ---- Callbacks of the generalized requests: MPI may call them under its locks, so they must neither wait
// nor raise errors

int query(void* extra, MPI_Status* status) noexcept {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const StartedCall*>(extra)->code;
}

// Marks the call as freed; the next call of forget_freed() deletes it.
int set_free(void* extra) noexcept {
  static_cast<StartedCall*>(extra)->freed = true;
  return MPI_SUCCESS;
}

int cancel(void*, int) noexcept { return MPI_ERR_REQUEST; }  // no collective call can be cancelled

void complete(StartedCall& ended) noexcept { PMPI_Grequest_complete(ended.request); }

// ---- Completion

// Moves one completed call from `open` to `ended` and returns it; null if there is none.
StartedCall* take_ended() noexcept {
  StartedCalls& calls = started_calls();
  const std::lock_guard lock(calls.mutex);
  for (auto one = calls.open.begin(); one != calls.open.end(); ++one) {
    if (!one->call->complete()) continue;
    calls.ended.splice(calls.ended.end(), calls.open, one);
    return &*one;
  }
  return nullptr;
}

// Finishes a call that has completed, and leaves its failure to a thread of the program.
void end_call(StartedCall& ended) noexcept {
  const api::Failure failure = ended.call->finish(MPI_STATUS_IGNORE);
  ended.code = failure.code;
  if (!failure || failure.raised) return;
  const std::lock_guard lock(started_calls().mutex);
  failures += !ended.failure;
  ended.failure = failure;
}

// Returns the failure of some call, and the communicator on which it is to be raised.
std::pair<MPI_Comm, api::Failure> take_failure() noexcept {
  StartedCalls& calls = started_calls();
  const std::lock_guard lock(calls.mutex);
  for (StartedCall& one : calls.ended) {
    if (!one.failure) continue;
    --failures;
    return {one.call->comm(), std::exchange(one.failure, {})};
  }
  return {MPI_COMM_NULL, {}};
}

// ---- Progress thread

bool steps_are_needed() noexcept { return need_steps != 0 || api::calls_in_flight(); }

void take_step() noexcept {
  if (drivers == 0) advance_calls();
}

}  // namespace

void forget_freed() noexcept {
  StartedCalls& calls = started_calls();
  std::list<StartedCall> freed;  // destroyed after the lock is released
  const std::lock_guard lock(calls.mutex);
  for (auto one = calls.ended.begin(); one != calls.ended.end();) {
    const auto here = one++;
    if (!here->freed) continue;
    failures -= static_cast<bool>(here->failure);
    freed.splice(freed.end(), calls.ended, here);
  }
}

int hand_over(std::list<StartedCall> one, MPI_Request* request) noexcept {
  StartedCall& started = one.front();
  const int code = PMPI_Grequest_start(query, set_free, cancel, &started, &started.request);
  if (code != MPI_SUCCESS) {  // the other ranks still rely on this rank's part
    started.call->wait();
    started.call->finish(MPI_STATUS_IGNORE);
    return code;
  }
  *request = started.request;
  started.tell_mpi = complete;
  activate(hold_inactive(std::move(one)), true);
  return MPI_SUCCESS;
}

CallHandle hold_inactive(std::list<StartedCall> one) noexcept {
  forget_freed();
  const CallHandle here = one.begin();
  StartedCalls& calls = started_calls();
  const std::lock_guard lock(calls.mutex);
  calls.ended.splice(calls.ended.end(), one);
  return here;
}

void activate(CallHandle started, bool needs_steps) noexcept {
  started->needs_steps = needs_steps;
  need_steps += needs_steps;
  ++open;
  {
    StartedCalls& calls = started_calls();
    const std::lock_guard lock(calls.mutex);
    calls.open.splice(calls.open.end(), calls.ended, started);
  }
  if (needs_steps) api::wake_progress_thread();
}

bool calls_in_progress() noexcept { return open != 0 || failures != 0; }

void raise_failures() {
  while (failures != 0) {
    const auto [comm, failure] = take_failure();
    if (!failure) return;
    api::raise(comm, failure);
  }
}

void progress_calls() {
  advance_calls();
  raise_failures();
}

void advance_calls() noexcept {
  const BypassScope bypass;
  api::progress(nullptr);
  for (StartedCall* ended; (ended = take_ended()) != nullptr; --open) {
    need_steps -= ended->needs_steps;
    end_call(*ended);
    ended->tell_mpi(*ended);
  }
}

DrivingScope::DrivingScope() noexcept { ++drivers; }
DrivingScope::~DrivingScope() { --drivers; }

bool start_thread() noexcept { return api::start_progress_thread({steps_are_needed, take_step}); }

void end_thread() noexcept {
  api::end_progress_thread();
  forget_freed();
}

}  // namespace taut::dropin

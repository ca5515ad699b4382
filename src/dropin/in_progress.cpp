#include "dropin/in_progress.hpp"

#include <mutex>

#include "api/all_attached.hpp"
#include "api/progress_thread.hpp"
#include "dropin/gate.hpp"

namespace taut::dropin {

namespace {

struct All {
  std::mutex mutex;
  std::list<Started> open, ended;  // not complete; complete or not started, until MPI has freed the request
};

// Outlives static destructors: the thread of a program that forgets MPI_Finalize still uses it.
All& all() noexcept {
  static auto* const one = new All;
  return *one;
}

std::atomic<std::size_t> open{0};
std::atomic<int> drivers{0};

// ---- What MPI calls, perhaps under its locks: nothing here may wait or raise errors

int query(void* extra, MPI_Status* status) noexcept {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const Started*>(extra)->code;
}

// What it held goes with the next call.
int set_free(void* extra) noexcept {
  static_cast<Started*>(extra)->freed = true;
  return MPI_SUCCESS;
}

int cancel(void*, int) noexcept { return MPI_ERR_REQUEST; }  // no collective call can be cancelled

void complete(Started& ended) noexcept { PMPI_Grequest_complete(ended.request); }

// ---- Completion

// Takes one that has ended from those that have not; null: there is none.
Started* take_ended() noexcept {
  All& calls = all();
  const std::lock_guard lock(calls.mutex);
  for (auto one = calls.open.begin(); one != calls.open.end(); ++one) {
    if (!one->call->complete()) continue;
    calls.ended.splice(calls.ended.end(), calls.open, one);
    return &*one;
  }
  return nullptr;
}

// ---- Of the thread

bool needs_steps() noexcept { return any_in_progress() || api::calls_in_flight(); }

void take_step() noexcept {
  if (drivers == 0) go_on();
}

}  // namespace

void forget_freed() noexcept {
  All& calls = all();
  std::list<Started> freed;  // goes after the lock
  const std::lock_guard lock(calls.mutex);
  for (auto one = calls.ended.begin(); one != calls.ended.end();) {
    const auto here = one++;
    if (here->freed) freed.splice(freed.end(), calls.ended, here);
  }
}

int hand_over(std::list<Started> one, MPI_Request* request) noexcept {
  Started& started = one.front();
  const int code = PMPI_Grequest_start(query, set_free, cancel, &started, &started.request);
  if (code != MPI_SUCCESS) {  // others count on this rank's part all the same
    started.call->wait();
    started.call->finish(MPI_STATUS_IGNORE);
    return code;
  }
  *request = started.request;
  started.tell_mpi = complete;
  see_to(keep_ready(std::move(one)));
  return MPI_SUCCESS;
}

Waiting keep_ready(std::list<Started> one) noexcept {
  forget_freed();
  const Waiting here = one.begin();
  All& calls = all();
  const std::lock_guard lock(calls.mutex);
  calls.ended.splice(calls.ended.end(), one);
  return here;
}

void see_to(Waiting started) noexcept {
  ++open;
  {
    All& calls = all();
    const std::lock_guard lock(calls.mutex);
    calls.open.splice(calls.open.end(), calls.ended, started);
  }
  api::wake_progress_thread();
}

bool any_in_progress() noexcept { return open != 0; }

void go_on() noexcept {
  const Inside inside;
  api::progress(nullptr);
  for (Started* ended; (ended = take_ended()) != nullptr; --open) {
    ended->code = ended->call->finish(MPI_STATUS_IGNORE);
    ended->tell_mpi(*ended);
  }
}

Driving::Driving() noexcept { ++drivers; }
Driving::~Driving() { --drivers; }

bool start_thread() noexcept { return api::start_progress_thread({needs_steps, take_step}); }

void end_thread() noexcept {
  api::end_progress_thread();
  forget_freed();
}

}  // namespace taut::dropin

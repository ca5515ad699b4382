#include "communication/api/state/progress_thread.hpp"

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/lasting.hpp"
#include "communication/team/own_thread.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

using namespace std::chrono_literals;

constexpr auto step_interval = 50us;       // longest delay of a message; the core is idle between steps
constexpr auto idle_step_interval = 10ms;  // while no work is pending

struct ProgressThread {
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;
  std::atomic<bool> running = false;
  bool stopping = false;
};

constexpr auto progress_thread = lasting<ProgressThread>;

void run(const ProgressWork work) noexcept {
  ProgressThread& state = progress_thread();
  std::unique_lock lock(state.mutex);
  for (;;) {
    // The wait uses the system clock, because ThreadSanitizer does not support waits on the steady clock.
    const auto end = std::chrono::system_clock::now() + idle_step_interval;
    state.wake.wait_until(lock, end, [&] { return state.stopping || work.pending(); });
    if (state.stopping) return;
    lock.unlock();
    work.take_step();
    std::this_thread::sleep_for(step_interval);
    lock.lock();
  }
}

// Starts the thread for the calls in flight of this library, unless it runs already. Returns null, or the
// reason why there can be no thread.
const char* start_or_reason() noexcept {
  int level = MPI_THREAD_SINGLE;
  if (progress_thread().running) return nullptr;
  PMPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE)
    return "the program has to begin MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE";
  if (start_progress_thread({calls_in_flight, []() noexcept { progress(nullptr); }})) {
    driven_by_thread(true);
    return nullptr;
  }
  return progress_thread().running ? nullptr : "the system gives no thread";
}

}  // namespace

bool start_progress_thread(const ProgressWork& work) noexcept {
  ProgressThread& state = progress_thread();
  const std::lock_guard lock(state.mutex);
  if (state.running) return false;
  try {
    state.stopping = false;
    state.thread = start_own_thread(run, work);
    state.running = true;
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// The lock prevents a lost wake-up between the thread's check for pending work and its wait.
void wake_progress_thread() noexcept {
  ProgressThread& state = progress_thread();
  if (!state.running) return;
  const std::lock_guard lock(state.mutex);
  state.wake.notify_one();
}

void end_progress_thread() noexcept {
  ProgressThread& state = progress_thread();
  if (!state.running.exchange(false)) return;
  {
    const std::lock_guard lock(state.mutex);
    state.stopping = true;
    state.wake.notify_one();
  }
  state.thread.join();
}

void begin_progress(bool prints_reason) noexcept {
  static std::once_flag once;
  if (!options().progress) return;
  std::call_once(once, [prints_reason] {
    const char* const reason = start_or_reason();
    if (reason != nullptr && prints_reason)
      std::fprintf(stderr,
                   "taut: TAUT_PROGRESS=1 has no effect: %s. Calls in flight advance only inside Taut's\n",
                   reason);
  });
}

void require_progress_thread() {
  if (const char* const reason = start_or_reason())
    throw Error(Status::invalid_argument, std::string("calls on streams need a progress thread: ") + reason);
}

}  // namespace taut::api

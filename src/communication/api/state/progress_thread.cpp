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

constexpr auto pause = 50us;       // a message waits this long at most; the core is free for the program
constexpr auto idle_pause = 10ms;  // interval of the steps while no work is pending

struct Driver {
  std::mutex mutex;
  std::condition_variable comes;
  std::thread thread;
  std::atomic<bool> runs = false;
  bool stops = false;
};

constexpr auto driver = lasting<Driver>;

void run(const ProgressWork work) noexcept {
  Driver& mine = driver();
  std::unique_lock lock(mine.mutex);
  for (;;) {
    // Waits by the system clock: ThreadSanitizer does not know waits by the steady one.
    const auto end = std::chrono::system_clock::now() + idle_pause;
    mine.comes.wait_until(lock, end, [&] { return mine.stops || work.pending(); });
    if (mine.stops) return;
    lock.unlock();
    work.take_step();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
}

void complain(const char* why) noexcept {
  std::fprintf(stderr,
               "taut: TAUT_PROGRESS=1 has no effect: %s. Calls in flight advance only inside Taut's\n", why);
}

// Makes the thread drive the calls of this library, unless a thread runs already. Returns null, or the reason
// why there can be none.
const char* why_not_driving() noexcept {
  int level = MPI_THREAD_SINGLE;
  if (driver().runs) return nullptr;
  PMPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE)
    return "the program has to begin MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE";
  if (start_progress_thread({calls_in_flight, []() noexcept { progress(nullptr); }})) {
    driven_by_thread(true);
    return nullptr;
  }
  return driver().runs ? nullptr : "the system gives no thread";
}

}  // namespace

bool start_progress_thread(const ProgressWork& work) noexcept {
  Driver& mine = driver();
  const std::lock_guard lock(mine.mutex);
  if (mine.runs) return false;
  try {
    mine.stops = false;
    mine.thread = start_own_thread(run, work);
    mine.runs = true;
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Wakes the thread. The lock prevents a lost wake-up of a thread that has just found nothing to do.
void wake_progress_thread() noexcept {
  Driver& mine = driver();
  if (!mine.runs) return;
  const std::lock_guard lock(mine.mutex);
  mine.comes.notify_one();
}

void end_progress_thread() noexcept {
  Driver& mine = driver();
  if (!mine.runs.exchange(false)) return;
  {
    const std::lock_guard lock(mine.mutex);
    mine.stops = true;
    mine.comes.notify_one();
  }
  mine.thread.join();
}

void begin_progress(bool prints_reason) noexcept {
  static std::once_flag once;
  if (!options().progress) return;
  std::call_once(once, [prints_reason] {
    const char* const why = why_not_driving();
    if (why != nullptr && prints_reason) complain(why);
  });
}

void require_progress_thread() {
  if (const char* const why = why_not_driving())
    throw Error(Status::invalid_argument, std::string("calls on streams need a progress thread: ") + why);
}

}  // namespace taut::api

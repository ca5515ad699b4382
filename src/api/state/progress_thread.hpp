// Progress thread: advances calls in flight while the program computes. Needs MPI_THREAD_MULTIPLE.
#pragma once

namespace taut::api {

// Work of the thread: a step at intervals, as long as steps are needed.
struct Steps {
  bool (*are_needed)() noexcept;
  void (*take_one)() noexcept;
};

// Starts the thread. Returns false if one runs already, or none can be created.
bool start_progress_thread(const Steps& steps) noexcept;

// Wakes the thread. To be called when steps have become needed.
void wake_progress_thread() noexcept;

// Ends the thread, before MPI is finalised. A second call does nothing.
void end_progress_thread() noexcept;

// Starts the thread if TAUT_PROGRESS requests it; the thread then drives the calls of this library. `tells`:
// this rank prints why there can be no thread.
void begin_progress(bool tells) noexcept;

}  // namespace taut::api

// Progress thread: advances calls in flight while the program computes. Needs MPI_THREAD_MULTIPLE.
#pragma once

namespace taut::api {

// Work of the thread: steps every 50 us while work is pending, otherwise every 10 ms. The rare steps tell MPI
// that a plain call is complete, if the program waits by a function that Taut does not intercept.
struct ProgressWork {
  bool (*pending)() noexcept;
  void (*take_step)() noexcept;
};

// Starts the thread. Returns false if one runs already, or none can be created.
bool start_progress_thread(const ProgressWork& work) noexcept;

// Wakes the thread. To be called when work has become pending.
void wake_progress_thread() noexcept;

// Ends the thread, before MPI is finalised. A second call does nothing.
void end_progress_thread() noexcept;

// Starts the thread if TAUT_PROGRESS requests it; the thread then drives the calls of this library.
// `prints_reason`: this rank prints why there can be no thread.
void begin_progress(bool prints_reason) noexcept;

// Starts the thread if there is none, whatever TAUT_PROGRESS says. Throws Error if there can be none.
void require_progress_thread();

}  // namespace taut::api

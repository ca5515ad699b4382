// Progress thread: advances calls in flight while the program computes. It needs MPI_THREAD_MULTIPLE.
#pragma once

namespace taut::api {

// Work of the thread: a step every 50 us while work is pending, otherwise every 10 ms. The idle steps let MPI
// complete a plain call for which the program waits by a function that Taut does not intercept.
struct ProgressWork {
  bool (*pending)() noexcept;
  void (*take_step)() noexcept;
};

// Starts the thread. Returns false if one runs already, or none can be created.
bool start_progress_thread(const ProgressWork& work) noexcept;

// Wakes the thread; called when work becomes pending.
void wake_progress_thread() noexcept;

// Ends the thread before MPI is finalized. A second call does nothing.
void end_progress_thread() noexcept;

// Starts the thread if TAUT_PROGRESS requests it; the thread then advances the calls of this library.
// `prints_reason`: prints on this rank why there can be no thread.
void begin_progress(bool prints_reason) noexcept;

// Starts the thread unless it runs, with any value of TAUT_PROGRESS. Throws Error if there can be no thread.
void require_progress_thread();

}  // namespace taut::api

// A thread that makes calls in flight go on while the program does something else. Needs MPI_THREAD_MULTIPLE.
#pragma once

namespace taut::api {

// What it does: a step now and then, for as long as there is something to do.
struct Steps {
  bool (*are_needed)() noexcept;
  void (*take_one)() noexcept;
};

// False: one runs already, or none can be had.
bool start_progress_thread(const Steps& steps) noexcept;

// To be called when steps have become needed.
void wake_progress_thread() noexcept;

// Before MPI ends; again is nothing.
void end_progress_thread() noexcept;

// As TAUT_PROGRESS asks: the thread drives the calls of this library, from now on. `tells`: this rank is the
// one that says why it cannot be had.
void begin_progress(bool tells) noexcept;

}  // namespace taut::api

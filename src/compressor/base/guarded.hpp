// Conversion of exceptions to statuses.
#pragma once

#include <cstdio>
#include <new>
#include <type_traits>

#include "compressor/base/status.hpp"

namespace taut {

// Returns action(), or failed(status, text) after an Error or a lack of memory. Other exceptions pass.
template <class Action, class Failed>
auto attempt(const Action& action, const Failed& failed) {
  try {
    return action();
  } catch (const Error& error) {
    return failed(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(Status::out_of_memory, describe(Status::out_of_memory));
  }
}

// Runs action(), which returns a Status or nothing, and returns the status. Any exception other than those of
// attempt() is Status::internal. `note(status, text)` is called after a failure.
template <class Action, class Note>
Status guarded(const Action& action, const Note& note) noexcept {
  const auto noted = [&](Status status, const char* why) {
    if (status != Status::ok) note(status, why);
    return status;
  };
  const auto run = [&] {
    if constexpr (std::is_void_v<decltype(action())>) {
      action();
      return Status::ok;
    } else {
      const Status status = action();
      return noted(status, describe(status));
    }
  };
  try {
    return attempt(run, noted);
  } catch (...) {
    return noted(Status::internal, describe(Status::internal));
  }
}
template <class Action>
Status guarded(const Action& action) noexcept {
  return guarded(action, [](Status, const char*) {});
}

// Text of the last error that a C function of this library has returned to this thread.
inline thread_local char last_error[512] = "";

// Runs action() for a C function as guarded() does, and returns its status as the C calls do. The text of a
// failure is kept in last_error.
template <class Action>
int guard(const Action& action) noexcept {
  return static_cast<int>(guarded(
      action, [](Status, const char* why) { std::snprintf(last_error, sizeof last_error, "%s", why); }));
}

}  // namespace taut

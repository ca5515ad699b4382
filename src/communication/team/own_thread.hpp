// Threads of Taut's own in the process of a program.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace taut {

// Scope in which this thread, and each thread that it starts, takes no signal that is sent to the process.
// The signals of a thread's own faults stay.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Starts a thread that takes no signals of the program, which may have blocked a signal in all of its own
// threads to await it (sigwait). Throws std::system_error.
template <class... Work>
std::thread start_own_thread(Work&&... work) {
  const BlockedSignals blocked;
  return std::thread(std::forward<Work>(work)...);
}

}  // namespace taut

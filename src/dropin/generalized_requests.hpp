// Nonblocking calls of programs: calls of Taut in flight behind generalized requests of MPI, which programs
// wait for, test and mix with others as they like.
#pragma once

#include <taut/taut.h>

#include <atomic>
#include <list>
#include <memory>
#include <vector>

#include "api/state/requests.hpp"

namespace taut::dropin {

// Arrays that a call reads until its end: the program's may change once it is made, and may be of narrower
// numbers.
class KeptArrays {
 public:
  // The first n of `numbers`; null stays null.
  template <class Number, class Given>
  const Number* copied(const Given* numbers, int n) {
    if (numbers == nullptr || n == 0) return nullptr;
    const auto copy = std::make_shared<const std::vector<Number>>(numbers, numbers + n);
    arrays_.push_back(copy);
    return copy->data();
  }

 private:
  std::vector<std::shared_ptr<const void>> arrays_;
};

// A call that is started, or may be. It stays where it is until MPI has freed its request.
struct StartedCall {
  KeptArrays kept;
  std::unique_ptr<TAUT_Request_s> call;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;           // how it ended
  std::atomic<bool> freed = false;  // MPI knows of it no more
  int tag = 0;                      // of a persistent call's messages

  void (*tell_mpi)(StartedCall&) noexcept = nullptr;  // that it has ended
};

// Makes the request of the one call in `one`, and sees to it from then on. An MPI code.
int hand_over(std::list<StartedCall> one, MPI_Request* request) noexcept;

// The same in two steps: a call that is not started yet; then that it is, with a request that MPI waits for.
using CallHandle = std::list<StartedCall>::iterator;
CallHandle hold_inactive(std::list<StartedCall> one) noexcept;
void activate(CallHandle started) noexcept;

// Forgets calls of which MPI knows no more.
void forget_freed() noexcept;

// Whether any of these calls is not complete.
bool calls_in_progress() noexcept;

// Makes all go on a step, and completes the requests of those that have ended.
void progress_calls() noexcept;

// While one lives, this thread makes calls go on, and the one below leaves them alone.
class DrivingScope {
 public:
  DrivingScope() noexcept;
  ~DrivingScope();
  DrivingScope(const DrivingScope&) = delete;
  DrivingScope& operator=(const DrivingScope&) = delete;
};

// The thread that makes calls go on while the program does something else. False: there is none.
bool start_thread() noexcept;

// Before MPI_Finalize. What the program has not waited for goes no further by itself.
void end_thread() noexcept;

}  // namespace taut::dropin

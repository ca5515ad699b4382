// Nonblocking collective calls of programs: calls of Taut in flight behind generalized requests of MPI.
// Programs wait for these requests, test them and mix them with other requests.
#pragma once

#include <taut/taut.h>

#include <atomic>
#include <list>
#include <memory>
#include <vector>

#include "communication/api/state/requests.hpp"

namespace taut::dropin {

// Copies of the arrays that a call reads until it completes. The program may change its own arrays once the
// call has been made, and those may hold narrower numbers.
class ArrayCopies {
 public:
  // Adds and returns a copy of the first n of `numbers`; null for null.
  template <class Number, class Given>
  const Number* add(const Given* numbers, int n) {
    if (numbers == nullptr || n == 0) return nullptr;
    const auto copy = std::make_shared<const std::vector<Number>>(numbers, numbers + n);
    arrays_.push_back(copy);
    return copy->data();
  }

 private:
  std::vector<std::shared_ptr<const void>> arrays_;
};

// Call that has started or can be started. Its address does not change until MPI has freed its request.
struct StartedCall {
  ArrayCopies copies;
  std::unique_ptr<TAUT_Request_s> call;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;           // MPI code of the completed call
  api::Failure failure;             // to be raised by a thread of the program
  std::atomic<bool> freed = false;  // MPI no longer refers to the call
  int tag = 0;                      // tag of a persistent call's messages
  bool needs_steps = false;         // only advance_calls() advances the started call

  void (*tell_mpi)(StartedCall&) noexcept = nullptr;  // reports the completion of the call to MPI
};

// Creates the generalized request of the one call in `one`, and manages the call from then on. Returns an MPI
// code.
int hand_over(std::list<StartedCall> one, MPI_Request* request) noexcept;

// hand_over() in two steps, for a call whose request exists already: hold_inactive() takes a call that has
// not started yet; activate() marks the call as started. `needs_steps`: only advance_calls() advances it.
using CallHandle = std::list<StartedCall>::iterator;
CallHandle hold_inactive(std::list<StartedCall> one) noexcept;
void activate(CallHandle started, bool needs_steps) noexcept;

// Deletes the calls whose requests MPI has freed.
void forget_freed() noexcept;

// Returns true if one of these calls is not complete, or its failure is not raised yet.
bool calls_in_progress() noexcept;

// Advances all calls and open receives by a step, and completes the requests of calls that have ended.
void advance_calls() noexcept;

// Raises the failures of calls that have ended, in a thread of the program.
void raise_failures();

// Advances all calls, and raises their failures.
void progress_calls();

// Scope in which this thread advances the calls, and the progress thread leaves them alone.
class DrivingScope {
 public:
  DrivingScope() noexcept;
  ~DrivingScope();
  DrivingScope(const DrivingScope&) = delete;
  DrivingScope& operator=(const DrivingScope&) = delete;
};

// Starts the progress thread, which advances calls while the program computes. Returns false if the thread
// cannot be started.
bool start_thread() noexcept;

// Stops the progress thread; called in MPI_Finalize. A call that the program has not waited for then no
// longer advances by itself.
void end_thread() noexcept;

}  // namespace taut::dropin

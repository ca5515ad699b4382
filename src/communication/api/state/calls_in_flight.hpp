// Calls in flight on a communicator. One thread starts them; any thread may drive them.
#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "communication/comm/in_flight.hpp"

namespace taut::api {

extern std::atomic<std::size_t> in_process;  // number of calls in flight
inline bool calls_in_flight() noexcept { return in_process > 0; }

class CallsInFlight {
 public:
  // Creates a call of these arguments, and starts it. Collective over the communicator.
  template <class... Arguments>
  void start(std::optional<CallInFlight>& call, Arguments&&... arguments) {
    const std::lock_guard lock(driving_);
    call.emplace(std::forward<Arguments>(arguments)...);
    put(*call);
  }

  // Held by the thread that drives the calls, or uses the private communicator.
  std::mutex& driving() noexcept { return driving_; }

  // Advances all calls by one step; the caller holds driving().
  void drive() noexcept;
  // Advances all calls by one step, unless another thread is doing so.
  void progress() noexcept;

  bool any() const noexcept { return open_ != 0; }
  bool has_calls_of(std::thread::id thread) const noexcept { return any() && user_ == thread; }

 private:
  void put(CallInFlight& call);
  void count() noexcept;

  std::mutex driving_;
  InFlight calls_;
  std::atomic<std::size_t> open_{0};   // number of calls in flight
  std::atomic<std::thread::id> user_;  // thread that started the last call
};

}  // namespace taut::api

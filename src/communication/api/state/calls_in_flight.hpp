// Calls in flight on a communicator. One thread starts them; any thread may drive them.
#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "communication/api/state/progress_thread.hpp"
#include "communication/comm/in_flight.hpp"
#include "communication/p2p/bypass.hpp"

namespace taut::api {

inline std::atomic<std::size_t> in_process{0};  // number of calls in flight
inline bool calls_in_flight() noexcept { return in_process > 0; }

class CallsInFlight {
 public:
  // Creates a call of these arguments, and starts it. Collective over the communicator.
  template <class... Arguments>
  void start(std::optional<CallInFlight>& call, Arguments&&... arguments) {
    const p2p::BypassScope bypass;
    const std::lock_guard lock(driving_);
    call.emplace(std::forward<Arguments>(arguments)...);
    user_ = std::this_thread::get_id();
    calls_.start(*call);
    count();
    wake_progress_thread();
  }

  // Held by the thread that drives the calls, or uses the private communicator.
  std::mutex& driving() noexcept { return driving_; }

  // Advances all calls by one step; the caller holds driving().
  void drive() noexcept {
    calls_.progress();
    count();
  }
  // Advances all calls by one step, unless another thread is doing so.
  void progress() noexcept {
    if (!any()) return;
    const std::unique_lock lock(driving_, std::try_to_lock);
    if (lock.owns_lock()) drive();
  }

  bool any() const noexcept { return open_ != 0; }
  bool has_calls_of(std::thread::id thread) const noexcept { return any() && user_ == thread; }

 private:
  void count() noexcept {
    const std::size_t now = calls_.size();
    in_process += now - open_.exchange(now);
  }

  std::mutex driving_;
  InFlight calls_;
  std::atomic<std::size_t> open_{0};   // number of calls in flight
  std::atomic<std::thread::id> user_;  // thread that started the last call
};

}  // namespace taut::api

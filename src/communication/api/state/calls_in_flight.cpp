#include "communication/api/state/calls_in_flight.hpp"

#include "communication/api/state/progress_thread.hpp"
#include "communication/p2p/bypass.hpp"

namespace taut::api {

std::atomic<std::size_t> in_process{0};

void CallsInFlight::put(CallInFlight& call) {
  const p2p::BypassScope bypass;
  user_ = std::this_thread::get_id();
  calls_.start(call);
  count();
  wake_progress_thread();
}

void CallsInFlight::drive() noexcept {
  calls_.progress();
  count();
}

void CallsInFlight::count() noexcept {
  const std::size_t now = calls_.size();
  in_process += now - open_.exchange(now);
}

void CallsInFlight::progress() noexcept {
  if (!any()) return;
  const std::unique_lock lock(driving_, std::try_to_lock);
  if (lock.owns_lock()) drive();
}

}  // namespace taut::api

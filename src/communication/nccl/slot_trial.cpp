#include "communication/nccl/slot_trial.hpp"

#include <algorithm>
#include <utility>

namespace taut::nccl {

bool SlotTrial::next() noexcept {
  if (exact_calls_left_ == 0) return true;
  --exact_calls_left_;
  return false;
}

void SlotTrial::record_slots(double seconds, std::size_t bytes) noexcept {
  if (!std::exchange(skips_record_, false)) slots_.note(seconds, bytes);
}

void SlotTrial::update(const SlotTimes& agreed) noexcept {
  if (!comparing_) {
    if (++calls_since_trial_ < trial_interval_) return;
    trial_interval_ = std::min(2 * trial_interval_, max_trial_interval);
    return compare_after(timed_exact);
  }
  const std::uint32_t calls = slots_.calls();
  if (calls < trial_calls) return;
  if (agreed.slots < agreed.exact) {
    comparing_ = false;
    calls_since_trial_ = 0;
    min_backoff_ = first_trial_interval;
    return;
  }
  constexpr float max_pause = 4096;  // in calls: a disturbance may have made a trial slow
  const float lost = (agreed.slots / std::max(agreed.exact, 1e-30F) - 1) * static_cast<float>(calls);
  const auto pause = static_cast<std::uint32_t>(std::min(calls_per_lost_call * lost, max_pause));
  compare_after(std::max(pause, min_backoff_));
  min_backoff_ = std::min(2 * min_backoff_, max_trial_interval);
}

void SlotTrial::compare_after(std::uint32_t exact_calls) noexcept {
  exact_calls_left_ = exact_calls;
  comparing_ = skips_record_ = true;
  exact_.clear();
  slots_.clear();
}

}  // namespace taut::nccl

#include "communication/nccl/slot_trial.hpp"

#include <algorithm>
#include <utility>

namespace taut::nccl {

bool SlotTrial::next() noexcept {
  if (left_ == 0) return true;
  --left_;
  return false;
}

void SlotTrial::record_slots(double seconds, std::size_t bytes) noexcept {
  if (!std::exchange(leaves_out_, false)) slots_.note(seconds, bytes);
}

void SlotTrial::update(const SlotTimes& agreed) noexcept {
  if (!comparing_) {
    if (++since_ < between_) return;
    between_ = std::min(2 * between_, longest_distance);
    return compare_after(timed_exact);
  }
  const std::uint32_t calls = slots_.calls();
  if (calls < trial_calls) return;
  if (agreed.slots < agreed.exact) {
    comparing_ = false;
    since_ = 0;
    backoff_ = first_distance;
    return;
  }
  constexpr float most_calls = 4096;
  const float lost = (agreed.slots / std::max(agreed.exact, 1e-30F) - 1) * static_cast<float>(calls);
  const auto pause = static_cast<std::uint32_t>(std::min(trial_share * lost, most_calls));
  compare_after(std::max(pause, backoff_));
  backoff_ = std::min(2 * backoff_, longest_distance);
}

void SlotTrial::compare_after(std::uint32_t exact_calls) noexcept {
  left_ = exact_calls;
  comparing_ = leaves_out_ = true;
  exact_.clear();
  slots_.clear();
}

}  // namespace taut::nccl

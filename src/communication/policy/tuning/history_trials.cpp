#include "communication/policy/tuning/history_trials.hpp"

namespace taut {
namespace {

constexpr float max_pause = 16384;  // in calls: a disturbance may have made a trial slow

// Returns the calls that have to follow a trial of `calls` calls, each of which took `slowdown` times as long
// as a usual one.
std::uint32_t pause_after(std::uint32_t calls, float slowdown) noexcept {
  const float lost = static_cast<float>(calls) * std::max(slowdown - 1, 0.0F);
  return static_cast<std::uint32_t>(std::min(calls_per_lost_call * lost, max_pause));
}

}  // namespace

bool HistoryTrials::next(MeasuredChoice coding) noexcept {
  if (route_.coding != coding) {
    *this = {};
    route_.coding = coding;
  }
  if (backoff_left_ > 0) {
    --backoff_left_;
    return true;
  }
  const bool due =
      compared_ && !no_gain_without_ && calls_since_trial_ >= std::max(trial_interval_, pause_after_trial_);
  if (due) {
    trial_interval_ = std::min(2 * trial_interval_, max_trial_interval);
    measure_without();
  }
  return calls_without_left_ > 0;
}

HistoryTimes HistoryTrials::own() const noexcept {
  HistoryTimes own;
  if (without_history_.calls() >= calls_without) own.without_history = without_history_.median();
  if (with_history_.calls() >= calls_with) own.with_history = with_history_.median();
  return own;
}

bool HistoryTrials::keeps_history(const HistoryTimes& agreed) noexcept {
  if (agreed.without_history == 0 || agreed.with_history == 0) return true;
  if (agreed.with_history < agreed.without_history) {
    if (!compared_) {
      pause_after_trial_ = pause_after(calls_without, agreed.without_history / agreed.with_history);
      with_history_at_trial_ = agreed.with_history;
    }
    const float change = agreed.with_history / with_history_at_trial_;
    if (std::max(change, 1 / change) > clear_time_ratio) trial_interval_ = first_trial_interval;
    compared_ = true;
    backoff_ = 0;
    return true;
  }
  if (compared_)
    measure_without();
  else
    back_off(agreed.with_history / agreed.without_history);
  return false;
}

// Times the next calls without a history: the known times of such calls are old.
void HistoryTrials::measure_without() noexcept {
  without_history_.clear();
  calls_without_left_ = calls_without;
  compared_ = false;
  calls_since_trial_ = 0;
}

// Begins a back-off after calls with a history that took `slowdown` times as long as those without one.
void HistoryTrials::back_off(float slowdown) noexcept {
  const std::uint32_t calls = std::max(with_history_.calls(), 1U) + 1;  // and one that left the first state
  backoff_ = std::max(std::clamp(2 * backoff_, first_trial_interval, max_trial_interval),
                      pause_after(calls, slowdown));
  backoff_left_ = backoff_;
  with_history_.clear();
  calls_without_state_ = 0;
  compared_ = false;
  calls_since_trial_ = 0;
}

void HistoryTrials::record_without(double seconds, std::size_t bytes, const Route& route) noexcept {
  if (without_history_.calls() == 0) route_ = route;
  if (route == route_) without_history_.note(seconds, bytes);
  if (calls_without_left_ > 0) --calls_without_left_;
  no_gain_without_ = false;
}

void HistoryTrials::record_with(double seconds, std::size_t bytes, const Route& route) noexcept {
  if (without_history_.calls() == 0) route_ = route;
  if (route == route_) with_history_.note(seconds, bytes);
  calls_without_state_ = 0;
  ++calls_since_trial_;
}

void HistoryTrials::record_without_state(std::size_t needed) noexcept {
  if (++calls_without_state_ > 2 * needed) back_off(1);
}

void HistoryTrials::record_no_gain(bool with_history) noexcept {
  if (with_history) return;
  no_gain_without_ = true;
  calls_without_left_ = 0;
}

}  // namespace taut

#include "communication/policy/tuning/history_trials.hpp"

namespace taut {
namespace {

constexpr float most_pause = 16384;  // calls, however much a disturbed trial seems to have lost

// Returns the calls that have to follow a trial of `calls` calls, each of which took `times` the usual time.
std::uint32_t pause_after(std::uint32_t calls, float times) noexcept {
  const float lost = static_cast<float>(calls) * std::max(times - 1, 0.0F);
  return static_cast<std::uint32_t>(std::min(trial_share * lost, most_pause));
}

}  // namespace

bool HistoryTrials::next(MeasuredChoice coding) noexcept {
  if (route_.coding != coding) {
    *this = {};
    route_.coding = coding;
  }
  if (rest_ > 0) {
    --rest_;
    return true;
  }
  const bool due = compared_ && !declines_ && since_ >= std::max(distance_, pause_);
  if (due) {
    distance_ = std::min(2 * distance_, longest_distance);
    measure_alone();
  }
  return alone_left_ > 0;
}

HistoryTimes HistoryTrials::own() const noexcept {
  HistoryTimes own;
  if (alone_.calls() >= alone_calls) own.alone = alone_.typical();
  if (referring_.calls() >= referring_calls) own.referring = referring_.typical();
  return own;
}

bool HistoryTrials::pays(const HistoryTimes& agreed) noexcept {
  if (agreed.alone == 0 || agreed.referring == 0) return true;
  if (agreed.referring < agreed.alone) {
    if (!compared_) {
      pause_ = pause_after(alone_calls, agreed.alone / agreed.referring);
      referring_then_ = agreed.referring;
    }
    const float change = agreed.referring / referring_then_;
    if (std::max(change, 1 / change) > clear_difference) distance_ = first_distance;
    compared_ = true;
    rested_ = 0;
    return true;
  }
  if (compared_)
    measure_alone();
  else
    rest(agreed.referring / agreed.alone);
  return false;
}

// Has the next calls timed without a history, because their times are old.
void HistoryTrials::measure_alone() noexcept {
  alone_.clear();
  alone_left_ = alone_calls;
  compared_ = false;
  since_ = 0;
}

// Begins a back-off after calls with a history that took `times` the time of those without one.
void HistoryTrials::rest(float times) noexcept {
  const std::uint32_t calls = std::max(referring_.calls(), 1U) + 1;  // and one that left the first state
  rested_ = std::max(std::clamp(2 * rested_, first_distance, longest_distance), pause_after(calls, times));
  rest_ = rested_;
  referring_.clear();
  filling_ = 0;
  compared_ = false;
  since_ = 0;
}

void HistoryTrials::record_alone(double seconds, std::size_t bytes, const Route& route) noexcept {
  if (alone_.calls() == 0) route_ = route;
  if (route == route_) alone_.note(seconds, bytes);
  if (alone_left_ > 0) --alone_left_;
  declines_ = false;
}

void HistoryTrials::record_referring(double seconds, std::size_t bytes, const Route& route) noexcept {
  if (alone_.calls() == 0) route_ = route;
  if (route == route_) referring_.note(seconds, bytes);
  filling_ = 0;
  ++since_;
}

void HistoryTrials::record_filling(std::size_t needed) noexcept {
  if (++filling_ > 2 * needed) rest(1);
}

void HistoryTrials::record_no_gain(bool with_history) noexcept {
  if (with_history) return;
  declines_ = true;
  alone_left_ = 0;
}

}  // namespace taut

#include "communication/policy/tuning/overlap_tuner.hpp"

#include <utility>

namespace taut {

Fallback TuningPeriod::decide(Fallback agreed, const Timing& agreed_times) noexcept {
  const auto before = std::exchange(previous, nullptr);
  decided = true;
  if (agreed != Fallback::none) {
    const bool is_of_values = agreed == Fallback::no_gain || agreed == Fallback::packed;
    usual_fallback = is_of_values ? agreed : Fallback::none;
    return agreed;
  }
  const auto [plain, coded] = std::pair(agreed_times.plain, agreed_times.coded);
  const bool known = plain > 0 && coded > 0;
  usual_fallback = known && coded > plain ? Fallback::slower : Fallback::none;
  const bool stale =
      before != nullptr && before->measures_one_way() && usual_fallback != before->usual_fallback;
  if (stale) usual_fallback = before->usual_fallback;
  const float trials = static_cast<float>(OverlapTuner::trial_calls) / static_cast<float>(usual_calls);
  const auto [faster, slower] = std::minmax(plain, coded);
  has_trial = !known || stale || (slower - faster) * trials <= OverlapTuner::max_trial_share * faster;
  return usual_fallback;
}

Fallback PeriodPosition::fallback() const noexcept {
  if (number < period->usual_calls || !period->has_trial) return period->usual_fallback;
  return period->usual_fallback == Fallback::none ? Fallback::trial : Fallback::none;
}

PeriodPosition OverlapTuner::next() {
  if (period_ == nullptr || number_ == period_->usual_calls + trial_calls) {
    const std::uint32_t usual_calls =
        period_ == nullptr ? first_length : std::min(length_growth * period_->usual_calls, max_length);
    period_ = std::make_shared<TuningPeriod>(TuningPeriod{.usual_calls = usual_calls, .previous = period_});
    number_ = 0;
  }
  return {period_, number_++, this};
}

}  // namespace taut

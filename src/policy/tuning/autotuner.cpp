#include "policy/tuning/autotuner.hpp"

#include <algorithm>

namespace taut {
namespace {

// Greatest ratio of the predicted plain time to the compressed time for which a trial of plain MPI is worth
// while.
constexpr float hopeless = 1.5F;

// Greatest number of plain calls that one trial counts for, even if a disturbance made it slow.
constexpr float costliest = 4096;

}  // namespace

void Autotuner::record_coded(const Route& route, double seconds, double predicted,
                             std::size_t bytes) noexcept {
  if (routes_.is_tried(route)) routes_.tried_calls().note(seconds, bytes);
  if (!routes_.is_usual(route)) return;
  coded_.note(seconds, bytes);
  predicted_.note(predicted, bytes);
}

Timing Autotuner::own() const noexcept {
  return {plain_.typical(), coded_.typical(), predicted_.least(), routes_.tried_calls().typical(),
          asked_.typical()};
}

Fallback Autotuner::next() noexcept {
  if (left_ == 0) return Fallback::none;
  --left_;
  return why_;
}

// Starts a back-off. `trial` and `plain` are the seconds per byte of the trial and of plain calls; 0: not
// known.
void Autotuner::back_off(Fallback why, float trial, float plain) noexcept {
  const float calls = plain > 0 ? std::clamp(trial / plain, 1.0F, costliest) : 1;
  const auto least = static_cast<std::uint32_t>(calls);
  why_ = why;
  left_ = std::max(backoff_, least);
  backoff_ = std::min(2 * left_, longest_backoff * least);
  coded_.clear();  // after the back-off, compressed calls are measured anew
}

// Returns true while a trial of plain MPI continues. A trial takes a few calls, fewer if plain MPI is clearly
// slower.
bool Autotuner::keeps_trying(const Timing& agreed) noexcept {
  trying_ = trying_ && plain_.calls() < RecentTimes::most && agreed.plain < clear_difference * agreed.coded;
  return trying_;
}

Fallback Autotuner::update(const Timing& agreed) noexcept {
  ++since_;
  if (coded_.calls() == 0) return Fallback::none;  // this call is the first measurement
  if (plain_.calls() > 0) {
    if (keeps_trying(agreed)) return Fallback::trial;
    const bool open = coded_.calls() < RecentTimes::most && agreed.coded < clear_difference * agreed.plain;
    if (agreed.coded > agreed.plain) {
      if (!open) back_off(Fallback::slower, agreed.coded, agreed.plain);
      return open ? Fallback::none : Fallback::slower;
    }
    backoff_ = 1;
  }
  if (since_ < between_ || agreed.predicted > hopeless * agreed.coded) return Fallback::none;
  since_ = 0;
  between_ = std::min(2 * between_, longest_backoff);
  trying_ = true;
  plain_.clear();
  return Fallback::trial;
}

void Autotuner::update_route(const Route& route, const Timing& agreed,
                             std::span<const Route> others) noexcept {
  if (routes_.update(route, agreed, coded_.calls(), others)) coded_ = routes_.tried_calls();
}

void Autotuner::record_no_gain(bool by_cached_candidate, const Timing& agreed) noexcept {
  cached_candidate_.forget();
  if (!by_cached_candidate) back_off(Fallback::no_gain, agreed.asked, agreed.plain);
}

Autotuner& AutotunerTable::of(const Call& call, std::size_t bytes) noexcept {
  const std::uint32_t key = Call{.collective = call.collective,
                                 .type = reduces(call.collective) ? call.type : DType{},
                                 .op = call.op,
                                 .bytes = bytes}
                                .kind();
  Kind* const home = &kinds_[key * 2654435769U >> 26];  // Fibonacci hashing to 6 bits
  static_assert(most_kinds == 64);
  for (std::size_t i = 0; i < 4; ++i) {
    Kind& kind = kinds_[(static_cast<std::size_t>(home - kinds_.data()) + i) % most_kinds];
    if (kind.key == 0) kind.key = key;
    if (kind.key == key) return kind.autotuner;
  }
  *home = {key, {}};
  return home->autotuner;
}

}  // namespace taut

#include "communication/policy/tuning/autotuner.hpp"

#include <utility>

namespace taut {
namespace {

// Greatest number of plain calls that one trial counts for, even if a disturbance made it slow.
constexpr float costliest = 4096;

}  // namespace

// ---- Route trials

bool RouteTrials::update(const Route& route, const Timing& agreed, std::uint32_t usual_calls,
                         std::span<const Route> others) noexcept {
  if (is_trying()) return decide(agreed);
  usual_ = route;
  if (++since_ > distance_ && usual_calls == RecentTimes::most) begin(others);
  return false;
}

bool RouteTrials::decide(const Timing& agreed) noexcept {
  if (calls_.calls() == 0) return false;
  const bool over = calls_.calls() == RecentTimes::most || agreed.other > clear_difference * agreed.coded;
  const bool better = over && agreed.other < agreed.coded;
  if (better) usual_ = tried_;
  if (over) tried_ = {};
  return better;
}

// Begins a trial of the next alternative. The distance between trials doubles after each round.
void RouteTrials::begin(std::span<const Route> others) noexcept {
  if (turn_ >= others.size()) {
    turn_ = 0;
    distance_ = std::min(2 * distance_, longest_distance);
  }
  if (others.empty()) return;
  since_ = 0;
  if (others[turn_] != usual_) tried_ = others[turn_];
  ++turn_;
  calls_.clear();
}

// ---- Autotuner

void Autotuner::record(Outcome outcome, double seconds, std::size_t bytes, const Route& route,
                       double predicted) noexcept {
  if (outcome == Outcome::plain) return plain_.note(seconds, bytes);
  if (outcome == Outcome::declined) return declined_.note(seconds, bytes);
  if (routes_.is_tried(route)) routes_.tried_calls().note(seconds, bytes);
  if (!routes_.is_usual(route)) return;
  coded_.note(seconds, bytes);
  predicted_.note(predicted, bytes);
}

Timing Autotuner::own() const noexcept {
  return {plain_.typical(), coded_.typical(), predicted_.least(), routes_.tried_calls().typical(),
          declined_.typical()};
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

// Begins a trial of plain MPI. The first one is this call, because compressed calls may prove very slow.
// Later ones begin with the next call: the values of this one have been sampled.
Fallback Autotuner::begin_trial() noexcept {
  const bool at_once = plain_.calls() == 0;
  since_ = 0;
  between_ = std::min(2 * between_, longest_backoff);
  trying_ = true;
  plain_.clear();
  if (at_once) return Fallback::trial;
  why_ = Fallback::trial;
  left_ = 1;
  return Fallback::none;
}

// A trial takes RecentTimes::most calls, or one if plain MPI is clearly slower.
Fallback Autotuner::continue_trial(const Timing& agreed) noexcept {
  const bool over = plain_.calls() >= RecentTimes::most || agreed.plain > clear_difference * agreed.coded;
  if (!over) {
    why_ = Fallback::trial;
    left_ = RecentTimes::most - std::min(plain_.calls() + 1, RecentTimes::most);
    return Fallback::trial;
  }
  trying_ = false;
  return compare(agreed);
}

// Returns true if a plain call, as long as the last ones or as predicted, takes little of the time since the
// last trial of plain MPI. The prediction may be far too long: a rank that waits for another rank's encoding
// predicts a slow link.
bool Autotuner::plain_trial_is_due(const Timing& agreed) const noexcept {
  const float plain = plain_.calls() > 0 ? std::min(agreed.plain, agreed.predicted) : agreed.predicted;
  return static_cast<float>(since_) * agreed.coded >=
         static_cast<float>(between_) * std::max(plain, agreed.coded);
}

Fallback Autotuner::update(const Agreed& agreed) noexcept {
  if (agreed.fallback == Fallback::no_gain || agreed.fallback == Fallback::packed) {
    cached_candidate_.forget();
    if (!agreed.by_cached_candidate) back_off(Fallback::no_gain, agreed.timing.declined, agreed.timing.plain);
  }
  if (agreed.fallback == Fallback::device) codings_ = {};  // a codec that was chosen may lack kernels
  if (agreed.fallback != Fallback::none) return agreed.fallback;
  cached_candidate_.choose(agreed.candidate, agreed.ratio);
  if (std::exchange(on_devices_, agreed.on_devices) != agreed.on_devices) {  // other routes, other times
    measure_anew();
    return Fallback::none;
  }
  if (agreed.only_if_profitable) codings_.note(agreed.timing.predicted);
  const Fallback why = agreed.only_if_profitable ? compare(agreed.timing) : Fallback::none;
  if (why == Fallback::none && routes_.update(agreed.route, agreed.timing, coded_.calls(), agreed.others))
    coded_ = routes_.tried_calls();
  return why;
}

// Forgets the times of compressed calls, after a change of how they are served.
void Autotuner::measure_anew() noexcept {
  routes_ = {};
  coded_.clear();
  predicted_.clear();
}

void Autotuner::choose(CodingChoice coding) noexcept {
  const bool other = coding != codings_.choice();
  codings_.choose(coding);
  if (!other) return;
  measure_anew();
  cached_candidate_.forget();
}

// Compares the times of plain and compressed calls. Returns the fallback if plain MPI is faster, or is tried.
Fallback Autotuner::compare(const Timing& agreed) noexcept {
  ++since_;
  if (coded_.calls() == 0) return Fallback::none;  // this call is the first measurement
  if (plain_.calls() > 0) {
    const bool open = coded_.calls() < RecentTimes::most && agreed.coded < clear_difference * agreed.plain;
    if (agreed.coded > agreed.plain) {
      if (!open) back_off(Fallback::slower, agreed.coded, agreed.plain);
      return open ? Fallback::none : Fallback::slower;
    }
    backoff_ = 1;
  }
  return plain_trial_is_due(agreed) ? begin_trial() : Fallback::none;
}

}  // namespace taut

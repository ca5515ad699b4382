#include "communication/policy/tuning/autotuner.hpp"

#include <utility>

namespace taut {
namespace {

// Greatest number of plain calls that one trial counts for, even if a disturbance made it slow.
constexpr float max_calls_lost = 4096;

std::uint32_t calls_of(float calls) noexcept {
  return static_cast<std::uint32_t>(std::clamp(calls, 0.0F, max_calls_lost));
}

// Returns what compressed calls of this time have lost, in plain calls.
float lost_by(const RecentTimes& calls, float time, const Timing& times) noexcept {
  if (times.plain == 0) return 0;
  return static_cast<float>(calls.calls()) * std::max(time / times.plain - 1, 0.0F);
}

}  // namespace

// ---- Route trials

bool RouteTrials::update(const Route& route, const Timing& agreed, std::uint32_t usual_calls,
                         std::span<const Route> others) noexcept {
  if (is_trying()) return decide(agreed);
  usual_ = route;
  const bool due = ++calls_since_trial_ > std::max(trial_interval_, pause_after_trial_) &&
                   usual_calls == RecentTimes::capacity;
  const bool other_way = usual_calls > 0 && begin_other_way(route, others);
  if (due && !other_way) begin(others);
  return false;
}

bool RouteTrials::begin_other_way(const Route& route, std::span<const Route> others) noexcept {
  if (tried_other_way_ || others.empty() || others[0].by_nodes == route.by_nodes) return false;
  usual_ = route;
  tried_ = others[0];
  tried_other_way_ = true;
  next_alternative_ = 1;  // others[0] is the other way
  calls_since_trial_ = 0;
  tried_times_.clear();
  return true;
}

bool RouteTrials::decide(const Timing& agreed) noexcept {
  if (tried_times_.calls() == 0) return false;
  const float least = agreed.plain > 0 ? std::min(agreed.plain, agreed.coded) : agreed.coded;
  if (tried_times_.calls() < trial_calls && agreed.tried <= clear_time_ratio * least) return false;
  const bool better = agreed.tried < agreed.coded;
  if (better) usual_ = tried_;
  tried_ = {};
  const float lost = agreed.coded > 0 ? std::max(agreed.tried / agreed.coded - 1, 0.0F) : 0;
  pause_after_trial_ = calls_of(calls_per_lost_call * lost * static_cast<float>(tried_times_.calls()));
  return better;
}

// Begins a trial of the next alternative. The distance between trials doubles after each round.
void RouteTrials::begin(std::span<const Route> others) noexcept {
  if (next_alternative_ < others.size() && others[next_alternative_] == usual_) ++next_alternative_;
  if (next_alternative_ >= others.size()) {
    next_alternative_ = 0;
    trial_interval_ = std::min(2 * trial_interval_, max_trial_interval);
  }
  if (others.empty()) return;
  calls_since_trial_ = 0;
  if (others[next_alternative_] != usual_) tried_ = others[next_alternative_];
  ++next_alternative_;
  tried_times_.clear();
}

// ---- Autotuner

void Autotuner::record(Outcome outcome, double seconds, std::size_t bytes, const Route& route,
                       double predicted) noexcept {
  if (outcome == Outcome::plain) return plain_.note(seconds, bytes);
  if (outcome == Outcome::declined) return declined_.note(seconds, bytes);
  if (routes_.is_tried(route)) routes_.tried_times().note(seconds, bytes);
  if (!routes_.is_usual(route)) return;
  coded_.note(seconds, bytes);
  predicted_.note(predicted, bytes);
}

Timing Autotuner::own() const noexcept {
  return {plain_.median(), coded_.median(), predicted_.min(), routes_.tried_times().median(),
          declined_.median()};
}

Fallback Autotuner::next() noexcept {
  if (plain_calls_left_ == 0) return Fallback::none;
  --plain_calls_left_;
  return reason_;
}

// Starts a back-off. `trial`: time of a call of the trial that showed that plain MPI is better; `lost`: what
// all trials have lost since the last back-off. Both in plain calls.
void Autotuner::back_off(Fallback why, float trial, float lost) noexcept {
  const std::uint32_t least = std::max(calls_of(trial), 1U);
  reason_ = why;
  plain_calls_left_ = std::max({backoff_, least, calls_of(calls_per_lost_call * lost)});
  backoff_ = std::max(std::min(2 * plain_calls_left_, max_backoff * least), plain_calls_left_);
  coded_.clear();  // after the back-off, compressed calls are measured anew
  routes_.begin_backoff();
  calls_lost_ = 0;
}

// Begins a trial of plain MPI. The first one is this call, because compressed calls may prove very slow.
// Later ones begin with the next call: the values of this one have been sampled.
Fallback Autotuner::begin_trial() noexcept {
  const bool at_once = plain_.calls() == 0;
  calls_since_trial_ = 0;
  predicted_at_trial_ = 0;
  trial_interval_ = std::min(2 * trial_interval_, max_backoff);
  trial_in_progress_ = true;
  plain_.clear();
  if (at_once) return Fallback::trial;
  reason_ = Fallback::trial;
  plain_calls_left_ = 1;
  return Fallback::none;
}

// A trial takes `trial_calls` calls, or one if plain MPI is clearly slower. The call after the trial is
// compared by its own agreement.
Fallback Autotuner::continue_trial(const Timing& agreed) noexcept {
  const bool ends = plain_.calls() >= trial_calls || agreed.plain > clear_time_ratio * agreed.coded;
  if (!ends) {
    reason_ = Fallback::trial;
    plain_calls_left_ = trial_calls - std::min(plain_.calls() + 1, trial_calls);
    return Fallback::trial;
  }
  trial_in_progress_ = false;
  return Fallback::none;
}

// Returns true if a plain call would take little of the time since the last trial of plain MPI. The time of a
// plain call is that of the last trial, scaled down if its prediction has become shorter since. The
// prediction alone may be far off: a rank that waits for another rank's encoding predicts a slow link, and a
// rank that codes while messages move predicts a fast one.
bool Autotuner::plain_trial_is_due(const Timing& agreed) const noexcept {
  const float change = predicted_at_trial_ > 0 ? std::min(agreed.predicted / predicted_at_trial_, 1.0F) : 1;
  const float plain = agreed.plain * change;
  return static_cast<float>(calls_since_trial_) * agreed.coded >=
         static_cast<float>(trial_interval_) * std::max(plain, agreed.coded);
}

Fallback Autotuner::update(const Agreed& agreed) noexcept {
  if (agreed.fallback == Fallback::no_gain || agreed.fallback == Fallback::packed) {
    cached_candidate_.forget();
    const Timing& times = agreed.timing;
    if (!agreed.by_cached_candidate)
      back_off(Fallback::no_gain, times.plain > 0 ? times.declined / times.plain : 0, 0);
  }
  if (agreed.fallback == Fallback::device) codings_ = {};  // a codec that was chosen may lack kernels
  if (agreed.fallback != Fallback::none) return agreed.fallback;
  cached_candidate_.choose(agreed.candidate, agreed.ratio);
  if (std::exchange(on_devices_, agreed.on_devices) != agreed.on_devices) {  // other routes, other times
    measure_anew();
    return Fallback::none;
  }
  Timing times = agreed.timing;
  if (agreed.only_if_profitable) codings_.note(times.plain > 0 ? times.plain : times.predicted);
  const bool was_trying = routes_.is_trying();
  if (was_trying || !agreed.only_if_profitable) {
    const bool better = routes_.update(agreed.route, times, coded_.calls(), agreed.others);
    if (better) {
      coded_ = routes_.tried_times();
      times.coded = times.tried;
      predicted_.clear();
      times.predicted = 0;  // that of the former route
      predicted_at_trial_ = 0;
    }
    if (routes_.is_trying() || !agreed.only_if_profitable) return Fallback::none;
  }
  const Fallback why = compare(times, agreed);
  if (why != Fallback::none) return why;
  if (!was_trying) {
    const bool tried_both = routes_.tried_other_way();
    routes_.update(agreed.route, times, coded_.calls(), agreed.others);
    if (!tried_both && routes_.tried_other_way()) calls_lost_ += lost_by(coded_, times.coded, times);
  }
  // A call that was planned by a route which has just lost is better plain.
  const bool lost = was_trying && !routes_.is_usual(agreed.route) && times.plain > 0;
  return lost && times.plain < times.tried ? Fallback::trial : Fallback::none;
}

// Forgets the times of compressed calls, after a change of how they are served.
void Autotuner::measure_anew() noexcept {
  routes_ = {};
  coded_.clear();
  predicted_.clear();
  predicted_at_trial_ = 0;
}

void Autotuner::choose(MeasuredChoice coding) noexcept {
  const bool other = coding != codings_.choice();
  codings_.choose(coding);
  if (!other) return;
  measure_anew();
  cached_candidate_.forget();
}

// Compares the times of plain and compressed calls. Returns the fallback if plain MPI is faster, or is tried.
Fallback Autotuner::compare(const Timing& times, const Agreed& agreed) noexcept {
  ++calls_since_trial_;
  if (predicted_at_trial_ == 0) predicted_at_trial_ = times.predicted;
  if (coded_.calls() == 0) return Fallback::none;  // this call is the first measurement
  if (plain_.calls() == 0) return begin_trial();
  if (times.coded > times.plain) {
    const bool first = coded_.calls() == 1 && !routes_.tried_other_way();
    const float clear = first ? clear_time_ratio_of_one_call : clear_time_ratio;
    const bool undecided = coded_.calls() < trial_calls && times.coded < clear * times.plain;
    return undecided ? Fallback::none : leave_to_plain(times, agreed);
  }
  backoff_ = 1;
  calls_lost_ = 0;
  return plain_trial_is_due(times) ? begin_trial() : Fallback::none;
}

// Leaves a call to plain MPI, which is faster than the usual route: the other way is tried from the next call
// on, or a back-off begins.
Fallback Autotuner::leave_to_plain(const Timing& times, const Agreed& agreed) noexcept {
  const bool tried_both = routes_.tried_other_way();
  calls_lost_ +=
      tried_both ? lost_by(routes_.tried_times(), times.tried, times) : lost_by(coded_, times.coded, times);
  if (routes_.begin_other_way(agreed.route, agreed.others)) return Fallback::trial;
  back_off(Fallback::slower, times.coded / times.plain, calls_lost_);
  return Fallback::slower;
}

}  // namespace taut

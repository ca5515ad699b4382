#include "communication/policy/tuning/trial_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "communication/policy/tuning/overlap_tuner.hpp"

namespace taut {
namespace {

constexpr double max_simulated_calls = 4096;
constexpr std::size_t bytes = 1;  // of a call; the tuners compare seconds for each byte

// Simulates the tuner's decision on one call of the kind. Returns true if plain MPI serves the call.
bool simulate(Autotuner& tuner, const SteadyCalls& kind) {
  Fallback why = tuner.next();
  if (why == Fallback::none && tuner.is_trying_plain()) why = tuner.continue_trial(tuner.own());
  if (why == Fallback::none) why = tuner.update({.timing = tuner.own()});
  if (why == Fallback::none)
    tuner.record(Outcome::compressed, kind.coded_seconds, bytes, {}, kind.predicted_seconds);
  else
    tuner.record(Outcome::plain, kind.plain_seconds, bytes);
  return why != Fallback::none;
}

bool simulate(OverlapTuner& tuner, const SteadyCalls& kind) {
  const PeriodPosition at = tuner.next();
  const Fallback why = at.opens() ? at.period->decide(Fallback::none, tuner.own()) : at.fallback();
  if (why == Fallback::none)
    tuner.coded_times().note(kind.coded_seconds, bytes);
  else
    tuner.plain_times().note(kind.plain_seconds, bytes);
  return why != Fallback::none;
}

double simulate_calls(auto tuner, const SteadyCalls& kind, int calls) {
  double trials = 0;
  for (int i = 0; i < calls; ++i) trials += simulate(tuner, kind) ? 1 : 0;
  return trials;
}

}  // namespace

double plain_trials(const SteadyCalls& kind) {
  if (kind.calls < 1 || kind.plain_seconds <= kind.coded_seconds) return 0;
  const double simulated = std::min(std::floor(kind.calls), max_simulated_calls);
  const auto calls = static_cast<int>(simulated);
  const double trials =
      kind.overlap ? simulate_calls(OverlapTuner(), kind, calls) : simulate_calls(Autotuner(), kind, calls);
  return trials * kind.calls / simulated;
}

}  // namespace taut

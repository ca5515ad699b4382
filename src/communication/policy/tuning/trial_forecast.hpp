// Forecast of the tuners' trials: the number of calls that go to plain MPI though compression is faster.
#pragma once

namespace taut {

// Calls of one kind that always take the same times.
struct SteadyCalls {
  double calls = 0;
  double plain_seconds = 0, coded_seconds = 0;  // of one call
  double predicted_seconds = 0;  // of a plain call, predicted from the link's speed in compressed calls
  bool overlap = false;          // nonblocking or persistent calls
};

// Returns the number of calls that Autotuner or OverlapTuner leaves to plain MPI, where compressed calls are
// faster. The first calls are simulated; the later ones are assumed to have trials as often.
double plain_trials(const SteadyCalls& kind);

}  // namespace taut

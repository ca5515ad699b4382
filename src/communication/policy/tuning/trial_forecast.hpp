// Forecast of the tuners' trials: the number of calls that go to plain MPI though compression is faster.
#pragma once

namespace taut {

// Calls of one kind that always take the same times.
struct SteadyCalls {
  double calls = 0;
  double plain_seconds = 0, coded_seconds = 0;  // of one call
  double predicted_seconds = 0;                 // of a plain call, by the link's speed in compressed calls
  bool overlap = false;                         // nonblocking or persistent calls
};

// Returns the number of plain calls among compressed ones, as Autotuner or OverlapTuner makes them.
// Compressed calls have to be the faster ones. The trials of the first calls are counted one by one; the
// share of the later ones is that of all before.
double plain_trials(const SteadyCalls& kind);

}  // namespace taut

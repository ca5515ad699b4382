// Overlap tuner: the measured times of one kind of call whose calls may overlap others, and the decision for
// each call: compress it, or leave it to plain MPI. Overlapping calls may complete in different orders on
// different ranks, so no decision may depend on which calls have completed on a rank. Two inputs decide, both
// equal on all ranks: the number of the call in the order of the starts, and times that the ranks agree on.
//
// The calls of a kind form tuning periods of fixed, growing lengths. The first call of a period opens it: its
// agreement merges the times that the ranks have measured so far, and these times decide on the whole period.
// The other calls of the period are in flight while they wait for this decision. If it is plain MPI, they
// need no agreement of their own. The last calls of a period are a trial of the slower way, unless the trial
// would cost more than a few per cent of the period. Without a trial the times of the slower way become
// stale. The next period then repeats the decision of this period, whatever the agreed times are, and ends
// with a trial.
#pragma once

#include <memory>

#include "communication/policy/tuning/autotuner.hpp"

namespace taut {

// Tuning period: consecutive calls of a kind, with one decision for all of them.
struct TuningPeriod {
  // Decides on the period, once the previous one is decided. `agreed`: reason why the ranks cannot compress
  // the opening call, if there is one. Returns the fallback of the opening call.
  Fallback decide(Fallback agreed, const Timing& agreed_times) noexcept;

  // Returns true if this period measures one of the two ways only, so that the times of the other way are
  // old.
  bool measures_one_way() const noexcept {
    return !has_trial && (usual_fallback == Fallback::none || usual_fallback == Fallback::slower);
  }

  std::uint32_t usual_calls = 0;             // number of calls before the trial
  std::shared_ptr<TuningPeriod> previous;    // null once this period is decided
  bool decided = false;                      // the ranks have agreed on the opening call
  Fallback usual_fallback = Fallback::none;  // of the calls before the trial; none: they are compressed
  bool has_trial = false;                    // the calls from number usual_calls on are served the other way
};

class OverlapTuner;

// Position of a call in its tuning period.
struct PeriodPosition {
  bool opens() const noexcept { return number == 0; }

  // Returns the period whose decision the call waits for; null: none.
  const TuningPeriod* awaited() const noexcept { return opens() ? period->previous.get() : period.get(); }

  // Returns the fallback of a call that does not open its period, which is decided.
  Fallback fallback() const noexcept;

  std::shared_ptr<TuningPeriod> period;
  std::uint32_t number = 0;
  OverlapTuner* tuner = nullptr;  // records the time of the call
};

// The tuner of one kind of call. Hands out the positions of calls, and keeps their times.
class OverlapTuner {
 public:
  // Calls of a period before its trial: in the first period, from one period to the next, and at most.
  static constexpr std::uint32_t first_length = 4, length_growth = 4, max_length = 1024;
  static constexpr std::uint32_t trial_calls = 3;
  static constexpr float max_trial_share = 0.05F;  // greatest cost of a trial, as a share of its period

  // Returns the position of the next call, in the order of the starts. Throws std::bad_alloc.
  PeriodPosition next();

  // Times from start to completion on this rank, which may differ from those of other ranks.
  RecentTimes& plain_times() noexcept { return plain_; }
  RecentTimes& coded_times() noexcept { return coded_; }
  Timing own() const noexcept { return {.plain = plain_.median(), .coded = coded_.median()}; }

 private:
  std::shared_ptr<TuningPeriod> period_;
  std::uint32_t number_ = 0;  // of the next call in this period
  RecentTimes plain_, coded_;
};

}  // namespace taut

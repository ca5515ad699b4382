// SlotTrial decides by measured times whether the calls of one kind travel in slots (capacity_mode.hpp) or
// as the tuner serves them, with exact sizes or by NCCL alone.
//
// The first calls have exact sizes, so that the tuner knows its fastest way; the last of them are timed. A
// few calls in slots follow, and the medians of both are compared. If slots are slower, the next calls have
// exact sizes, for a back-off in proportion to what the trial lost, and at least for a number that doubles
// with each loss in a row. While slots are faster, exact sizes are timed again at intervals that double too.
// Each call in slots has an agreement on the times, and all else follows from the order of the calls, so that
// all ranks decide alike.
#pragma once

#include "communication/policy/tuning/autotuner.hpp"

namespace taut::nccl {

// Seconds per byte of message; 0: not known.
struct SlotTimes {
  float exact = 0, slots = 0;
};

// The trial of one kind of call.
class SlotTrial {
 public:
  // Numbers of calls with exact sizes before the first trial, and of those before each trial that are timed.
  static constexpr std::uint32_t first_exact = 12, timed_exact = RecentTimes::capacity;
  // First and greatest value of both: the interval of trials while slots are faster, and the minimum
  // back-off.
  static constexpr std::uint32_t first_trial_interval = 96, max_trial_interval = 1024;

  // Counts a call. Returns true if it travels in slots.
  bool next() noexcept;

  // Returns true if the time of the call with exact sizes is to be recorded.
  bool is_timed() const noexcept { return exact_calls_left_ < timed_exact; }

  void record_exact(double seconds, std::size_t bytes) noexcept { exact_.note(seconds, bytes); }
  // Records a call in slots, after update(). Skips the first call, which also allocates memory, and each call
  // whose update() has begun a new comparison.
  void record_slots(double seconds, std::size_t bytes) noexcept;
  SlotTimes own() const noexcept { return {exact_.median(), slots_.median()}; }

  // Decides on the next calls, after a call in slots. `agreed`: the longest times of all ranks.
  void update(const SlotTimes& agreed) noexcept;

 private:
  void compare_after(std::uint32_t exact_calls) noexcept;

  RecentTimes exact_, slots_;
  std::uint32_t exact_calls_left_ = first_exact;         // before the next call in slots
  std::uint32_t calls_since_trial_ = 0;                  // calls in slots since the last comparison
  std::uint32_t trial_interval_ = first_trial_interval;  // calls in slots between comparisons; never shrinks
  // Least number of calls with exact sizes after the next lost trial. A trial that slots win resets it.
  std::uint32_t min_backoff_ = first_trial_interval;
  bool comparing_ = true;
  bool skips_record_ = true;  // of the next call in slots
};

}  // namespace taut::nccl

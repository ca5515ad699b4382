// SlotTrial: decides by measured times whether the calls of one kind travel in slots (capacity_mode.hpp) or
// as the tuner serves them, with exact sizes or by NCCL alone.
//
// The first calls have exact sizes, so that the tuner knows its fastest way; the last of them are timed. A
// few calls in slots follow; medians count, because some calls are disturbed. If slots are slower, exact
// sizes serve the next calls, for longer after each trial that loses again. While slots are faster, exact
// sizes are timed again from time to time. Each call in slots has an agreement on the times, and all else
// follows from the order of the calls, so that all ranks decide alike.
#pragma once

#include "communication/policy/tuning/autotuner.hpp"

namespace taut::nccl {

// Seconds per byte of message; 0: not known.
struct SlotTimes {
  float exact = 0, slots = 0;
};

class SlotTrial {
 public:
  // Calls until the first trial, timed calls before each, and calls between trials.
  static constexpr std::uint32_t first_exact = 12, timed_exact = RecentTimes::capacity, first_distance = 96,
                                 longest_distance = 1024;

  // Counts a call. Returns true if it travels in slots.
  bool next() noexcept;

  // Returns true if the time of the call with exact sizes is to be recorded.
  bool is_timed() const noexcept { return left_ < timed_exact; }

  void record_exact(double seconds, std::size_t bytes) noexcept { exact_.note(seconds, bytes); }
  // Records a call in slots, after update(). The first one also allocates memory, and one that begins a
  // comparison is older than its calls: both are left out.
  void record_slots(double seconds, std::size_t bytes) noexcept;
  SlotTimes own() const noexcept { return {exact_.typical(), slots_.typical()}; }

  // Decides on the next calls, after the agreement of a call in slots on the times of all ranks.
  void update(const SlotTimes& agreed) noexcept;

 private:
  void compare_after(std::uint32_t exact_calls) noexcept;

  RecentTimes exact_, slots_;
  std::uint32_t left_ = first_exact;                    // calls with exact sizes before the next in slots
  std::uint32_t since_ = 0, between_ = first_distance;  // calls in slots since a comparison; until the next
  std::uint32_t backoff_ = first_distance;              // calls with exact sizes after a lost trial
  bool comparing_ = true;
  bool leaves_out_ = true;  // the time of the next call in slots
};

}  // namespace taut::nccl

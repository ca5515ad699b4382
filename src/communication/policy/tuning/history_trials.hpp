// History trials: decide by measured times whether the calls of a series have a history
// (communication/comm/history.hpp). A history costs coding time and copies on every rank, which the bytes
// that it saves have to outweigh.
//
// The first calls of a series have no history. The next ones have one, until their time can be compared with
// that of the first ones. A series whose calls are slower with a history goes without for a back-off, which
// is the longer, the more the trial has lost. A series that gains is compared again from time to time, sooner
// if its times have changed, and at once if they exceed those that calls without a history had: a few calls
// then go without. The times go through the agreement, so that all ranks decide alike.
#pragma once

#include "communication/policy/tuning/autotuner.hpp"

namespace taut {

// Seconds per byte of message, without a history and with one; 0: not known.
struct HistoryTimes {
  float without_history = 0, with_history = 0;
};

// The trials of one series of calls.
class HistoryTrials {
 public:
  static constexpr std::uint32_t calls_without = 3, calls_with = 3;  // timed before a comparison
  static constexpr std::uint32_t first_trial_interval = 64, max_trial_interval = 1024;  // in calls

  // Counts a call. Returns true if it is to go without a history. Another coding is compared anew.
  bool next(MeasuredChoice coding) noexcept;

  HistoryTimes own() const noexcept;  // on this rank

  // Returns true if the call keeps its history, as the times of all ranks decide: the same on all ranks.
  bool keeps_history(const HistoryTimes& agreed) noexcept;

  // Record the time of a call on this rank, by its route, without and with a history.
  void record_without(double seconds, std::size_t bytes, const Route& route) noexcept;
  void record_with(double seconds, std::size_t bytes, const Route& route) noexcept;
  // Records a call that found fewer than `needed` states of earlier calls to refer to, and has left one.
  void record_without_state(std::size_t needed) noexcept;

  // Records a call that is not compressed. If it was to go without a history, there is nothing to compare
  // with; a call with one tells nothing about those without.
  void record_no_gain(bool with_history) noexcept;

 private:
  void measure_without() noexcept;
  void back_off(float slowdown) noexcept;

  RecentTimes without_history_, with_history_;
  Route route_;                                          // of the calls that are timed
  std::uint32_t calls_without_left_ = calls_without;     // calls to be timed without a history
  std::uint32_t backoff_left_ = 0, backoff_ = 0;         // calls left of the back-off; its length
  std::uint32_t calls_since_trial_ = 0;                  // calls with a history since the last comparison
  std::uint32_t trial_interval_ = first_trial_interval;  // calls with a history between comparisons
  std::uint32_t pause_after_trial_ = 0;                  // least such calls, for what the last one lost
  float with_history_at_trial_ = 0;                      // agreed time with a history at the last comparison
  std::size_t calls_without_state_ = 0;                  // calls in a row that could refer to no state
  bool compared_ = false;                                // the times with a history and without were compared
  bool no_gain_without_ = false;                         // calls without a history are not compressed
};

}  // namespace taut

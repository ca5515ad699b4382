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
  float alone = 0, referring = 0;
};

class HistoryTrials {
 public:
  static constexpr std::uint32_t alone_calls = 3, referring_calls = 3;          // before a comparison
  static constexpr std::uint32_t first_distance = 64, longest_distance = 1024;  // calls between trials

  // Counts a call. Returns true if it is to go without a history. Another coding is compared anew.
  bool next(MeasuredChoice coding) noexcept;

  HistoryTimes own() const noexcept;  // on this rank

  // Decides on a call that would have a history, by the times of all ranks. Returns true if it has one. The
  // result depends on `agreed` alone, so that it is the same on all ranks.
  bool pays(const HistoryTimes& agreed) noexcept;

  // Record the time of a call on this rank, by its route. record_filling(): the call had no references, as
  // the series held fewer than `needed` states; it has left one more.
  void record_alone(double seconds, std::size_t bytes, const Route& route) noexcept;
  void record_referring(double seconds, std::size_t bytes, const Route& route) noexcept;
  void record_filling(std::size_t needed) noexcept;

  // Records a call that is not compressed. If it was to go without a history, there is nothing to compare
  // with; a call with one tells nothing about those without.
  void record_no_gain(bool with_history) noexcept;

 private:
  void measure_alone() noexcept;
  void rest(float times) noexcept;

  RecentTimes alone_, referring_;
  Route route_;                                          // of the calls that are timed
  std::uint32_t alone_left_ = alone_calls;               // calls to be timed without a history
  std::uint32_t rest_ = 0, rested_ = 0;                  // calls left in the back-off; length of the last one
  std::uint32_t since_ = 0;                              // calls with a history since the last comparison
  std::uint32_t distance_ = first_distance, pause_ = 0;  // calls until the next comparison
  float referring_then_ = 0;                             // agreed time with a history at the last comparison
  std::size_t filling_ = 0;                              // calls in a row that could refer to no state
  bool compared_ = false;                                // the times with a history and without were compared
  bool declines_ = false;                                // calls without a history are not compressed
};

}  // namespace taut

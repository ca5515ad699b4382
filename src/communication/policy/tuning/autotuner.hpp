// Autotuner: the measured times of one kind of call on a communicator, and the decision for the next call:
// compress it, or leave it to plain MPI. Decisions follow from the order of the calls and from what the ranks
// agreed on, so that they are the same on every rank.
//
// The first call is compressed, the second one is plain. Where nodes have several ranks, calls by the other
// way follow: by nodes if the first call was not, and else not. After ten calls the fastest of the three is
// known (docs/adr/0100). From then on trials of slower ways are so rare that they lose the time of at most
// one call in `calls_per_lost_call`.
//
// In a back-off, plain MPI serves every call, at the cost of one lookup. While compression is
// faster, every call has its agreement anyway, and its times on the link predict the time of a plain call.
// The longer a plain call, the more compressed calls lie between two trials of plain MPI. The calls of a
// trial need no agreement, except that the ranks compare their times before the second call and after the
// last one, without samples. While plain MPI is faster, or compression gains nothing, calls go to plain MPI
// without an agreement for a back-off: first for `calls_per_lost_call` times as long as the trial lost, then
// twice as long after every trial that loses again, up to `max_backoff` times as long as the trial took.
#pragma once

#include <algorithm>
#include <array>

#include "communication/policy/plan/plan.hpp"

namespace taut {

// Times of the calls of one kind, in seconds per byte of message; 0: not known.
struct Timing {
  float plain = 0;
  float coded = 0;      // compressed, agreement included
  float predicted = 0;  // plain, predicted from the speed of the link in compressed calls
  float tried = 0;      // compressed, by the route that is tried
  float declined = 0;   // agreements that found no gain, samples included
};

// Times of the last few calls, in seconds per byte of message. The median counts, because some calls are
// disturbed.
class RecentTimes {
 public:
  static constexpr std::uint32_t capacity = 5;

  void note(double seconds, std::size_t bytes) noexcept {
    const auto all = static_cast<double>(std::max<std::size_t>(bytes, 1));
    seconds_per_byte_[calls_++ % capacity] = static_cast<float>(seconds / all);
  }
  void clear() noexcept { calls_ = 0; }
  std::uint32_t calls() const noexcept { return std::min(calls_, capacity); }
  float min() const noexcept {  // 0: no calls
    float min = calls_ == 0 ? 0 : seconds_per_byte_[0];
    for (std::uint32_t i = 1; i < calls(); ++i) min = std::min(min, seconds_per_byte_[i]);
    return min;
  }
  // Returns the median, the lower one of an even number of times; 0: no calls.
  float median() const noexcept {
    const std::span<const float> all(seconds_per_byte_.data(), calls());
    for (const float timing : all) {
      const auto below = std::ranges::count_if(all, [=](float other) { return other < timing; });
      const auto up_to = std::ranges::count_if(all, [=](float other) { return other <= timing; });
      const std::ptrdiff_t middle = (std::ssize(all) - 1) / 2;
      if (below <= middle && middle < up_to) return timing;
    }
    return 0;
  }

 private:
  std::array<float, capacity> seconds_per_byte_{};
  std::uint32_t calls_ = 0;
};

// Ratio of two times from which on their order is clear. With a smaller ratio, the next call may change the
// order. The first compressed call also allocates memory, so that its time alone needs a larger ratio.
inline constexpr float clear_time_ratio = 1.3F, clear_time_ratio_of_one_call = 4;

inline constexpr std::uint32_t trial_calls = 3;   // calls of a trial, unless its outcome is clear before
inline constexpr float calls_per_lost_call = 50;  // calls that have to pass for each one that trials lose

// Route trials: find the fastest route of a kind of call. The usual route is the fastest so far. A route of
// the other way, not by nodes if the usual one is by nodes, and else by nodes, is tried at once, and again
// after each back-off. From time to time another route is tried, for a few calls or until it is clearly
// slower.
class RouteTrials {
 public:
  static constexpr std::uint32_t first_trial_interval = 96, max_trial_interval = 1024;  // in calls

  // Returns the route of the next call; without an algorithm, the plan chooses.
  Route next() const noexcept { return is_trying() ? tried_ : usual_; }

  // Updates the trials after an agreement on a call by `route`, with the times of all ranks. `usual_calls`:
  // recorded calls by the usual route. `others`: routes that would serve the call as well. Returns true if
  // one of the others has become the usual route.
  bool update(const Route& route, const Timing& agreed, std::uint32_t usual_calls,
              std::span<const Route> others) noexcept;

  // Begins a trial of the other way unless it has been tried since the last back-off. Returns true if the
  // trial begins: with the next call.
  bool begin_other_way(const Route& route, std::span<const Route> others) noexcept;
  void begin_backoff() noexcept { tried_other_way_ = false; }

  bool is_trying() const noexcept { return tried_.algorithm != nullptr; }
  bool tried_other_way() const noexcept { return tried_other_way_; }
  bool is_usual(const Route& route) const noexcept { return route == usual_; }
  bool is_tried(const Route& route) const noexcept { return is_trying() && route == tried_; }
  RecentTimes& tried_times() noexcept { return tried_times_; }
  const RecentTimes& tried_times() const noexcept { return tried_times_; }

 private:
  bool decide(const Timing& agreed) noexcept;
  void begin(std::span<const Route> others) noexcept;

  Route usual_, tried_;
  RecentTimes tried_times_;
  std::uint32_t trial_interval_ = first_trial_interval, calls_since_trial_ = 0;
  std::uint32_t pause_after_trial_ = 0;  // calls that have to follow the last trial, for what it lost
  std::size_t next_alternative_ = 0;     // index of the route that is tried next
  bool tried_other_way_ = false;
};

// Coding trials: when the speeds of the codings of a kind of call are measured, and the coding that was
// chosen by them. The speeds are measured once a plain call has been timed, and again after eight times as
// many calls each time.
class CodingTrials {
 public:
  static constexpr std::uint32_t first_interval = 2, interval_growth = 8;  // the interval is in calls

  bool are_due() const noexcept {
    return plain_seconds_per_byte_ > 0 && calls_since_trial_ >= trial_interval_;
  }
  double plain_seconds_per_byte() const noexcept { return double{plain_seconds_per_byte_}; }
  MeasuredChoice choice() const noexcept { return choice_; }

  // Notes a compressed call, and the time of plain MPI that the ranks agreed on; 0: not known.
  void note(float plain_seconds_per_byte) noexcept {
    plain_seconds_per_byte_ = plain_seconds_per_byte;
    calls_since_trial_ = std::min(calls_since_trial_ + 1, trial_interval_);
  }
  void choose(MeasuredChoice choice) noexcept {
    choice_ = choice;
    trial_interval_ = std::min(interval_growth * trial_interval_, max_trial_interval);
    calls_since_trial_ = 0;
  }

 private:
  static constexpr std::uint32_t max_trial_interval = std::uint32_t{1} << 20;
  MeasuredChoice choice_;
  float plain_seconds_per_byte_ = 0;
  std::uint32_t calls_since_trial_ = 0, trial_interval_ = first_interval;
};

// Result of an agreement on one call, the same on every rank.
struct Agreed {
  Fallback fallback = Fallback::none;  // reason why the call is not compressed
  std::size_t candidate = 0;           // the best of the sampled candidates
  float ratio = 0;                     // its ratio
  bool by_cached_candidate = false;    // only the cached candidate was sampled
  bool only_if_profitable = true;      // plain MPI serves the call if that is faster
  Timing timing = {};                  // times of all ranks
  Route route = {};                    // planned route
  std::span<const Route> others = {};  // routes that would serve the call as well
  bool on_devices = false;  // some rank has its values on a GPU, and the route does not change the result
};

// Outcome of a call, for its record.
enum class Outcome : std::uint8_t {
  plain,      // plain MPI served the call
  declined,   // the ranks agreed that compression gains nothing; the time is that of the agreement
  compressed  // the call was compressed
};

// The autotuner of one kind of call.
class Autotuner {
 public:
  static constexpr std::uint32_t max_backoff = 256;  // in the time of one call of the trial before

  // Returns the fallback if the next call goes to plain MPI at once, otherwise `none`. To be called once for
  // each call, in the order of the calls.
  Fallback next() noexcept;

  // Returns the route of the next call; without an algorithm, the plan chooses.
  Route route() const noexcept {
    Route route = routes_.next();
    route.on_devices = on_devices_;
    route.coding = codings_.choice();
    return route;
  }

  // Returns the trials of codings if the coding of the next call is to be chosen anew, else null.
  const CodingTrials* due_codings() const noexcept {
    return codings_.are_due() && !on_devices_ ? &codings_ : nullptr;
  }

  // Serves the calls from now on by a coding that the ranks agreed on.
  void choose(MeasuredChoice coding) noexcept;

  // Returns the candidate that the ranks last agreed on, if it is still valid.
  std::optional<std::size_t> cached_candidate() const noexcept { return cached_candidate_.get(); }

  // Returns true if a trial of plain MPI is in progress: times alone may send the next call to plain MPI, so
  // that the ranks agree on them before they look at its values.
  bool is_trying_plain() const noexcept { return trial_in_progress_; }

  // Continues or ends a trial by the times of all ranks. Returns the fallback if this very call goes to plain
  // MPI, otherwise `none`.
  Fallback continue_trial(const Timing& agreed) noexcept;

  // Learns from an agreement. Returns the fallback if this very call goes to plain MPI, otherwise `none`.
  Fallback update(const Agreed& agreed) noexcept;

  // Returns true if the time of a call in back-off may still matter when the back-off is over.
  bool needs_time() const noexcept { return plain_calls_left_ < RecentTimes::capacity; }

  // Records the time of a call on this rank. The number of recorded calls is the same on every rank. A
  // compressed call has its route, and the time that plain MPI would have taken by the speed of the link.
  void record(Outcome outcome, double seconds, std::size_t bytes, const Route& route = {},
              double predicted = 0) noexcept;
  Timing own() const noexcept;

  // Returns true if a compressed call is not to be recorded: the first few calls in a row that try a history
  // (history_trials.hpp) are slower than those that follow. Called for each compressed call.
  bool skips_record(bool tries_history) noexcept {
    history_tries_ = tries_history ? history_tries_ + 1 : 0;
    return tries_history && history_tries_ <= max_skipped;
  }

  RecentTimes& plain_times() noexcept { return plain_; }

 private:
  Fallback compare(const Timing& times, const Agreed& agreed) noexcept;
  Fallback begin_trial() noexcept;
  Fallback leave_to_plain(const Timing& times, const Agreed& agreed) noexcept;
  void measure_anew() noexcept;
  void back_off(Fallback why, float trial, float lost) noexcept;
  bool plain_trial_is_due(const Timing& agreed) const noexcept;

  static constexpr std::uint32_t max_skipped = 8;  // calls in a row that are not recorded

  RecentTimes plain_, coded_, predicted_, declined_;
  RouteTrials routes_;
  CodingTrials codings_;
  bool on_devices_ = false;              // as the last agreement has shown
  bool trial_in_progress_ = false;       // of plain MPI
  Fallback reason_ = Fallback::none;     // reason of the plain calls that are left
  std::uint32_t backoff_ = 1;            // calls of the next back-off
  std::uint32_t plain_calls_left_ = 0;   // calls left of a back-off or of a trial
  std::uint32_t trial_interval_ = 16;    // least time between trials of plain MPI, in plain calls
  float predicted_at_trial_ = 0;         // agreed prediction after the last trial of plain MPI; 0: not known
  std::uint32_t calls_since_trial_ = 0;  // compressed calls since the last trial of plain MPI
  std::uint32_t history_tries_ = 0;      // calls in a row that tried a history
  float calls_lost_ = 0;                 // time that trials have lost since the last back-off, in plain calls
  CandidateCache cached_candidate_;
};

}  // namespace taut

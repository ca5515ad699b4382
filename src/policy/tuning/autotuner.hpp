// Autotuner: the measured times of one kind of call on a communicator, and the decision for the next call:
// compress it, or leave it to plain MPI. Decisions follow from the order of the calls and from what the ranks
// agreed on, so that they are the same on every rank.
//
// A call in back-off costs one lookup in this table. While compression is faster, every call has its
// agreement anyway, and its times on the link predict the time of a plain call. Plain MPI is tried only if
// the prediction comes near the time of compressed calls. While plain MPI is faster, or compression gains
// nothing, calls go to plain MPI without an agreement for a back-off: first for as long as the trial took
// that showed it, then twice as long after every trial that shows it again, up to `longest_backoff` times.
// All trials together cost a few per cent of a thousand such times, later less than one in `longest_backoff`.
#pragma once

#include <array>

#include "policy/plan/plan.hpp"
#include "policy/tuning/candidate_cache.hpp"
#include "policy/tuning/route_trials.hpp"

namespace taut {

class Autotuner {
 public:
  static constexpr std::uint32_t longest_backoff = 256;  // in units of the trial before

  // Returns the fallback if the next call goes to plain MPI at once, otherwise `none`. To be called once for
  // each call, in the order of the calls.
  Fallback next() noexcept;

  // Returns the fallback if this very call goes to plain MPI, otherwise `none`. To be called after an
  // agreement to compress the call; `agreed` holds the times of all ranks.
  Fallback update(const Timing& agreed) noexcept;

  // Returns the route of the next call; without an algorithm, the plan chooses.
  Route route() const noexcept { return routes_.next(); }

  // Updates the route trials, after an agreement to compress the call by `route`. `others` are routes that
  // might serve the call as well.
  void update_route(const Route& route, const Timing& agreed, std::span<const Route> others) noexcept;

  // Records an agreement that found no gain, by the cached candidate alone or by any candidate.
  void record_no_gain(bool by_cached_candidate, const Timing& agreed) noexcept;

  // Returns the candidate that the ranks last agreed on, if it is still valid.
  std::optional<std::size_t> cached_candidate() const noexcept { return cached_candidate_.get(); }

  // Records the candidate that the ranks agreed on, by samples of the cached candidate alone or of all
  // candidates.
  void choose(std::size_t candidate, float ratio) noexcept { cached_candidate_.choose(candidate, ratio); }

  // Returns true if the time of a call in back-off may still matter when the back-off is over.
  bool needs_time() const noexcept { return left_ < RecentTimes::most; }

  // Record the times of calls on this rank. The number of recorded calls is the same on every rank.
  void note_plain(double seconds, std::size_t bytes) noexcept { plain_.note(seconds, bytes); }
  void record_declined(double seconds, std::size_t bytes) noexcept { asked_.note(seconds, bytes); }
  void record_coded(const Route& route, double seconds, double predicted, std::size_t bytes) noexcept;
  Timing own() const noexcept;

 private:
  void back_off(Fallback why, float trial, float plain) noexcept;
  bool keeps_trying(const Timing& agreed) noexcept;

  RecentTimes plain_, coded_, predicted_, asked_;
  RouteTrials routes_;
  bool trying_ = false;                      // a trial of plain MPI is in progress
  Fallback why_ = Fallback::none;            // reason of the back-off
  std::uint32_t backoff_ = 1, left_ = 0;     // calls in the next back-off; calls left in this one
  std::uint32_t between_ = 16, since_ = 16;  // calls between trials of plain MPI: least, and since the last
  CandidateCache cached_candidate_;
};

// Table of autotuners by kind of call: collective, size class, and type and operator of a reduction, which
// every rank knows. It holds most_kinds kinds; further kinds replace others, the same on every rank.
class AutotunerTable {
 public:
  static constexpr std::size_t most_kinds = 64;
  Autotuner& of(const Call& call, std::size_t bytes) noexcept;

 private:
  struct Kind {
    std::uint32_t key = 0;  // 0: free
    Autotuner autotuner;
  };
  std::array<Kind, most_kinds> kinds_;
};

}  // namespace taut

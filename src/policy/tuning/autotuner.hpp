// What the calls of a communicator have shown, kind by kind, and what follows for the next one: is it worth
// while to compress it, or was plain MPI faster? All of it follows from the order of the calls and from what
// the ranks agreed on, so that it is the same on every rank.
//
// A plain call costs one look at this table. Where compressing is ahead every call has its agreement anyway,
// and what it shows of the link foretells the time of a plain one: only when that comes near are some tried.
// Where plain MPI is ahead, or nothing is gained, it is left to itself for a while: first for as long as the
// trial took that says so, then twice as long after every one that says the same, up to `longest_backoff`
// times: all of them cost a few per cent of a thousand such times, later less than one in `longest_backoff`.
#pragma once

#include <array>

#include "policy/plan/plan.hpp"
#include "policy/tuning/candidate_cache.hpp"
#include "policy/tuning/route_trials.hpp"

namespace taut {

class Autotuner {
 public:
  static constexpr std::uint32_t longest_backoff = 256;  // in units of the trial before it

  // Whether the next call goes to plain MPI at once, and why. To be asked once for each call, in their order.
  Fallback next() noexcept;

  // After an agreement that would have the call compressed: `agreed` is the pace of all ranks. Whether this
  // very call does go plain, and why.
  Fallback update(const Timing& agreed) noexcept;

  // The way for the next call; without an algorithm: as the plan chooses.
  Route route() const noexcept { return routes_.next(); }

  // After an agreement that has the call compressed, in that way; `others` might serve it as well.
  void update_route(const Route& route, const Timing& agreed, std::span<const Route> others) noexcept;

  // After an agreement that found nothing to gain by the favourite, or by any candidate.
  void record_no_gain(bool by_cached_candidate, const Timing& agreed) noexcept;

  // The candidate that the ranks last agreed on, if it will still do.
  std::optional<std::size_t> cached_candidate() const noexcept { return cached_candidate_.get(); }

  // What the ranks agreed on: by samples of it alone, or of all.
  void choose(std::size_t candidate, float ratio) noexcept { cached_candidate_.choose(candidate, ratio); }

  // Whether the time of a call just left to plain MPI may still matter when the rest is over.
  bool needs_time() const noexcept { return left_ < RecentTimes::most; }

  // How calls went on this rank. That they were made is known on every rank.
  void note_plain(double seconds, std::size_t bytes) noexcept { plain_.note(seconds, bytes); }
  void record_declined(double seconds, std::size_t bytes) noexcept { asked_.note(seconds, bytes); }
  void record_coded(const Route& route, double seconds, double predicted, std::size_t bytes) noexcept;
  Timing own() const noexcept;

 private:
  void back_off(Fallback why, float trial, float plain) noexcept;
  bool keeps_trying(const Timing& agreed) noexcept;

  RecentTimes plain_, coded_, predicted_, asked_;
  RouteTrials routes_;
  bool trying_ = false;                      // plain MPI
  Fallback why_ = Fallback::none;            // of the rest
  std::uint32_t backoff_ = 1, left_ = 0;     // the next rest; calls left of this one
  std::uint32_t between_ = 16, since_ = 16;  // trials of plain MPI: least distance; calls since the last
  CandidateCache cached_candidate_;
};

// Experiences by kind of call: collective, size to a power of two, and type and operator of a reduction,
// which no rank can do without knowing. So many kinds; more take the place of others, the same on every rank.
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

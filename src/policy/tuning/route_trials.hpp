// Which way serves calls of a kind best: now and then another one is tried, for a few calls or until it is
// clear that it is slower.
#pragma once

#include "policy/tuning/route.hpp"
#include "policy/tuning/timing.hpp"

namespace taut {

class RouteTrials {
 public:
  static constexpr std::uint32_t first_distance = 16, longest_distance = 1024;  // calls between trials

  // For the next call; without an algorithm: as the plan chooses.
  Route next() const noexcept { return is_trying() ? tried_ : usual_; }

  // After an agreement on a call in that way, with the paces of all ranks: what follows for the next call.
  // `others` might serve it as well. True if one of them has become the usual one.
  bool update(const Route& route, const Timing& agreed, std::uint32_t usual_calls,
              std::span<const Route> others) noexcept;

  bool is_usual(const Route& route) const noexcept { return route == usual_; }
  bool is_tried(const Route& route) const noexcept { return is_trying() && route == tried_; }
  RecentTimes& tried_calls() noexcept { return calls_; }
  const RecentTimes& tried_calls() const noexcept { return calls_; }

 private:
  bool is_trying() const noexcept { return tried_.algorithm != nullptr; }
  bool decide(const Timing& agreed) noexcept;
  void begin(std::span<const Route> others) noexcept;

  Route usual_, tried_;
  RecentTimes calls_;  // by the one that is tried
  std::uint32_t distance_ = first_distance, since_ = 0;
  std::size_t turn_ = 0;  // of the others
};

}  // namespace taut

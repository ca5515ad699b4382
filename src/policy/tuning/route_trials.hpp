// Route trials: find the fastest route of a kind of call. From time to time another route is tried, for a few
// calls or until it is clearly slower.
#pragma once

#include "policy/tuning/route.hpp"
#include "policy/tuning/timing.hpp"

namespace taut {

class RouteTrials {
 public:
  static constexpr std::uint32_t first_distance = 16, longest_distance = 1024;  // calls between trials

  // Returns the route of the next call; without an algorithm, the plan chooses.
  Route next() const noexcept { return is_trying() ? tried_ : usual_; }

  // Updates the trials after an agreement on a call by `route`, with the times of all ranks. `others` are
  // routes that might serve the call as well. Returns true if one of the others has become the usual route.
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
  RecentTimes calls_;  // times by the route that is tried
  std::uint32_t distance_ = first_distance, since_ = 0;
  std::size_t turn_ = 0;  // index of the next alternative
};

}  // namespace taut

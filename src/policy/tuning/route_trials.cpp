#include "policy/tuning/route_trials.hpp"

namespace taut {

bool RouteTrials::update(const Route& route, const Timing& agreed, std::uint32_t usual_calls,
                         std::span<const Route> others) noexcept {
  if (is_trying()) return decide(agreed);
  usual_ = route;
  if (++since_ > distance_ && usual_calls == RecentTimes::most) begin(others);
  return false;
}

bool RouteTrials::decide(const Timing& agreed) noexcept {
  if (calls_.calls() == 0) return false;
  const bool over = calls_.calls() == RecentTimes::most || agreed.other > clear_difference * agreed.coded;
  const bool better = over && agreed.other < agreed.coded;
  if (better) usual_ = tried_;
  if (over) tried_ = {};
  return better;
}

// Begins a trial of the next alternative. The distance between trials doubles after each round.
void RouteTrials::begin(std::span<const Route> others) noexcept {
  if (turn_ >= others.size()) {
    turn_ = 0;
    distance_ = std::min(2 * distance_, longest_distance);
  }
  if (others.empty()) return;
  since_ = 0;
  if (others[turn_] != usual_) tried_ = others[turn_];
  ++turn_;
  calls_.clear();
}

}  // namespace taut

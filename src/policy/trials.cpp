#include "policy/trials.hpp"

namespace taut {

bool Trials::learn(const Way& way, const Pace& agreed, std::uint32_t usual_calls,
                   std::span<const Way> others) noexcept {
  if (is_trying()) return decide(agreed);
  usual_ = way;
  if (++since_ > distance_ && usual_calls == Recent::most) begin(others);
  return false;
}

bool Trials::decide(const Pace& agreed) noexcept {
  if (calls_.calls() == 0) return false;
  const bool over = calls_.calls() == Recent::most || agreed.other > clear_difference * agreed.coded;
  const bool better = over && agreed.other < agreed.coded;
  if (better) usual_ = tried_;
  if (over) tried_ = {};
  return better;
}

// One of the others, in turn; twice as far apart each time round.
void Trials::begin(std::span<const Way> others) noexcept {
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

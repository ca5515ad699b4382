// Which way serves calls of a kind best: now and then another one is tried, for a few calls or until it is
// clear that it is slower.
#pragma once

#include "policy/pace.hpp"
#include "policy/way.hpp"

namespace taut {

class Trials {
 public:
  static constexpr std::uint32_t first_distance = 16, longest_distance = 1024;  // calls between trials

  // For the next call; without an algorithm: as the plan chooses.
  Way next() const noexcept { return is_trying() ? tried_ : usual_; }

  // After an agreement on a call in that way, with the paces of all ranks: what follows for the next call.
  // `others` might serve it as well. True if one of them has become the usual one.
  bool learn(const Way& way, const Pace& agreed, std::uint32_t usual_calls,
             std::span<const Way> others) noexcept;

  bool is_usual(const Way& way) const noexcept { return way == usual_; }
  bool is_tried(const Way& way) const noexcept { return is_trying() && way == tried_; }
  Recent& tried_calls() noexcept { return calls_; }
  const Recent& tried_calls() const noexcept { return calls_; }

 private:
  bool is_trying() const noexcept { return tried_.algorithm != nullptr; }
  bool decide(const Pace& agreed) noexcept;
  void begin(std::span<const Way> others) noexcept;

  Way usual_, tried_;
  Recent calls_;  // by the one that is tried
  std::uint32_t distance_ = first_distance, since_ = 0;
  std::size_t turn_ = 0;  // of the others
};

}  // namespace taut

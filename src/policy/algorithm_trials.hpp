// Which algorithm serves calls of a kind best: now and then another one is tried, for a few calls or until it
// is clear that it is slower. Only where all of them give the same bits, so that nothing but time depends
// on the choice.
#pragma once

#include "core/algorithm.hpp"
#include "policy/pace.hpp"

namespace taut {

class AlgorithmTrials {
 public:
  static constexpr std::uint32_t first_distance = 16, longest_distance = 1024;  // calls between trials

  // For the next call; null: the plan chooses.
  const AlgorithmInfo* next() const noexcept { return tried_ != nullptr ? tried_ : usual_; }

  // After an agreement on a call by `algorithm`, with the paces of all ranks: what follows for the next call.
  // `others` might serve it as well. True if one of them has become the usual one.
  bool learn(const AlgorithmInfo* algorithm, const Pace& agreed, std::uint32_t usual_calls,
             std::span<const AlgorithmInfo* const> others) noexcept;

  bool is_usual(const AlgorithmInfo* algorithm) const noexcept { return algorithm == usual_; }
  bool is_tried(const AlgorithmInfo* algorithm) const noexcept {
    return tried_ != nullptr && algorithm == tried_;
  }
  Recent& tried_calls() noexcept { return calls_; }
  const Recent& tried_calls() const noexcept { return calls_; }

 private:
  bool decide(const Pace& agreed) noexcept;
  void begin(std::span<const AlgorithmInfo* const> others) noexcept;

  const AlgorithmInfo *usual_ = nullptr, *tried_ = nullptr;
  Recent calls_;  // by the one that is tried
  std::uint32_t distance_ = first_distance, since_ = 0;
  std::size_t turn_ = 0;  // of the others
};

}  // namespace taut

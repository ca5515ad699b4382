// Candidate cache: the candidate that coded the last messages of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace taut {

class CandidateCache {
 public:
  static constexpr std::uint32_t samples_last = 32;

  // Returns the candidate that was last chosen, if it is still valid. It expires when its ratio changes, or
  // after `samples_last` messages. Then all candidates have to be sampled.
  std::optional<std::size_t> get() const noexcept {
    return left_ > 0 ? std::optional(candidate_) : std::nullopt;
  }

  // Records a choice, by samples of the cached candidate alone or of all candidates.
  void choose(std::size_t candidate, float ratio) noexcept {
    if (left_ == 0) {
      candidate_ = candidate;
      ratio_ = ratio;
      left_ = samples_last;
    } else if (ratio < 0.8F * ratio_ || ratio > 1.25F * ratio_) {
      left_ = 0;
    } else {
      --left_;
    }
  }

  void forget() noexcept { left_ = 0; }

 private:
  std::size_t candidate_ = 0;
  float ratio_ = 0;         // ratio when all candidates were sampled
  std::uint32_t left_ = 0;  // messages for which the candidate remains valid
};

}  // namespace taut

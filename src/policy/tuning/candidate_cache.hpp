// The candidate that coded the last messages of a kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace taut {

class CandidateCache {
 public:
  static constexpr std::uint32_t samples_last = 32;

  // The candidate that was last chosen, if that will do until its ratio changes or `samples_last` messages
  // have gone by; else all have to be sampled.
  std::optional<std::size_t> get() const noexcept {
    return left_ > 0 ? std::optional(candidate_) : std::nullopt;
  }

  // What was chosen: by samples of the favourite alone, or of all.
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
  float ratio_ = 0;         // when all were sampled
  std::uint32_t left_ = 0;  // messages that it will do for
};

}  // namespace taut

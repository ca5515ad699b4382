// Times of calls, as tuners compare them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace taut {

// Seconds per byte of message; 0: not known.
struct Timing {
  float plain = 0;
  float coded = 0;      // compressed, agreement included
  float predicted = 0;  // plain, predicted from the speed of the link in compressed calls
  float other = 0;      // compressed, by the route that is tried
  float asked = 0;      // agreements that found no gain, samples included
};

// Times of the last few calls. The median counts, the lower one of an even number, because some calls are
// disturbed.
class RecentTimes {
 public:
  static constexpr std::uint32_t most = 5;

  void note(double seconds, std::size_t bytes) noexcept {
    const auto all = static_cast<double>(std::max<std::size_t>(bytes, 1));
    paces_[calls_++ % most] = static_cast<float>(seconds / all);
  }
  void clear() noexcept { calls_ = 0; }
  std::uint32_t calls() const noexcept { return std::min(calls_, most); }
  float least() const noexcept {  // 0: no calls
    float least = calls_ == 0 ? 0 : paces_[0];
    for (std::uint32_t i = 1; i < calls(); ++i) least = std::min(least, paces_[i]);
    return least;
  }
  float typical() const noexcept {  // 0: no calls
    const std::span<const float> all(paces_.data(), calls());
    for (const float timing : all) {
      const auto below = std::ranges::count_if(all, [=](float other) { return other < timing; });
      const auto up_to = std::ranges::count_if(all, [=](float other) { return other <= timing; });
      const std::ptrdiff_t middle = (std::ssize(all) - 1) / 2;
      if (below <= middle && middle < up_to) return timing;
    }
    return 0;
  }

 private:
  std::array<float, most> paces_{};
  std::uint32_t calls_ = 0;
};

}  // namespace taut

// The extents of a field, as far as the caller gives them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut {

inline constexpr unsigned max_dims = 4;

// of[0] is the slowest extent, of[n - 1] the fastest, along which values are neighbours in memory. n = 0:
// unknown. A codec uses them to predict better and never trusts them: values may be any part of the field, or
// none of it.
struct Dims {
  std::uint32_t of[max_dims] = {};
  unsigned n = 0;

  // Values from one index of extent i to the next: 1 for the fastest.
  constexpr std::uint64_t stride(unsigned i) const noexcept {
    std::uint64_t values = 1;
    for (unsigned k = i + 1; k < n; ++k) values *= of[k];
    return values;
  }
  constexpr std::uint64_t count() const noexcept { return n == 0 ? 0 : of[0] * stride(0); }

  friend constexpr bool operator==(const Dims&, const Dims&) = default;
};

}  // namespace taut

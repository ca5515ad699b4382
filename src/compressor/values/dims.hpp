// Shape of the field that values are part of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut {

inline constexpr unsigned max_dims = 4;

// Extents of a field, as far as the caller gives them. extent[0] is the slowest one, extent[n - 1] the
// fastest, along which values are adjacent in memory. n = 0: unknown. A codec uses the extents for better
// prediction only, never for correctness: the values may be any part of the field, or unrelated to it.
struct Dims {
  std::uint32_t extent[max_dims] = {};
  unsigned n = 0;

  // Returns the distance, in values, from one index of extent i to the next: 1 for the fastest extent.
  constexpr std::uint64_t stride(unsigned i) const noexcept {
    std::uint64_t values = 1;
    for (unsigned k = i + 1; k < n; ++k) values *= extent[k];
    return values;
  }
  constexpr std::uint64_t count() const noexcept { return n == 0 ? 0 : extent[0] * stride(0); }

  friend constexpr bool operator==(const Dims&, const Dims&) = default;
};

}  // namespace taut

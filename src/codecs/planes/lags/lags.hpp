// Prediction across a field of several dimensions: what is coded of an integer is its difference from the one
// a row before, and that of this difference from the one a plane before. Of what remains the predictor of
// each chunk takes its part. Linear, so that sums of frames add it up as it stands.
#pragma once

#include "codecs/planes/format/format.hpp"

namespace taut::planes {

inline constexpr std::size_t least_lag = group_values;  // so that the groups that a kernel needs lie apart
inline constexpr std::size_t max_lags = 2;

// Distances in values, the shortest first; they reach across chunks. Integers before the first of a frame are
// 0.
struct Lags {
  std::uint32_t of[max_lags] = {};
  unsigned n = 0;

  bool any() const noexcept { return n > 0; }
  std::size_t span() const noexcept { return std::size_t{of[0]} + of[1]; }

  // Those that reach values in a frame of `count`.
  Lags within(std::size_t count) const noexcept {
    Lags some;
    while (some.n < n && of[some.n] < count) {
      some.of[some.n] = of[some.n];
      ++some.n;
    }
    return some;
  }

  friend bool operator==(const Lags&, const Lags&) = default;
};

struct Prediction {
  Predictor inner = Predictor::delta;  // inside a chunk
  Lags lags;                           // across chunks; before it

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

// Sums of frames with lags, whose integers stay narrow whatever their records hold.
constexpr bool fits_lagged(std::uint32_t addends) noexcept { return fits_narrow(large, addends); }

// Modulo 2^32, whatever a frame says.
constexpr std::int32_t add_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
constexpr std::int32_t subtract_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// What is predicted of the integer at `q` from those before it.
inline std::int32_t predicted(const std::int32_t* q, const Lags& lags) noexcept {
  if (lags.n == 0) return 0;
  const std::int32_t near = *(q - lags.of[0]);
  if (lags.n == 1) return near;
  return subtract_wrapping(add_wrapping(near, *(q - lags.of[1])), *(q - lags.span()));
}

}  // namespace taut::planes

// Lags: distances, in values, from a value of a frame back to the values that predict it. With one lag a
// value is predicted by the value one row (or plane) earlier; with two, the row difference is predicted by
// the row difference one plane earlier. Prediction: the sources that a codec predicts values from, in this
// frame by lags or in earlier arrays (references.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compressor/values/dims.hpp"

namespace taut {

// Shortest lag: a kernel processes up to 64 values at once, and all that it refers to must come before them.
inline constexpr std::size_t min_lag = 64;
inline constexpr std::size_t lag_limit = std::size_t{1} << 30;  // every lag is less
inline constexpr unsigned max_lags = 2;

// Lags in values, the shortest first; they reach across chunks. Values before the first one of a frame are 0.
struct Lags {
  std::uint32_t lag[max_lags] = {};
  unsigned n = 0;

  constexpr bool any() const noexcept { return n > 0; }
  // Returns how far the lags reach back, in values: their sum.
  constexpr std::size_t span() const noexcept { return std::size_t{lag[0]} + lag[1]; }

  // Returns the lags that reach a value in a frame of `count` values.
  constexpr Lags within(std::size_t count) const noexcept {
    Lags reaching;
    while (reaching.n < n && lag[reaching.n] < count) {
      reaching.lag[reaching.n] = lag[reaching.n];
      ++reaching.n;
    }
    return reaching;
  }

  friend constexpr bool operator==(const Lags&, const Lags&) = default;
};

// Return the lags of a row, a plane, both, or the slowest extent, of a field with these extents. A stride
// shorter than min_lag is extended to a multiple of the stride. Extents that do not exist are skipped.
Lags row_lag(const Dims& dims) noexcept;
Lags plane_lag(const Dims& dims) noexcept;
Lags row_and_plane_lags(const Dims& dims) noexcept;
Lags slowest_lag(const Dims& dims) noexcept;

// Parses one or two lags, as "192" or "192+18432". Returns nothing if a lag is not in [min_lag, lag_limit).
std::optional<Lags> lags_named(std::string_view name) noexcept;

// Returns the lags as they follow the name of a predictor: "", "+192" or "+192+18432".
std::string name_of(const Lags& lags);

// Prediction by a codec whose predictors have the type Inner. The usual predictor has the number 1.
template <class Inner>
struct Prediction {
  Inner inner = static_cast<Inner>(1);  // predictor inside a chunk, applied after lags or references
  Lags lags = {};                       // across chunks
  unsigned references = 0;              // number of references, earlier arrays; lags come behind them
  bool by_addend = false;               // each addend of a sum of frames has a reference of its own

  // Returns the prediction with lags in components, of which a value has `parts`: a complex value has two,
  // which are coded separately.
  constexpr Prediction in_components(std::size_t parts) const noexcept {
    Prediction scaled = *this;
    for (std::uint32_t& lag : scaled.lags.lag) lag *= static_cast<std::uint32_t>(parts);
    return scaled;
  }

  // Returns the prediction with this number of references, unless it has lags.
  constexpr Prediction with_references(std::size_t n) const noexcept {
    Prediction referring = *this;
    if (!lags.any()) referring.references = static_cast<unsigned>(n);
    return referring;
  }

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

}  // namespace taut

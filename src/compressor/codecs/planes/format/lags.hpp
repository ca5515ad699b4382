// Lags of planes frames: prediction across the rows and planes of a field of several dimensions. The residual
// of an integer is its difference from the integer a row before, minus the same difference a plane before.
// The predictor of each chunk is then applied to the residuals. The prediction is linear, so sums of frames
// add the residuals unchanged.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/frame/lag_window.hpp"
#include "compressor/frame/lags.hpp"

namespace taut::planes {

using taut::Lags;

static_assert(least_lag >= group_values);

struct Prediction {
  Predictor inner = Predictor::delta;  // predictor inside a chunk
  Lags lags;                           // applied across chunks, before `inner`

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

// Integers of a frame, from which lags predict.
using LagWindow = taut::LagWindow<std::int32_t, chunk_values>;

// Returns true if a sum of `addends` frames may keep its lags: its integers stay narrow whatever the records
// hold.
constexpr bool fits_lagged(std::uint32_t addends) noexcept { return fits_narrow(large, addends); }

// Addition and subtraction modulo 2^32: frames may contain any integers.
constexpr std::int32_t add_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
constexpr std::int32_t subtract_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// Returns the prediction of the integer at `q` from earlier integers.
inline std::int32_t predicted(const std::int32_t* q, const Lags& lags) noexcept {
  if (lags.n == 0) return 0;
  const std::int32_t near = *(q - lags.of[0]);
  if (lags.n == 1) return near;
  return subtract_wrapping(add_wrapping(near, *(q - lags.of[1])), *(q - lags.span()));
}

// Pads the n integers of a chunk to whole groups with predicted integers, so that the padding causes no
// residual.
inline void complete(std::int32_t* q, std::size_t n, const Prediction& p) noexcept {
  const std::size_t back = lag(p.inner);
  for (std::size_t i = n; i < groups_of(n) * group_values; ++i) {
    const std::size_t like = i < back ? 0 : i - back;
    const std::int32_t rest = back == 0 ? 0 : subtract_wrapping(q[like], predicted(q + like, p.lags));
    q[i] = add_wrapping(predicted(q + i, p.lags), rest);
  }
}

}  // namespace taut::planes

// Prediction of the integers of a frame from earlier integers, before the predictor of each chunk is applied
// to the residuals. Lags predict across the rows and planes of a field of several dimensions, from earlier
// integers of the frame. References predict from the integers of earlier messages. The prediction is linear,
// so sums of frames add the residuals unchanged.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/frame/lag_window.hpp"
#include "compressor/frame/lags.hpp"

namespace taut::planes {

using taut::Lags;

static_assert(min_lag >= group_values);

using Prediction = taut::Prediction<Predictor>;
static_assert(Prediction{}.inner == Predictor::delta);

// Integers of a frame: those of the current chunk, and the earlier ones from which lags predict them.
using LagWindow = taut::LagWindow<std::int32_t, chunk_values>;

// Returns true if a sum of `addends` frames may have lags or references: its integers stay narrow whatever
// the records hold.
constexpr bool may_have_lags(std::uint32_t addends) noexcept { return fits_narrow(large, addends); }

// Addition and subtraction modulo 2^32: frames may contain any integers.
constexpr std::int32_t add_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
constexpr std::int32_t subtract_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// Earlier integers from which those of a chunk are predicted: integer i as near[i], or as
// near[i] + far[i] - both[i]. With lags a < b, these are the integers a, b and a + b values before. One
// reference is `near`; two predict 2 * newest - older: `near` and `far` are the newest, `both` is the older.
// With a lag behind references, `near` is the integer a lag before, `far` what references predict here, and
// `both` what they predict a lag before.
// Null where absent.
struct EarlierIntegers {
  const std::int32_t* near = nullptr;
  const std::int32_t* far = nullptr;
  const std::int32_t* both = nullptr;  // present if `far` is

  // Returns the earlier integers for a chunk whose own integers are at `q` in a LagWindow.
  static EarlierIntegers by_lags(const std::int32_t* q, const Lags& lags) noexcept {
    if (lags.n == 0) return {};
    if (lags.n == 1) return {q - lags.lag[0]};
    return {q - lags.lag[0], q - lags.lag[1], q - lags.span()};
  }

  bool any() const noexcept { return near != nullptr; }

  // Returns the prediction of integer i.
  std::int32_t operator[](std::size_t i) const noexcept {
    if (!any()) return 0;
    if (far == nullptr) return near[i];
    return subtract_wrapping(add_wrapping(near[i], far[i]), both[i]);
  }
};

// Prediction of the integers of one chunk: from earlier integers, then by the predictor `inner`.
struct ChunkPrediction {
  Predictor inner = Predictor::delta;
  EarlierIntegers earlier = {};
};

// Pads the n integers of a chunk to whole groups. The residuals of the padding repeat the last one, with
// Predictor::pairs the last two in turn; without a predictor they are 0. So nearly all differences are 0.
inline void pad_groups(std::int32_t* q, std::size_t n, const ChunkPrediction& p) noexcept {
  const std::size_t back = predictor_distance(p.inner);
  for (std::size_t i = n; i < groups_of(n) * group_values; ++i) {
    const std::size_t repeated = i < back ? 0 : i - back;
    const std::int32_t residual = back == 0 ? 0 : subtract_wrapping(q[repeated], p.earlier[repeated]);
    q[i] = add_wrapping(p.earlier[i], residual);
  }
}

}  // namespace taut::planes

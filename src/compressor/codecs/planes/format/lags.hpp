// Lags of planes frames: prediction across the rows and planes of a field of several dimensions. The residual
// of an integer is its difference from the integer a row before, minus the same difference a plane before.
// References: prediction from earlier messages. The residual of an integer is its difference from the integer
// of a reference, minus the same difference between two references. The predictor of each chunk is then
// applied to the residuals. The prediction is linear, so sums of frames add the residuals unchanged.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/frame/lag_window.hpp"
#include "compressor/frame/lags.hpp"

namespace taut::planes {

using taut::Lags;

static_assert(min_lag >= group_values);

using Prediction = taut::Prediction<Predictor>;
static_assert(Prediction{}.inner == Predictor::delta);

// Integers of a frame, from which lags predict.
using LagWindow = taut::LagWindow<std::int32_t, chunk_values>;

// Returns true if a sum of `addends` frames may have lags or references: its integers stay narrow whatever
// the records hold.
constexpr bool fits_lagged(std::uint32_t addends) noexcept { return fits_narrow(large, addends); }

// Addition and subtraction modulo 2^32: frames may contain any integers.
constexpr std::int32_t add_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
constexpr std::int32_t subtract_wrapping(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// Earlier integers from which those of a chunk are predicted, place by place: `near`, or near + far - both.
// Lags name earlier integers of the frame, references those of earlier messages. Null where absent.
struct Earlier {
  const std::int32_t* near = nullptr;
  const std::int32_t* far = nullptr;
  const std::int32_t* both = nullptr;  // present if `far` is

  // The integers that lags name before a chunk, whose integers are at `q` in a LagWindow.
  static Earlier at(const std::int32_t* q, const Lags& lags) noexcept {
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

// Prediction of the integers of one chunk.
struct ChunkPrediction {
  Predictor inner = Predictor::delta;
  Earlier earlier = {};
};

// Pads the n integers of a chunk to whole groups with predicted integers, so that the padding causes no
// residual.
inline void complete(std::int32_t* q, std::size_t n, const ChunkPrediction& p) noexcept {
  const std::size_t back = lag(p.inner);
  for (std::size_t i = n; i < groups_of(n) * group_values; ++i) {
    const std::size_t like = i < back ? 0 : i - back;
    const std::int32_t rest = back == 0 ? 0 : subtract_wrapping(q[like], p.earlier[like]);
    q[i] = add_wrapping(p.earlier[i], rest);
  }
}

}  // namespace taut::planes

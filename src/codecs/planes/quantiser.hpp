// Values -> integers, x ~ q * step, so that |x - q * step| <= bound. Proof: docs/error-model.md.
#pragma once

#include <cmath>
#include <limits>

#include "codecs/planes/format.hpp"

namespace taut::planes {

// step is rounded towards zero to the type of the values; the margin of 2^-7 absorbs every rounding of a
// small or wide q. A bound whose step leaves [lowest, highest] is not coded at all: the values travel as they
// are.
template <class T>
struct StepRange;
template <>
struct StepRange<float> {
  static constexpr double lowest = 0x1p-120, highest = 0x1p100;
};
template <>
struct StepRange<double> {
  static constexpr double lowest = 0x1p-1000, highest = 0x1p960;
};

template <class T>
struct Quantiser {
  double bound = 0;
  T step = 0;     // 0: the bound cannot be coded
  T inverse = 0;  // 1 / step, rounded to T
  Predictor predictor = Predictor::delta;

  static Quantiser make(double bound, Predictor predictor) noexcept {
    Quantiser z{bound, 0, 0, predictor};
    const double wanted = std::min(2 * bound * (1 - 0x1p-7), StepRange<T>::highest);
    if (!(wanted >= StepRange<T>::lowest)) return z;
    z.step = static_cast<T>(wanted);
    if (z.step > wanted) z.step = std::nextafter(z.step, T{0});
    z.inverse = static_cast<T>(1 / static_cast<double>(z.step));
    return z;
  }
};

// Stands for the integer of a value that has to travel exactly.
template <class Int>
inline constexpr Int escaped = std::numeric_limits<Int>::min();

// A condition as a mask: where branches would stand, compilers do not vectorise.
constexpr std::uint64_t all_ones_if(bool condition) noexcept { return ~(std::uint64_t{condition} - 1); }

// q -> value, the same operations wherever it is done: one product in double, one rounding to the type.
template <class T>
T dequantise(std::int64_t q, T step) noexcept {
  return static_cast<T>(static_cast<double>(q) * static_cast<double>(step));
}

}  // namespace taut::planes

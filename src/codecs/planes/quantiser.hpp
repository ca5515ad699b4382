// Values -> integers, x ~ q * step, so that |x - q * step| <= bound. Proof: docs/error-model.md.
#pragma once

#include <cmath>

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

// Rounds |s| < 2^51 to the nearest integer, ties to even: the addition pushes the fraction out of the
// mantissa.
inline std::int64_t round_to_integer(double s) noexcept {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(s + 0x1.8p52) -
                                   std::bit_cast<std::uint64_t>(0x1.8p52));
}

// |q| < 2^bits, seen in the bits left when the sign is folded in.
template <class Int>
constexpr bool within(Int q, int bits) noexcept {
  return (q ^ (q >> (8 * sizeof(Int) - 1))) >> bits == 0;
}

// q -> value, the same operations wherever it is done: one product in double, one rounding to the type.
template <class T>
T dequantise(std::int64_t q, T step) noexcept {
  return static_cast<T>(static_cast<double>(q) * static_cast<double>(step));
}

// One value of a large or wide chunk; false when it has to travel exactly. `scale` is 1 / step in double.
template <class T>
bool quantise(T x, const Quantiser<T>& z, double scale, int bits, std::int64_t& q) noexcept {
  const double s = static_cast<double>(x) * scale;
  if (!(std::abs(s) < 0x1p45)) return false;
  q = round_to_integer(s);
  return within(q, bits) &&
         std::abs(static_cast<double>(x) - static_cast<double>(dequantise(q, z.step))) <= z.bound;
}

}  // namespace taut::planes

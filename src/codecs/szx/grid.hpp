// The grid that coded values lie on: the multiples of one step, for every block of every frame of a bound. Why
// |x - x'| <= bound, and why minima and maxima stay within one bound: docs/error-model.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "codecs/szx/format.hpp"

namespace taut::szx {

// A bound whose step would lie below the lowest is not coded; above the highest, the step stays there. |q| of a
// coded value is at most 2^integer_bits: products with a step of four bits are exact, and so is all that a decoder
// computes. Offsets of up to direct_bits need no correction (Grid::offset).
template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr double lowest = 0x1p-120, highest = 0x1p100;
  static constexpr int integer_bits = 20, direct_bits = 14;
};
template <>
struct Limits<double> {
  static constexpr double lowest = 0x1p-1000, highest = 0x1p960;
  static constexpr int integer_bits = 42, direct_bits = 43;
};

template <class T>
inline constexpr int max_width = Limits<T>::integer_bits + 1;

template <class T>
struct Grid {
  double bound = 0;
  T step = 0;     // m 2^k with 8 <= m <= 15; 0: the bound cannot be coded
  T inverse = 0;  // 1 / step, rounded to T

  // The coarsest step that leaves a margin of 2^-7 for the roundings of an encoder.
  static Grid make(double bound) noexcept {
    using L = Limits<T>;
    const double wanted = std::min(2 * bound * (1 - 0x1p-7), L::highest);
    if (!(wanted >= L::lowest)) return {bound, 0, 0};
    int exponent = 0;
    const double mantissa = std::frexp(wanted, &exponent);
    return with_step(bound, static_cast<T>(std::ldexp(std::floor(mantissa * 16), exponent - 4)));
  }
  static Grid with_step(double bound, T step) noexcept { return {bound, step, static_cast<T>(1 / step)}; }

  // Whether a decoder may rely on the exactness of products with that step.
  static bool is_step(double step) noexcept {
    int exponent = 0;
    const double sixteenths = std::frexp(step, &exponent) * 16;
    return step >= Limits<T>::lowest / 2 && step <= Limits<T>::highest && sixteenths == std::floor(sixteenths);
  }

  // Exact for |q| <= 2^(integer_bits).
  T value(IntOf<T> q) const noexcept { return static_cast<T>(q) * step; }
};

// The nearest integer of |s| < 2^22 (2^51), ties to even.
inline std::int32_t nearest(float s) noexcept {
  return std::bit_cast<std::int32_t>(s + 0x1.8p23f) - std::bit_cast<std::int32_t>(0x1.8p23f);
}
inline std::int64_t nearest(double s) noexcept {
  return std::bit_cast<std::int64_t>(s + 0x1.8p52) - std::bit_cast<std::int64_t>(0x1.8p52);
}

// A block on the grid: its values become multiples low .. low + span.
template <class T>
struct Interval {
  bool coded = false;
  IntOf<T> low = 0;
  BitsOf<T> span = 0;
};

// The shortest interval within the bound of all values between `least` and `greatest`; none when one is NaN or too
// large. A multiple more is saved at either end where the bound allows: this is what makes most blocks constant. In
// double for either type. Comparing a rounded difference by < proves the same of the exact one.
template <class T>
Interval<T> interval(T least, T greatest, const Grid<T>& grid) noexcept {
  constexpr double limit = static_cast<double>(std::int64_t{1} << Limits<T>::integer_bits);
  const double a = static_cast<double>(least), b = static_cast<double>(greatest);
  const double step = static_cast<double>(grid.step), inverse = 1 / step;
  if (!(std::abs(a * inverse) < limit && std::abs(b * inverse) < limit)) return {};
  std::int64_t low = nearest(a * inverse), high = nearest(b * inverse);
  low += static_cast<double>(low + 1) * step - a < grid.bound ? 1 : 0;
  high -= b - static_cast<double>(high - 1) * step < grid.bound ? 1 : 0;
  return {true, static_cast<IntOf<T>>(low), static_cast<BitsOf<T>>(std::max(high - low, std::int64_t{0}))};
}

// The integer of x relative to low, for mu = low * step, before it is confined to 0 .. span. `corrected`: for offsets
// of more than direct_bits, where the product may be off by one.
template <bool corrected, class T>
IntOf<T> offset(T x, T mu, const Grid<T>& grid) noexcept {
  const IntOf<T> o = nearest((x - mu) * grid.inverse);
  if constexpr (!corrected) return o;
  const T rest = x - (mu + grid.value(o)), half = grid.step / 2;
  return o + (rest > half ? 1 : 0) - (rest < -half ? 1 : 0);
}

}  // namespace taut::szx

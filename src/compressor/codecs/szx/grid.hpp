// Grid: the values that a decoder gives, which are the multiples of one step, the same for every block of
// every frame of a bound. src/compressor/codecs/szx/bound.md proves |x - x'| <= bound, and that minima and
// maxima stay within one bound.
#pragma once

#include <algorithm>
#include <cmath>

#include "compressor/codecs/szx/format.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::szx {

// Limits of the grid for a value type. A bound whose step would be below min_step is not coded; a bound whose
// step would be above max_step is replaced by a smaller one. |q| of a coded value is below 2^integer_bits,
// and an offset is below twice that. Products with a step of four significant bits are then exact, and so is
// every computation of a decoder. Offsets of up to direct_bits bits need no correction (see offset()).
template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr double min_step = 0x1p-120, max_step = 0x1p100;
  static constexpr int integer_bits = 19, direct_bits = 14;
};
template <>
struct Limits<double> {
  static constexpr double min_step = 0x1p-1000, max_step = 0x1p960;
  static constexpr int integer_bits = 42, direct_bits = 43;
};

template <class T>
inline constexpr int max_width = Limits<T>::integer_bits + 1;

template <class T>
inline constexpr std::int64_t max_integer = (std::int64_t{1} << Limits<T>::integer_bits) - 1;

// Share of a step that is reserved for the roundings of an encoder.
inline constexpr double step_margin = 0x1p-7;

template <class T>
struct Grid {
  double bound = 0;         // bound that encoders keep: the requested one or less
  T step = 0;               // m 2^k with 8 <= m <= 15; 0: the bound cannot be coded
  T inverse = 0;            // 1 / step, rounded to T
  bool exact_bits = false;  // packed integers have no integer on the grid

  // Returns the grid with the coarsest step that leaves a margin for the roundings of an encoder. The step is
  // above the bound. The bound is at most what the highest step allows.
  static Grid make(double asked) noexcept {
    using L = Limits<T>;
    const double bound = std::min(asked, L::max_step / 2), wanted = 2 * bound * (1 - step_margin);
    if (!(wanted >= L::min_step)) return {bound, 0, 0};
    int exponent = 0;
    const double mantissa = std::frexp(wanted, &exponent);
    return with_step(bound, static_cast<T>(std::ldexp(std::floor(mantissa * 16), exponent - 4)));
  }
  static Grid with_step(double bound, T step) noexcept { return {bound, step, static_cast<T>(1 / step)}; }

  // Returns true if products with this step are exact, so that a decoder may rely on them. The format also
  // allows steps from min_step / 2 on, which no encoder writes.
  static bool is_step(double step) noexcept {
    int exponent = 0;
    const double sixteenths = std::frexp(step, &exponent) * 16;
    return step >= Limits<T>::min_step / 2 && step <= Limits<T>::max_step &&
           sixteenths == std::floor(sixteenths);
  }

  // Returns the value of integer q: exact for |q| <= 2^(integer_bits + 1), rounded once for others.
  T value(IntOf<T> q) const noexcept { return static_cast<T>(q) * step; }
};

// Returns the integer nearest to s, ties to even, for |s| < 2^22 (float64: 2^51).
inline std::int32_t nearest(float s) noexcept {
  return std::bit_cast<std::int32_t>(s + 0x1.8p23f) - std::bit_cast<std::int32_t>(0x1.8p23f);
}
inline std::int64_t nearest(double s) noexcept {
  return std::bit_cast<std::int64_t>(s + 0x1.8p52) - std::bit_cast<std::int64_t>(0x1.8p52);
}

// Returns true if the grid serves x: x has an integer q, |q| at most max_integer. False for NaN and
// infinities. `inverse`: 1 / step.
template <class T>
bool served(T x, double inverse) noexcept {
  return std::abs(static_cast<double>(x) * inverse) < static_cast<double>(max_integer<T>);
}

// Returns the same; but false for packed integers if the grid keeps them exact.
template <class T>
bool served(T x, double inverse, const Grid<T>& grid) noexcept {
  return served(x, inverse) && !(grid.exact_bits && is_packed(x));
}

// Interval of the integers of a block, low to low + span; both are integers below 2^52, held as doubles.
struct Interval {
  double low, span;
};

// Returns the shortest interval of integers that has, for each value from `least` to `greatest`, one whose
// multiple of the step is within the bound. The grid serves these values. Each end moves inwards by one if
// the bound allows, which makes most blocks constant. If a rounded difference is below the bound, so is the
// exact difference.
inline Interval interval(double least, double greatest, double step, double inverse, double bound) noexcept {
  constexpr double rounding_constant = 0x1.8p52;
  double low = least * inverse + rounding_constant - rounding_constant,
         high = greatest * inverse + rounding_constant - rounding_constant;
  low = (low + 1) * step - least < bound ? low + 1 : low;
  high = greatest - (high - 1) * step < bound ? high - 1 : high;
  return {low, high > low ? high - low : 0};
}

// Returns the number of bits of an integer of at least 0, which is given as a double.
inline std::int64_t bit_width(double whole) noexcept {
  return (std::bit_cast<std::int64_t>(whole + 0.5) >> 52) - 1022;
}

// Returns the offset of x from low: its integer less `low`, not yet clamped to 0 .. span. `low_value`, the
// value of `low`, is mu in spec.md.
// `corrected`: required for offsets of more than direct_bits bits, where the rounded product may be off by
// one.
template <bool corrected, class T>
IntOf<T> offset(T x, T low_value, const Grid<T>& grid) noexcept {
  const IntOf<T> o = nearest((x - low_value) * grid.inverse);
  if constexpr (!corrected) return o;
  const T remainder = x - (low_value + grid.value(o)), half_step = grid.step / 2;
  return o + (remainder > half_step ? 1 : 0) - (remainder < -half_step ? 1 : 0);
}

}  // namespace taut::szx
